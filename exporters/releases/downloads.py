"""Send files of releases as downloads."""

from __future__ import annotations

from django.http import FileResponse, Http404

from annotate.projects.access import Person
from exporters.exports.downloads import ANY_FILE, record_download
from exporters.releases import access, contents, file_store


def send_file(
    user: Person, slug: str, release: str, name: str, content_type: str = ANY_FILE
) -> FileResponse:
    """Send one file of a release after verifying its checksum; raise `file_store.Damaged`."""
    member, (found,) = access.made_releases(user, slug, release)
    entry = contents.files(found).get(name)
    if entry is None:
        raise Http404("There is no such file in this release.")
    stream = file_store.open_checked(found.project_id, entry)
    record_download(what="release.taken", of=found, name=name, by=member)
    filename = f"{found.project.slug}-{found.name}-{name.replace('/', '-')}"
    return FileResponse(stream, as_attachment=True, filename=filename, content_type=content_type)
