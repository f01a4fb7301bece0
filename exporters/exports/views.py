"""Pages of exports and publication settings: request exports, follow them, download files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.http import FileResponse, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_GET, require_http_methods, require_POST
from django_htmx.http import HttpResponseClientRefresh

from annotate.judgments.blindness import must_answer_first
from annotate.projects.access import lead
from annotate.projects.models import Membership
from annotate.projects.project_page import project_page
from base.page_request import PageRequest, refusal_in
from base.pagination import parse_key
from exporters.exports import access, actions, manifest, publishing
from exporters.exports.download_log import record_download
from exporters.exports.forms import ExportForm, PublicationForm
from exporters.exports.models import Export
from exporters.exports.proof.content import PROOF
from exporters.exports.proof.readers import PLAIN

# How many exports the list shows, the newest first.
SHOWN = 50


@require_http_methods(["GET", "POST"])
def exports(request: PageRequest, slug: str) -> HttpResponse:
    """List the project's exports, newest first; a POST requests another."""
    member = lead(request.user, slug)
    form = ExportForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        with refusal_in(form):
            return redirect(
                actions.request_export(
                    project=member.project,
                    format_name=form.cleaned_data["format"],
                    prove=form.cleaned_data["prove"],
                    by=member,
                )
            )
    rows = Export.objects.filter(project=member.project_id).order_by("-pk")
    before = parse_key(request.GET.get("before", ""))
    if before is not None:
        rows = rows.filter(pk__lt=before)
    found = list(rows.select_related("by", "project").defer("manifest", "proof")[: SHOWN + 1])
    return render(
        request,
        "exports/exports.html",
        {
            "project": member.project,
            "member": member,
            "section": "exports",
            "form": form,
            "exports": found[:SHOWN],
            "next_url": f"?before={found[SHOWN - 1].pk}" if len(found) > SHOWN else None,
        },
        status=422 if form.errors else 200,
    )


@require_http_methods(["GET", "POST"])
def publication(request: PageRequest, slug: str) -> HttpResponse:
    """Show what would be published and what is kept back; a POST changes the settings."""
    member = lead(request.user, slug)
    blind = must_answer_first(member)
    form = PublicationForm(request.POST or None, instance=publishing.publication_of(member.project))
    if request.method == "POST" and form.is_valid():
        with refusal_in(form):
            publishing.set_publication(project=member.project, changes=form.cleaned_data, by=member)
            return redirect("exporters:publication", member.project.slug)
    return project_page(
        request,
        "exports/publication.html",
        member,
        section="exports",
        form=form,
        blind=access.BLIND if blind else "",
        preview=None if blind else publishing.preview(member.project),
        layouts=[(layout.value, layout.label, layout in PLAIN) for layout in actions.LAYOUTS],
        proofs=[] if blind else publishing.newest_proofs(member.project),
        status=422 if form.errors else 200,
    )


@require_GET
def export(request: PageRequest, slug: str, pk: int) -> HttpResponse:
    """Show the progress of an export and, once it is done, its manifest and files."""
    member, found = access.export(request.user, slug, pk)
    if request.htmx and found.is_over:
        # The poll of a job that has ended: the whole page has changed.
        return HttpResponseClientRefresh()
    template = "exports/export.html#job" if request.htmx else "exports/export.html"
    return render(request, template, _export_context(member, found))


@require_POST
def cancellation(request: PageRequest, slug: str, pk: int) -> HttpResponse:
    """Cancel an export."""
    member, found = access.export(request.user, slug, pk)
    actions.cancel_export(export=found, by=member)
    return redirect(found)


@require_GET
def file(request: PageRequest, slug: str, pk: int, name: str) -> FileResponse:
    """Send one file of an export as a download, never displayed by the browser."""
    member, found = access.export(request.user, slug, pk)
    stream = access.file(request.user, slug, pk, name)
    record_download(what="export.taken", of=found, name=name, by=member)
    return FileResponse(
        stream,
        as_attachment=True,
        filename=name.rpartition("/")[2],
        content_type="application/octet-stream",
    )


@require_GET
def archive(request: PageRequest, slug: str, pk: int) -> FileResponse:
    """Send all files of an export as one zip archive."""
    member, found = access.export(request.user, slug, pk)
    stream = access.file(request.user, slug, pk, access.ARCHIVE)
    record_download(what="export.taken", of=found, name=access.ARCHIVE, by=member)
    return FileResponse(
        stream,
        as_attachment=True,
        filename=f"{found.project.slug}-{found.format}-{found.pk}.zip",
        content_type="application/zip",
    )


def _export_context(member: Membership, found: Export) -> dict[str, Any]:
    """Return the context of an export's page.

    It has no manifest before the export is done, or for a lead who is still blind.
    """
    page: dict[str, Any] = {
        "project": found.project,
        "member": member,
        "section": "exports",
        "export": found,
        "seconds_left": found.seconds_left(timezone.now()),
        "blind": "",
        "manifest": None,
    }
    if found.state != Export.State.DONE or found.manifest is None:
        return page
    if must_answer_first(member):
        return {**page, "blind": access.BLIND}
    here = [found.project.slug, found.pk]
    content = found.manifest
    return {
        **page,
        "manifest": content,
        "figures": _described_counts(content, manifest.FIGURES),
        "groups": [
            (heading, rows)
            for heading, words in manifest.GROUPS.items()
            if (rows := _described_counts(content, words))
        ],
        "files": [
            {**entry, "url": reverse("exporters:file", args=[*here, entry["name"]])}
            for entry in content["files"]
        ],
        "proof_url": reverse("exporters:file", args=[*here, PROOF]) if found.proof else "",
        "manifest_url": reverse("exporters:file", args=[*here, manifest.NAME]),
        "archive_url": reverse("exporters:archive", args=here),
    }


def _described_counts(
    content: Mapping[str, Any], words: Mapping[str, str]
) -> list[tuple[str, int]]:
    """Return the counts of a manifest with their descriptions, as far as it has them."""
    counts = manifest.add_derived_counts(content["counts"])
    return [(shown, counts[key]) for key, shown in words.items() if key in counts]
