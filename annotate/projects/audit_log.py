"""The audit log: what leads and administrators did, and the kinds of their actions, by key.

Each of their actions records its event here, in its own transaction. Higher apps add their own
kinds when they start (`register`); `record` accepts only registered keys.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from django.db import models, transaction
from django.utils import timezone

from annotate.projects import hash_chain
from annotate.projects.hash_chain import Content, Kind, Row, hashed_time
from annotate.projects.models import AuditEvent, Membership, Project
from base.users import User
from jobs.models import job_kinds


class EventKind(NamedTuple):
    """A kind of audit event: its name on pages, and whether it reveals others' judgments.

    An event that does is hidden from people who have not judged yet.
    """

    name: str
    reveals_judgments: bool = False


# What events are about -> the first parts of their keys. Other jobs are about results, and other
# events are about the work.
SUBJECTS = {
    "Project": {"project", "categories", "guidelines", "passages"},
    "People": {"member", "query", "invitation", "account", "token", "admin"},
    "Files and pools": {
        *("load", "pool", "candidates", "attributes", "document", "hard_negatives"),
        *("queries", "pairs"),
    },
    "Results": {"publication", "job", "model", "prompt"},
}
WORK = "Judging, reviewing, settling"


def subject_of(key: str) -> str:
    """Return what events of a kind are about: a key of `SUBJECTS`, or `WORK`."""
    first = key.partition(".")[0]
    other = "Results" if first in job_kinds() else WORK
    return next((subject for subject, firsts in SUBJECTS.items() if first in firsts), other)


AUDIT_EVENTS: dict[str, EventKind] = {
    "project.made": EventKind("Created the project"),
    "project.rules": EventKind("Changed the rules"),
    "project.kind": EventKind("Changed the kind of project"),
    "project.archived": EventKind("Archived the project"),
    "project.unarchived": EventKind("Brought the project back"),
    "project.paused": EventKind("Paused the project"),
    "project.resumed": EventKind("Resumed the project"),
    "project.due": EventKind("Changed the due date"),
    "project.purged": EventKind("Deleted a project for good"),
    "project.backed_up": EventKind("Took a backup"),
    "project.restored": EventKind("Restored from a backup"),
    "categories.changed": EventKind("Changed the taxonomy"),
    "guidelines.written": EventKind("Wrote the guidelines"),
    "member.added": EventKind("Added a member"),
    "member.role": EventKind("Changed a role"),
    "member.removed": EventKind("Removed a member"),
    "member.quota": EventKind("Changed how many tasks someone may take"),
    "query.people": EventKind("Named who takes the tasks of a query"),
    "query.urgent": EventKind("Marked a query as urgent, or as no longer urgent"),
    "member.named": EventKind("Agreed to be named in publications"),
    "member.unnamed": EventKind("Withdrew the agreement to be named"),
    "invitation.made": EventKind("Invited someone"),
    "invitation.withdrawn": EventKind("Withdrew an invitation"),
    "invitation.taken": EventKind("Accepted an invitation"),
    "account.made": EventKind("Created an account"),
    "account.changed": EventKind("Changed an account"),
    "account.closed": EventKind("Closed an account"),
    "account.opened": EventKind("Reopened an account"),
    "account.rights": EventKind("Changed administrator rights"),
    "account.deleted": EventKind("Deleted an account"),
    "account.password": EventKind("Gave an account a new password"),
    "account.sessions": EventKind("Ended the sessions of an account"),
    "token.made": EventKind("Made a token"),
    "token.ended": EventKind("Ended a token"),
    "load.asked": EventKind("Uploaded a file"),
    "load.rechecked": EventKind("Checked a file in another format"),
    "load.confirmed": EventKind("Confirmed a file"),
    "load.cancelled": EventKind("Cancelled a file"),
    "load.left": EventKind("Discarded a file"),
    "load.done": EventKind("Loaded a file"),
    "load.taken_back": EventKind("Took back a file of qrels"),
    # These contain names of documents, and reasons that may say how they were judged.
    "pool.made": EventKind("Made a pool"),
    "candidates.removed": EventKind("Took documents out of a pool", reveals_judgments=True),
    "candidates.restored": EventKind("Brought documents back into a pool", reveals_judgments=True),
    "attributes.negated": EventKind("Chose which attributes a reversed query negates"),
    "document.replaced": EventKind("Replaced a document", reveals_judgments=True),
    "document.replacement_undone": EventKind(
        "Undid the replacement of a document", reveals_judgments=True
    ),
    "hard_negatives.chosen": EventKind("Chose systems for hard negatives", reveals_judgments=True),
    "passages.changed": EventKind("Changed the passages"),
    # Reasons may say how documents were judged.
    "queries.removed": EventKind("Took queries out", reveals_judgments=True),
    "queries.restored": EventKind("Brought queries back", reveals_judgments=True),
    "pairs.removed": EventKind("Took instructions out", reveals_judgments=True),
    "pairs.restored": EventKind("Brought instructions back", reveals_judgments=True),
    "narrative.replaced": EventKind("Saved another version of a narrative", reveals_judgments=True),
    "narrative.sent_back": EventKind("Sent a narrative back to its writer"),
    "narrative.kept": EventKind("Took back that a narrative was sent back"),
    "narrative.returned": EventKind(
        "Went back to a version of a narrative", reveals_judgments=True
    ),
    "job.retried": EventKind("Tried a job again"),
    "assignment.freed": EventKind("Freed a task"),
    "judgment.settled": EventKind("Settled a document", reveals_judgments=True),
    "judgment.unsettled": EventKind("Withdrew a settlement", reveals_judgments=True),
    "condition.settled": EventKind("Settled a condition", reveals_judgments=True),
    "condition.unsettled": EventKind(
        "Withdrew the settlement of a condition", reveals_judgments=True
    ),
    "judgments.settled": EventKind("Settled many documents together", reveals_judgments=True),
    "judgments.unsettled": EventKind("Withdrew what was settled together", reveals_judgments=True),
    "rejudging.asked": EventKind("Asked someone to look again", reveals_judgments=True),
    "rejudging.withdrawn": EventKind("Withdrew a request to look again", reveals_judgments=True),
    "admin.added": EventKind("Added something in the administration"),
    "admin.changed": EventKind("Changed something in the administration"),
    "admin.deleted": EventKind("Deleted something in the administration"),
}


def register_jobs() -> None:
    """Add that jobs are requested and cancelled, for each kind that has no words of its own."""
    for key, model in job_kinds().items():
        name = str(model._meta.verbose_name)
        name = f"an {name}" if name[0] in "aeiou" else f"a {name}"
        AUDIT_EVENTS.setdefault(f"{key}.asked", EventKind(f"Requested {name}"))
        AUDIT_EVENTS.setdefault(f"{key}.cancelled", EventKind(f"Cancelled {name}"))


def register(kinds: dict[str, EventKind]) -> None:
    """Add kinds of audit events; an app calls it once, when it starts."""
    AUDIT_EVENTS.update(kinds)


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
    installation. `what`: a key of `annotate.projects.audit_log.AUDIT_EVENTS`, else KeyError.
    `about`: the affected row, or its name; `named`: a name to use instead of the row's own. `by`:
    None for a command. `words`: the actor's own words. `changes`: field -> (before, after); equal
    values are left out. Never include anyone's judgment of a document.
    """
    if what not in AUDIT_EVENTS:
        raise KeyError(
            f"“{what}” is not a kind of audit event; annotate.projects.audit_log has all of them"
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


def _read(rows: models.QuerySet[Any]) -> Iterator[Row]:
    for audit_event in rows.iterator():
        yield Row(audit_event.uuid, content(audit_event))


def _label(what: Content) -> str:
    return f"the audit event “{what[0]}” of {what[1] or '-'} about {what[2]}"


KINDS = {KIND: Kind(AuditEvent.objects.all, "project", _read, _label)}
