"""Record downloads of files in the audit log."""

from __future__ import annotations

from datetime import datetime

from django.db.models import Model

from annotate.projects.audit_log import record
from annotate.projects.models import AuditEvent, Membership


def record_download(
    *, what: str, of: Model, name: str, by: Membership, now: datetime | None = None
) -> AuditEvent:
    """Record that `by` downloads a file of an export or a release.

    Call it after the access check and before a byte is sent. `what`: the kind of event,
    "export.taken" or "release.taken".
    """
    return record(project=by.project, what=what, about=of, words=name, by=by, now=now)
