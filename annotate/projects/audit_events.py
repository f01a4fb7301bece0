"""The kinds of events in the audit log: actions of leads and administrators, by key.

Higher apps add their own kinds when they start (`register`). `annotate.projects.audit_log.record`
accepts only registered keys.
"""

from __future__ import annotations

from typing import NamedTuple

from jobs.models import job_kinds


class Kind(NamedTuple):
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


AUDIT_EVENTS: dict[str, Kind] = {
    "project.made": Kind("Created the project"),
    "project.rules": Kind("Changed the rules"),
    "project.kind": Kind("Changed the kind of project"),
    "project.archived": Kind("Archived the project"),
    "project.unarchived": Kind("Brought the project back"),
    "project.paused": Kind("Paused the project"),
    "project.resumed": Kind("Resumed the project"),
    "project.due": Kind("Changed the due date"),
    "project.purged": Kind("Deleted a project for good"),
    "project.backed_up": Kind("Took a backup"),
    "project.restored": Kind("Restored from a backup"),
    "categories.changed": Kind("Changed the taxonomy"),
    "guidelines.written": Kind("Wrote the guidelines"),
    "member.added": Kind("Added a member"),
    "member.role": Kind("Changed a role"),
    "member.removed": Kind("Removed a member"),
    "member.quota": Kind("Changed how many tasks someone may take"),
    "query.people": Kind("Named who takes the tasks of a query"),
    "query.urgent": Kind("Marked a query as urgent, or as no longer urgent"),
    "member.named": Kind("Agreed to be named in publications"),
    "member.unnamed": Kind("Withdrew the agreement to be named"),
    "invitation.made": Kind("Invited someone"),
    "invitation.withdrawn": Kind("Withdrew an invitation"),
    "invitation.taken": Kind("Accepted an invitation"),
    "account.made": Kind("Created an account"),
    "account.changed": Kind("Changed an account"),
    "account.closed": Kind("Closed an account"),
    "account.opened": Kind("Reopened an account"),
    "account.rights": Kind("Changed administrator rights"),
    "account.deleted": Kind("Deleted an account"),
    "account.password": Kind("Gave an account a new password"),
    "account.sessions": Kind("Ended the sessions of an account"),
    "token.made": Kind("Made a token"),
    "token.ended": Kind("Ended a token"),
    "load.asked": Kind("Uploaded a file"),
    "load.rechecked": Kind("Checked a file in another format"),
    "load.confirmed": Kind("Confirmed a file"),
    "load.cancelled": Kind("Cancelled a file"),
    "load.left": Kind("Discarded a file"),
    "load.done": Kind("Loaded a file"),
    "load.taken_back": Kind("Took back a file of qrels"),
    # These contain names of documents, and reasons that may say how they were judged.
    "pool.made": Kind("Made a pool"),
    "candidates.removed": Kind("Took documents out of a pool", reveals_judgments=True),
    "candidates.restored": Kind("Brought documents back into a pool", reveals_judgments=True),
    "attributes.negated": Kind("Chose which attributes a reversed query negates"),
    "document.replaced": Kind("Replaced a document", reveals_judgments=True),
    "document.replacement_undone": Kind(
        "Undid the replacement of a document", reveals_judgments=True
    ),
    "hard_negatives.chosen": Kind("Chose systems for hard negatives", reveals_judgments=True),
    "passages.changed": Kind("Changed the passages"),
    # Reasons may say how documents were judged.
    "queries.removed": Kind("Took queries out", reveals_judgments=True),
    "queries.restored": Kind("Brought queries back", reveals_judgments=True),
    "pairs.removed": Kind("Took instructions out", reveals_judgments=True),
    "pairs.restored": Kind("Brought instructions back", reveals_judgments=True),
    "narrative.replaced": Kind("Saved another version of a narrative", reveals_judgments=True),
    "narrative.sent_back": Kind("Sent a narrative back to its writer"),
    "narrative.kept": Kind("Took back that a narrative was sent back"),
    "narrative.returned": Kind("Went back to a version of a narrative", reveals_judgments=True),
    "job.retried": Kind("Tried a job again"),
    "assignment.freed": Kind("Freed a task"),
    "judgment.settled": Kind("Settled a document", reveals_judgments=True),
    "judgment.unsettled": Kind("Withdrew a settlement", reveals_judgments=True),
    "condition.settled": Kind("Settled a condition", reveals_judgments=True),
    "condition.unsettled": Kind("Withdrew the settlement of a condition", reveals_judgments=True),
    "judgments.settled": Kind("Settled many documents together", reveals_judgments=True),
    "judgments.unsettled": Kind("Withdrew what was settled together", reveals_judgments=True),
    "rejudging.asked": Kind("Asked someone to look again", reveals_judgments=True),
    "rejudging.withdrawn": Kind("Withdrew a request to look again", reveals_judgments=True),
    "admin.added": Kind("Added something in the administration"),
    "admin.changed": Kind("Changed something in the administration"),
    "admin.deleted": Kind("Deleted something in the administration"),
}


def register_jobs() -> None:
    """Add that jobs are requested and cancelled, for each kind that has no words of its own."""
    for key, model in job_kinds().items():
        name = str(model._meta.verbose_name)
        name = f"an {name}" if name[0] in "aeiou" else f"a {name}"
        AUDIT_EVENTS.setdefault(f"{key}.asked", Kind(f"Requested {name}"))
        AUDIT_EVENTS.setdefault(f"{key}.cancelled", Kind(f"Cancelled {name}"))


def register(kinds: dict[str, Kind]) -> None:
    """Add kinds of audit events; an app calls it once, when it starts."""
    AUDIT_EVENTS.update(kinds)
