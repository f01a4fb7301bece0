"""The audit log: what leads and administrators did.

Each of their actions records its event here, in its own transaction.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from django.db import models, transaction
from django.utils import timezone

from annotate.projects import hash_chain
from annotate.projects.audit_events import AUDIT_EVENTS
from annotate.projects.hash_chain import Content, Kind, Row, hashed_time
from annotate.projects.models import AuditEvent, Membership, Project
from base.users import User

# The maximum length of the object's name.
MOST = 500
# The kind of an audit event in a hash chain, and the chain of a project's audit events.
KIND = "audit event"
AUDIT_LOG = hash_chain.named("audit log")


def record(
    *,
    project: Project | None,
    what: str,
    about: models.Model | str,
    named: str = "",
    by: Membership | User | None,
    words: str = "",
    changes: Mapping[str, tuple[Any, Any]] | None = None,
    now: datetime | None = None,
) -> AuditEvent:
    """Record that `by` did something, and return the event.

    Call it after the action, in the same transaction. `project`: None for actions on the
    installation. `what`: a key of `annotate.projects.audit_events.AUDIT_EVENTS`, else KeyError.
    `about`: the affected row, or its name; `named`: a name to use instead of the row's own. `by`:
    None for a command. `words`: the actor's own words. `changes`: field -> (before, after); equal
    values are left out. Never include anyone's judgment of a document.
    """
    if what not in AUDIT_EVENTS:
        raise KeyError(
            f"“{what}” is not a kind of audit event; annotate.projects.audit_events has all of them"
        )
    user = by.user if isinstance(by, Membership) else by
    row = about if isinstance(about, models.Model) else None
    audit_event = AuditEvent(
        project=project,
        user=user,
        name=by.name if isinstance(by, Membership) else user.get_username() if user else "",
        what=what,
        about=(named or str(about))[:MOST],
        kind=row._meta.label_lower if row is not None else "",
        key=row.pk if row is not None else None,
        words=words,
        changes={
            field: [before, after]
            for field, (before, after) in (changes or {}).items()
            if before != after
        },
        at=now or timezone.now(),
    )
    with transaction.atomic(savepoint=False):
        audit_event.save(force_insert=True)
        event = hash_chain.content_event(KIND, audit_event.uuid, content(audit_event))
        hash_chain.append(audit_event.project_id, AUDIT_LOG, [event])
    return audit_event


def name_documents(documents: int, of: object) -> str:
    """Return a name for many documents at once: "3 documents · …"."""
    return f"{documents} document{'' if documents == 1 else 's'} · {of}"


def content(audit_event: AuditEvent) -> Content:
    """Return the hashed values of an audit event, in order; primary keys are not included."""
    return (
        audit_event.what,
        audit_event.name,
        audit_event.about,
        audit_event.kind,
        audit_event.words,
        json.dumps(audit_event.changes, sort_keys=True),
        hashed_time(audit_event.at),
    )


def _read(project: Project | None) -> Iterator[Row]:
    for audit_event in AuditEvent.objects.filter(project=project).order_by("uuid").iterator():
        yield Row(audit_event.uuid, content(audit_event))


def _label(what: Content) -> str:
    return f"the audit event “{what[0]}” of {what[1] or '-'} about {what[2]}"


CHAINED_EVENTS = Kind(_read, _label)
