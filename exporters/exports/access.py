"""Fetch exports and their files for leads; files only for a lead who is no longer blind.

Views fetch exports through these functions only.
"""

from __future__ import annotations

from django.core.exceptions import PermissionDenied
from django.core.files import File
from django.core.files.storage import default_storage
from django.http import Http404

from annotate.judgments.blindness import must_answer_first
from annotate.projects import access
from annotate.projects.access import Person
from annotate.projects.models import Membership
from base.requests import row_or_404
from exporters.exports.files import PROOF
from exporters.exports.manifest import manifest
from exporters.exports.models import Export

ARCHIVE = "export.zip"
BLIND = (
    "You have judging or reviewing left in this project, and an export would show you what "
    "others answered. Finish it, or release a task that you have not begun, then look here "
    "again."
)
BLIND_FIGURES = (
    "You have judging or reviewing left in this project, and the scores of systems would reveal "
    "what others answered. Finish it, or release a task that you have not begun, then look here "
    "again."
)


def export(user: Person, slug: str, pk: int) -> tuple[Membership, Export]:
    """Return an export of a project the person leads, or raise Http404 or PermissionDenied."""
    member = access.lead(user, slug)
    return member, row_or_404(
        Export.objects.select_related("project", "by").filter(project=member.project_id),
        pk,
        "There is no such export in this project.",
    )


def file(user: Person, slug: str, pk: int, name: str) -> tuple[Membership, Export, File[bytes]]:
    """Open a file of a finished export by its name in the manifest, the manifest, or ARCHIVE.

    Raises Http404 if there is no such file, and PermissionDenied like `export` and for a lead who
    is still blind.
    """
    member, export_row = export(user, slug, pk)
    if must_answer_first(member):
        raise PermissionDenied(BLIND)
    # A path is never made from user input: only names stored in the row are opened.
    if export_row.state == Export.State.DONE and export_row.manifest is not None:
        names = {entry["name"] for entry in export_row.manifest["files"]}
        if export_row.proof is not None:
            names.add(PROOF)
        if name in names | {manifest.NAME, ARCHIVE}:
            try:
                return member, export_row, default_storage.open(f"{export_row.folder}/{name}", "rb")
            except FileNotFoundError as error:
                raise Http404(f"{name} is missing in the storage. Export again.") from error
    raise Http404("There is no such file in this export.")
