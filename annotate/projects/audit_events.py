"""The kinds of events in the audit log: actions of leads and administrators, by key.

Higher apps add their own kinds when they start (`register`). `annotate.projects.audit_log.record`
accepts only registered keys.
"""

from __future__ import annotations

from typing import NamedTuple

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _


class Kind(NamedTuple):
    """A kind of audit event: its name on pages, and whether it reveals others' judgments.

    An event that does is hidden from people who have not judged yet.
    """

    name: str | Promise
    reveals_judgments: bool = False


AUDIT_EVENTS: dict[str, Kind] = {
    "project.made": Kind(_("Created the project")),
    "project.rules": Kind(_("Changed the rules")),
    "project.kind": Kind(_("Changed the kind of project")),
    "project.archived": Kind(_("Archived the project")),
    "project.unarchived": Kind(_("Brought the project back")),
    "project.paused": Kind(_("Paused the project")),
    "project.resumed": Kind(_("Resumed the project")),
    "project.due": Kind(_("Changed the due date")),
    "project.purged": Kind(_("Deleted a project for good")),
    "project.backed_up": Kind(_("Took a backup")),
    "project.restored": Kind(_("Restored from a backup")),
    "categories.changed": Kind(_("Changed the taxonomy")),
    "guidelines.written": Kind(_("Wrote the guidelines")),
    "member.added": Kind(_("Added a member")),
    "member.role": Kind(_("Changed a role")),
    "member.removed": Kind(_("Removed a member")),
    "member.quota": Kind(_("Changed how many tasks someone may take")),
    "query.people": Kind(_("Named who takes the tasks of a query")),
    "member.named": Kind(_("Agreed to be named in publications")),
    "member.unnamed": Kind(_("Withdrew the agreement to be named")),
    "invitation.made": Kind(_("Invited someone")),
    "invitation.withdrawn": Kind(_("Withdrew an invitation")),
    "invitation.taken": Kind(_("Accepted an invitation")),
    "account.made": Kind(_("Created an account")),
    "account.changed": Kind(_("Changed an account")),
    "account.closed": Kind(_("Closed an account")),
    "account.opened": Kind(_("Reopened an account")),
    "account.rights": Kind(_("Changed administrator rights")),
    "account.deleted": Kind(_("Deleted an account")),
    "account.password": Kind(_("Gave an account a new password")),
    "account.sessions": Kind(_("Ended the sessions of an account")),
    "token.made": Kind(_("Made a token")),
    "token.ended": Kind(_("Ended a token")),
    "load.asked": Kind(_("Uploaded a file")),
    "load.rechecked": Kind(_("Checked a file in another format")),
    "load.confirmed": Kind(_("Confirmed a file")),
    "load.cancelled": Kind(_("Cancelled a file")),
    "load.left": Kind(_("Discarded a file")),
    "load.done": Kind(_("Loaded a file")),
    # These contain names of documents, and reasons that may say how they were judged.
    "pool.asked": Kind(_("Requested a pool")),
    "pool.cancelled": Kind(_("Cancelled a pool")),
    "pool.made": Kind(_("Made a pool")),
    "candidates.removed": Kind(_("Took documents out of a pool"), reveals_judgments=True),
    "candidates.restored": Kind(_("Brought documents back into a pool"), reveals_judgments=True),
    "attributes.negated": Kind(_("Chose which attributes a reversed query negates")),
    "document.replaced": Kind(_("Replaced a document"), reveals_judgments=True),
    "document.replacement_undone": Kind(
        _("Undid the replacement of a document"), reveals_judgments=True
    ),
    "hard_negatives.chosen": Kind(_("Chose systems for hard negatives"), reveals_judgments=True),
    "passages.changed": Kind(_("Changed the passages")),
    # Reasons may say how documents were judged.
    "queries.removed": Kind(_("Took queries out"), reveals_judgments=True),
    "queries.restored": Kind(_("Brought queries back"), reveals_judgments=True),
    "pairs.removed": Kind(_("Took instructions out"), reveals_judgments=True),
    "pairs.restored": Kind(_("Brought instructions back"), reveals_judgments=True),
    "job.retried": Kind(_("Tried a job again")),
    "seat.freed": Kind(_("Freed a task")),
    "judgment.settled": Kind(_("Settled a document"), reveals_judgments=True),
    "judgment.unsettled": Kind(_("Withdrew a settlement"), reveals_judgments=True),
    "condition.settled": Kind(_("Settled a condition"), reveals_judgments=True),
    "condition.unsettled": Kind(
        _("Withdrew the settlement of a condition"), reveals_judgments=True
    ),
    "judgments.settled": Kind(_("Settled many documents together"), reveals_judgments=True),
    "judgments.unsettled": Kind(_("Withdrew what was settled together"), reveals_judgments=True),
    "look.asked": Kind(_("Asked someone to look again"), reveals_judgments=True),
    "look.withdrawn": Kind(_("Withdrew a request to look again"), reveals_judgments=True),
    "admin.added": Kind(_("Added something in the administration")),
    "admin.changed": Kind(_("Changed something in the administration")),
    "admin.deleted": Kind(_("Deleted something in the administration")),
}


def register(kinds: dict[str, Kind]) -> None:
    """Add kinds of audit events; an app calls it once, when it starts."""
    AUDIT_EVENTS.update(kinds)
