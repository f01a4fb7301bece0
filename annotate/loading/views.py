"""Pages of loading: uploads, their previews and results, and taking a load back."""

from __future__ import annotations

from typing import Any, NamedTuple
from uuid import UUID

from django.contrib import messages
from django.db.models import F
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotate.collection.intake import KINDS
from annotate.loading import access, load_jobs
from annotate.loading.forms import LoadConfirmationForm, LoadForm, options_of
from annotate.loading.models import Load
from annotate.loading.taking_back import take_back
from annotate.projects.access import lead
from annotate.projects.kinds import kind_of
from annotate.projects.project_page import project_page
from base.pagination import newest_by_key
from base.requests import PageRequest, refusal_as_message, refusal_in
from formats.registry import FORMATS
from jobs.models import Job

# How many uploads the list shows, the newest first.
SHOWN = 50
# The format of runs, after which a lead measures.
RUNS = "trec-run"


class Outcome(NamedTuple):
    """The outcome of a file: the state that chooses its badge, and the words on the badge."""

    state: str
    words: str


@require_http_methods(["GET", "POST"])
def loads(request: PageRequest, slug: str) -> HttpResponse:
    """List uploads, newest first; a POST uploads a file for a preview."""
    member = lead(request.user, slug)
    known_format = FORMATS.get(request.GET.get("format", ""))
    form = LoadForm(
        request.POST or None,
        request.FILES or None,
        initial={"format": known_format.name if known_format else ""},
        kind=kind_of(member.project.kind),
    )
    if request.method == "POST" and form.is_valid():
        files = form.cleaned_data["file"]
        options = options_of(form.cleaned_data)
        with refusal_in(form, "file"):
            if len(files) == 1:
                return redirect(load_jobs.request_load(file=files[0], **options, by=member))
            batch = load_jobs.request_batch(files=files, **options, by=member)
            return redirect("annotate:load_batch", slug, batch)
    # A confirmed preview is not listed, only its load. A report may be long: read only the field
    # that the list shows.
    rows = Load.objects.filter(project=member.project_id, confirmed_as=None).defer("report")
    rows = rows.annotate(refused_lines=F("report__refused")).select_related("by", "project")
    page = newest_by_key(rows, request.GET, SHOWN)
    documents = member.project.documents
    has_documents = documents.exists()
    return project_page(
        request,
        "loading/load_list.html",
        member,
        "load",
        form=form,
        rows=[
            {
                "load": load,
                "format": _format_title(load),
                "outcome": _outcome(load, load.refused_lines or 0),  # type: ignore[attr-defined]
            }
            for load in page.rows
        ],
        first_files="" if has_documents else kind_of(member.project.kind).first_files,
        some_without_text=documents.filter(text_version=None).exists(),
        empty=not page.rows and not page.previous and not has_documents,
        page=page,
        status=422 if form.errors else 200,
    )


@require_GET
def load_batch(request: PageRequest, slug: str, batch: UUID) -> HttpResponse:
    """Show files that were uploaded together: a line for each, in the order of loading."""
    member, previews = access.load_batch(request.user, slug, batch)
    rows = [_batch_row(preview) for preview in previews]
    over = all(row["load"].is_over for row in rows)
    polled = request.htmx and not request.htmx.boosted
    chained = any(
        preview.chained_by and load_jobs.load_of(preview) is None and load_jobs.can_load(preview)
        for preview in previews
    )
    return project_page(
        request,
        "loading/load_batch.html#files" if polled else "loading/load_batch.html",
        member,
        "load",
        batch=batch,
        rows=rows,
        over=over,
        only_runs=all(preview.format == RUNS for preview in previews),
        all_loaded=all(row["outcome"].state == "done" for row in rows),
        n_ready=sum(load_jobs.can_load(preview) for preview in previews) if over else 0,
        n_later=sum(load_jobs.checked_later(preview) for preview in previews),
        against_rules=[
            preview for preview in previews if load_jobs.can_load(preview, despite_rules=True)
        ],
        stopped=over and chained,
    )


@require_POST
def batch_confirmation(request: PageRequest, slug: str, batch: UUID) -> HttpResponse:
    """Load the files of a batch, one after the other."""
    member, _previews = access.load_batch(request.user, slug, batch)
    with refusal_as_message(request):
        load_jobs.confirm_batch(project=member.project, batch=batch, by=member)
    return redirect("annotate:load_batch", slug, batch)


def _batch_row(preview: Load) -> dict[str, Any]:
    """Return a line of a batch: a file's load, or its check while it is not loaded."""
    load = load_jobs.load_of(preview) or preview
    report = load.report or {}
    return {
        "load": load,
        "place": preview.place,
        "format": _format_title(preview),
        "outcome": _outcome(load, report.get("refused", 0)),
        "report": report,
        "broken": report.get("broken", 0),
    }


