"""Pages of exports and publication settings: request exports, follow them, download files."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import FileResponse, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods

from annotate.judgments.blindness import must_answer_first
from annotate.projects.access import lead
from annotate.projects.project_page import project_page
from base.errors import Refused, Stale
from base.pagination import newest_by_key
from base.requests import PageRequest, refusal_in
from exporters.exports import access, actions, publishing
from exporters.exports.before_publishing import MOST
from exporters.exports.files import PROOF, has_only_heading
from exporters.exports.forms import ExportForm, PublicationForm
from exporters.exports.manifest import manifest
from exporters.exports.models import Export, publication_of
from exporters.exports.proof.proving import tools_for
from jobs.models import Job

# How many exports the list shows, the newest first.
SHOWN = 50


@require_http_methods(["GET", "POST"])
def exports(request: PageRequest, slug: str) -> HttpResponse:
    """List the project's exports, newest first; a POST requests another.

    One that the page of publication requests (`proving`) is followed there.
    """
    member = lead(request.user, slug)
    form = ExportForm(member.project, request.POST or None)
    if request.method == "POST" and form.is_valid():
        with refusal_in(form):
            export = actions.request_export(
                project=member.project,
                format_name=form.cleaned_data["format"],
                prove=form.cleaned_data["prove"],
                by=member,
            )
            if "proving" in request.POST:
                return redirect("exporters:publication", slug)
            return redirect(export)
    rows = Export.objects.filter(project=member.project_id).select_related("by", "project")
    page = newest_by_key(rows.defer("manifest", "proof"), request.GET, SHOWN)
    return project_page(
        request,
        "exports/exports.html",
        member,
        "releases",
        form=form,
        blind=access.BLIND if must_answer_first(member) else "",
        exports=page.rows,
        page=page,
        status=422 if form.errors else 200,
    )


@require_http_methods(["GET", "POST"])
def publication(request: PageRequest, slug: str) -> HttpResponse:
    """Show what would be published and what is kept back; a POST changes the settings.

    htmx gets the settings alone, for the page of a new release; `for_release` goes back to it.
    """
    member = lead(request.user, slug)
    blind = must_answer_first(member)
    stored = publication_of(member.project)
    # Before the form changes it.
    newest = publishing.publication_token(stored)
    form = PublicationForm(request.POST or None, instance=stored)
    for_release, based_on = "for_release" in request.POST, request.POST.get("based_on", newest)
    if request.method == "POST" and form.is_valid():
        try:
            publishing.set_publication(
                project=member.project, changes=form.cleaned_data, token=based_on, by=member
            )
        except Refused as refused:
            form.add_error(None, str(refused))
            based_on = newest if isinstance(refused, Stale) else based_on
        else:
            messages.success(request, "The publication settings are saved.")
            then = "new_release" if for_release else "publication"
            return redirect(f"exporters:{then}", member.project.slug)
    if request.htmx and not request.htmx.boosted:
        template = "exports/publication.html#settings"
        return project_page(
            request, template, member, form=form, for_release=True, based_on=based_on
        )
    suiting, others = actions.divide_layouts(member.project)
    proving = publishing.newest_request_of_proof(member.project)
    return project_page(
        request,
        "exports/publication.html",
        member,
        "releases",
        form=form,
        based_on=based_on,
        for_release=for_release,
        blind=access.BLIND if blind else "",
        preview=None if blind else publishing.preview(member.project),
        layouts=[
            [(layout.value, layout.label, tools_for(layout)) for layout in layouts]
            for layouts in ([Export.Format.TREC, *suiting], others)
            if layouts
        ],
        proofs=[] if blind else publishing.newest_proofs(member.project),
        proving=proving if proving and proving.state != Job.State.DONE else None,
        status=422 if form.errors else 200,
    )


@require_GET
def before_publishing(request: PageRequest, slug: str) -> HttpResponse:
    """List what to look at before the project is published, with links.

    All graded documents are read: the page asks for itself with `?findings=1` once it is shown.
    """
    member = lead(request.user, slug)
    blind = must_answer_first(member)
    return project_page(
        request,
        "exports/before_publishing.html",
        member,
        "releases",
        blind=access.BLIND if blind else "",
        findings=publishing.findings(member.project)
        if "findings" in request.GET and not blind
        else None,
        most=MOST,
    )


@require_GET
def export(request: PageRequest, slug: str, pk: int) -> HttpResponse:
    """Show the progress of an export and, once it is done, its manifest and files."""
    member, export_row = access.export(request.user, slug, pk)
    done = export_row.state == Job.State.DONE
    blind = done and must_answer_first(member)
    content = _content(export_row) if done and not blind else {"manifest": None}
    return project_page(
        request,
        "exports/export.html",
        member,
        "releases",
        export=export_row,
        blind=access.BLIND if blind else "",
        **content,
    )


@require_GET
def file(request: PageRequest, slug: str, pk: int, name: str) -> FileResponse:
    """Send one file of an export as a download, never displayed by the browser."""
    return actions.send_file(*access.file(request.user, slug, pk, name), name)


@require_GET
def archive(request: PageRequest, slug: str, pk: int) -> FileResponse:
    """Send all files of an export as one zip archive."""
    return actions.send_archive(*access.file(request.user, slug, pk, access.ARCHIVE))


def _content(export_row: Export) -> dict[str, Any]:
    """Return the context of the page of an export that is done."""
    content = export_row.manifest
    if content is None:
        return {}
    here = [export_row.project.slug, export_row.pk]
    return {
        "manifest": content,
        "figures": manifest.figures(content["counts"]),
        "groups": manifest.groups(content["counts"]),
        "files": [
            {
                **entry,
                "only_heading": has_only_heading(entry),
                "url": reverse("exporters:file", args=[*here, entry["name"]]),
            }
            for entry in content["files"]
        ],
        "proof_url": reverse("exporters:file", args=[*here, PROOF]) if export_row.proof else "",
        "manifest_url": reverse("exporters:file", args=[*here, manifest.NAME]),
        "archive_url": reverse("exporters:archive", args=here),
    }
