"""Send files of exports as downloads, and record who downloads what in the audit log."""

from __future__ import annotations

from datetime import datetime

from django.core.files import File
from django.db.models import Model
from django.http import FileResponse

from annotate.projects.audit_log import record
from annotate.projects.models import AuditEvent, Membership
from exporters.exports import access
from exporters.exports.models import Export

# The browser never displays a file with this type.
ANY_FILE = "application/octet-stream"


def record_download(
    *, what: str, of: Model, name: str, by: Membership, now: datetime | None = None
) -> AuditEvent:
    """Record that `by` downloads a file of an export or a release.

    Call it after the access check and before a byte is sent. `what`: the kind of event,
    "export.taken" or "release.taken".
    """
    return record(project=by.project, what=what, about=of, words=name, by=by, now=now)


def send_file(member: Membership, export: Export, stream: File[bytes], name: str) -> FileResponse:
    """Send one file of an export to a member, as `access.file` opened it."""
    record_download(what="export.taken", of=export, name=name, by=member)
    filename = name.rpartition("/")[2]
    return FileResponse(stream, as_attachment=True, filename=filename, content_type=ANY_FILE)


def send_archive(member: Membership, export: Export, stream: File[bytes]) -> FileResponse:
    """Send all files of an export as one zip archive."""
    record_download(what="export.taken", of=export, name=access.ARCHIVE, by=member)
    filename = f"{export.project.slug}-{export.format}-{export.pk}.zip"
    return FileResponse(
        stream, as_attachment=True, filename=filename, content_type="application/zip"
    )
