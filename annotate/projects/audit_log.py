"""The audit log: what leads and administrators did. Every action of theirs records it here, in its
own transaction.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db import models, transaction
from django.utils import timezone

from annotate.projects import chain
from annotate.projects.audit_events import AUDIT_EVENTS
from annotate.projects.audit_log_chain import KIND, content
from annotate.projects.models import AuditEvent, Membership, Project
from base.users import User

# Of the name of what something was done to.
MOST = 500
# The chain of what is done in a project.
AUDIT_LOG = chain.named("trail")
# Kinds of rows keep the name they had first: it is in the sums of events that were recorded.
FIRST_NAMES = {"annotate.rejudgerequest": "annotate.lookagain"}


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
    """Keep for good that `by` did something, and return the row. Call it within the transaction of
    what was done, once it is done.

    `project`: None for what is of the installation. `what`: a key of
    `annotate.projects.audit_events.AUDIT_EVENTS`, else a
    KeyError. `about`: the row it was done to, or its name; `named`: its name, where the row's own
    says too little. `by`: None for a command. `words`: in the words of who did it. `changes`:
    before and after, by the name of a field; those that are the same are left out. Never put in
    what someone said of a document.
    """
    if what not in AUDIT_EVENTS:
        raise KeyError(
            f"“{what}” is no kind of audit event: annotate.projects.audit_events has all of them"
        )
    user = by.user if isinstance(by, Membership) else by
    row = about if isinstance(about, models.Model) else None
    audit_event = AuditEvent(
        project=project,
        user=user,
        name=by.name if isinstance(by, Membership) else user.get_username() if user else "",
        what=what,
        about=(named or str(about))[:MOST],
        kind=_kind_of(row) if row is not None else "",
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
        event = chain.said(KIND, audit_event.uuid, content(audit_event))
        chain.append(audit_event.project_id, AUDIT_LOG, [event])
    return audit_event


def many(documents: int, of: object) -> str:
    """Name what was done to many documents at once: "3 documents · …"."""
    return f"{documents} document{'' if documents == 1 else 's'} · {of}"


def _kind_of(row: models.Model) -> str:
    """Return what a row's table is called in the audit log."""
    label = row._meta.label_lower
    return FIRST_NAMES.get(label, label)