@require_GET
def load(request: PageRequest, slug: str, pk: int) -> HttpResponse:
    """Show the progress of a preview or a load, and its report when it is done."""
    member, upload = access.load(request.user, slug, pk)
    report = upload.report
    done = upload.state == Job.State.DONE
    suggested = load_jobs.suggested_format(upload) if done else None
    confirmed = load_jobs.load_of(upload)
    accepted = report if report and done and not report["refused"] else None
    return project_page(
        request,
        "loading/load.html",
        member,
        "load",
        load=upload,
        only_runs=upload.format == RUNS,
        outcome=_outcome(upload, report["refused"] if report else 0, loaded=confirmed is not None),
        format_title=_format_title(upload),
        counts=_counts(accepted) if accepted else None,
        notes=accepted["notes"] if accepted else [],
        problems=report["problems"] if report else [],
        broken_rules=report.get("broken_rules", []) if report and done else [],
        broken=report.get("broken", 0) if report and done else 0,
        more_problems=report["refused"] - len(report["problems"]) if report else 0,
        can_confirm=upload.dry_run and load_jobs.can_load(upload, despite_rules=True),
        suggested=suggested,
        checked_again=load_jobs.find_recheck(upload, suggested) if suggested else None,
        would_change=bool(report and (report["new"] or report["changed"])),
        loaded_as=confirmed,
        written=load_jobs.written_by(upload),
    )


@require_POST
def confirmation(request: PageRequest, slug: str, pk: int) -> HttpResponse:
    """Confirm a preview: load the file."""
    member, preview = access.load(request.user, slug, pk)
    form = LoadConfirmationForm(request.POST)
    form.full_clean()
    then = preview.get_absolute_url()
    with refusal_as_message(request):
        load = load_jobs.confirm_load(preview=preview, by=member, **form.cleaned_data)
        then = load.get_absolute_url()
        if preview.batch and "in_batch" in request.POST:
            then = reverse("annotate:load_batch", args=[slug, preview.batch])
    return redirect(then)


@require_POST
def recheck(request: PageRequest, slug: str, pk: int) -> HttpResponse:
    """Check a refused file again, in the format that its check suggests."""
    member, preview = access.load(request.user, slug, pk)
    shown = preview
    with refusal_as_message(request):
        shown = load_jobs.recheck_load(preview=preview, by=member)
    return redirect(shown)


@require_POST
def leaving(request: PageRequest, slug: str, pk: int) -> HttpResponse:
    """Discard a previewed file without loading it."""
    member, preview = access.load(request.user, slug, pk)
    then = preview.get_absolute_url()
    with refusal_as_message(request):
        load_jobs.discard_preview(preview=preview, by=member)
        words = f"{preview.file_name} was discarded. Nothing of it was loaded."
        messages.success(request, words)
        then = reverse("annotate:loads", args=[slug])
    return redirect(then)


def _format_title(load: Load) -> str:
    """Return the title of a load's format, or its name if the format no longer exists."""
    return FORMATS[load.format].title if load.format in FORMATS else load.format


def _outcome(load: Load, refused: int, *, loaded: bool = False) -> Outcome:
    """Return the outcome of a file or the state of its job; `loaded`: a confirmed preview."""
    if load.state != Job.State.DONE:
        return Outcome(load.state, load.get_state_display())
    if refused:
        return Outcome(
            "refused", f"Refused: {refused:,} {'problem' if refused == 1 else 'problems'}"
        )
    if load.taken_back_at is not None:
        return Outcome("cancelled", "Taken back")
    if not load.dry_run:
        return Outcome("done", "Loaded")
    return Outcome("looked_through", "Checked" if loaded else "Checked, not loaded")


def _counts(report: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the rows of the table of counts: the file's own records, then each kind of rows."""
    own = {name: report[name] for name in ("read", "new", "changed", "unchanged", "refused")}
    return [
        {"name": "The file’s own records", **own},
        *(
            {"name": KINDS[kind], "read": sum(rows.values()), **rows, "refused": 0}
            for kind, rows in report["rows"].items()
        ),
    ]


@require_POST
def taking_back(request: PageRequest, slug: str, pk: int) -> HttpResponse:
    """Undo what a load of qrels wrote."""
    member, load = access.load(request.user, slug, pk)
    with refusal_as_message(request):
        take_back(load=load, by=member)
        messages.success(request, f"{load.file_name} was taken back.")
    return redirect(load)
