"""Send files of releases as downloads."""

from __future__ import annotations

from django.http import FileResponse, Http404

from annotate.projects.models import Membership
from exporters.exports.downloads import ANY_FILE, record_download
from exporters.releases import contents, file_store
from exporters.releases.models import Release


def send_file(
    member: Membership, release: Release, name: str, content_type: str = ANY_FILE
) -> FileResponse:
    """Send one file of a release after verifying its checksum; raise `file_store.Damaged`."""
    entry = contents.files(release).get(name)
    if entry is None:
        raise Http404("There is no such file in this release.")
    stream = file_store.open_checked(release.project_id, entry)
    record_download(what="release.taken", of=release, name=name, by=member)
    filename = f"{release.project.slug}-{release.name}-{name.replace('/', '-')}"
    return FileResponse(stream, as_attachment=True, filename=filename, content_type=content_type)
