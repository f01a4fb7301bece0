"""Pages of releases: make one, view it, download its files, compare two."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotate.judgments.blindness import must_answer_first
from annotate.pairs.models import Narrative
from annotate.projects.access import lead
from annotate.projects.models import Membership
from annotate.projects.project_page import project_page
from base.csv_output import csv_response
from base.errors import Refused
from base.pagination import newest_by_key
from base.requests import PageRequest, refusal_in
from base.word_diff import Op, Piece, diff
from exporters.exports.access import BLIND
from exporters.exports.actions import ANY_FILE
from exporters.exports.files import FileFacts, has_only_heading
from exporters.exports.manifest import manifest
from exporters.releases import access, contents, file_store
from exporters.releases import actions as releasing
from exporters.releases import comparison as comparing
from exporters.releases.comparison import (
    BEFORE,
    CLAIMED,
    Change,
    Comparison,
    NarrativeChange,
    NarrativeText,
)
from exporters.releases.forms import CompareForm, ReleaseForm
from exporters.releases.models import Release
from exporters.releases.preview import preview, try_release
from jobs.models import Job

# How many releases the list shows, the newest first.
SHOWN = 25
# How many of each kind of difference one page shows.
SIZES = {"grades": 100, "queries": 50, "narratives": 20, "texts": 100, "listed": 100}
UNDER = {
    Narrative.Side.ALTERED.value: "altered",
    Narrative.Side.REVERSED.value: "reversed",
    Narrative.Side.ORIGINAL.value: "original",
    **{under: f"claimed, {side.value}" for side, under in CLAIMED.items()},
    BEFORE: "earlier relevance",
}


@require_GET
def releases(request: PageRequest, slug: str) -> HttpResponse:
    """List the project's releases, newest first; two names redirect to their comparison."""
    member = lead(request.user, slug)
    names = list(
        Release.objects.made()
        .filter(project=member.project_id)
        .order_by("-pk")
        .values_list("name", flat=True)
    )
    # Of the pages of the list, each has one of these in its address.
    is_sent = {"before", "after"} <= request.GET.keys()
    form = CompareForm(names, request.GET if is_sent else None)
    if form.is_bound and form.is_valid():
        before, after = form.cleaned_data["before"], form.cleaned_data["after"]
        if before != after:
            return redirect("exporters:comparison", slug, before, after)
        form.add_error("after", "Choose two different releases.")
    elif not form.is_bound and len(names) > 1:
        form = CompareForm(names, initial={"before": names[1], "after": names[0]})
    rows = Release.objects.filter(project=member.project_id)
    page = newest_by_key(rows.select_related("by", "project", "guideline"), request.GET, SHOWN)
    blind = must_answer_first(member)
    return project_page(
        request,
        "releases/releases.html",
        member,
        "releases",
        blind=BLIND if blind else "",
        releases=[
            {
                "release": release,
                "counts": None
                if blind or release.state != Release.State.DONE
                else contents.all_counts(contents.of(release)),
            }
            for release in page.rows
        ],
        form=form if len(names) > 1 and not blind else None,
        page=page,
        status=422 if form.errors else 200,
    )


@require_http_methods(["GET", "POST"])
def new_release(request: PageRequest, slug: str) -> HttpResponse:
    """Show what a release would contain now; a POST requests it.

    The trial takes as long as an export: the page asks for itself with `?trial=1` once it is shown.
    """
    member = lead(request.user, slug)
    form = ReleaseForm(request.POST or None, initial={"name": request.GET.get("name", "")[:60]})
    if request.method == "POST" and form.is_valid():
        with refusal_in(form):
            return redirect(
                releasing.request_release(
                    project=member.project,
                    name=form.cleaned_data["name"],
                    note=form.cleaned_data["note"],
                    by=member,
                )
            )
    blind = must_answer_first(member)
    return project_page(
        request,
        "releases/new_release.html",
        member,
        "releases",
        blind=BLIND if blind else "",
        form=form,
        preview=None if blind else preview(member),
        trial=try_release(member) if "trial" in request.GET and not blind else None,
        status=422 if form.errors else 200,
    )


@require_GET
def release(request: PageRequest, slug: str, release: str) -> HttpResponse:
    """Show the progress of a release and, once it is made, what it holds."""
    member, row = access.release(request.user, slug, release)
    done = row.state == Job.State.DONE
    blind = done and must_answer_first(member)
    content = _content(row) if done and not blind else {"held": None}
    return project_page(
        request,
        "releases/release.html",
        member,
        "releases",
        release=row,
        blind=BLIND if blind else "",
        **content,
    )


@require_POST
def release_discarding(request: PageRequest, slug: str, release: str) -> HttpResponse:
    """Discard a failed or cancelled release."""
    member, row = access.release(request.user, slug, release)
    try:
        releasing.discard_release(release=row, by=member)
    except Refused as refused:
        messages.error(request, str(refused))
        return redirect(row)
    messages.success(request, f"{row.name} was discarded.")
    return redirect("exporters:releases", slug)


@require_GET
def release_file(request: PageRequest, slug: str, release: str, name: str) -> HttpResponseBase:
    """Send one file of a release, after verifying its checksum."""
    member, (row,) = access.made_releases(request.user, slug, release)
    content_type = "application/zip" if name.endswith(".zip") else ANY_FILE
    try:
        return releasing.send_file(member, row, name, content_type)
    except file_store.Damaged as damaged:
        messages.error(request, _damage_message(damaged))
        return redirect(row)


@require_GET
def comparison(request: PageRequest, slug: str, before: str, after: str) -> HttpResponse:
    """Show the differences between two releases; the query string selects the kind and the page."""
    member, compared = _compare_or_redirect(request, slug, before, after)
    if isinstance(compared, HttpResponse):
        return compared
    context = _comparison_context(request, compared)
    return project_page(request, "releases/comparison.html", member, "releases", **context)


@require_GET
def comparison_table(request: PageRequest, slug: str, before: str, after: str) -> HttpResponseBase:
    """Send all differences as a table."""
    member, compared = _compare_or_redirect(request, slug, before, after)
    if isinstance(compared, HttpResponse):
        return compared
    name = f"{member.project.slug}-{compared.before.name}-{compared.after.name}.csv"
    return csv_response(comparing.table(compared), name)


def _compare_or_redirect(
    request: PageRequest, slug: str, before: str, after: str
) -> tuple[Membership, Comparison | HttpResponse]:
    """Return the comparison of two releases, or a redirect to the list with an error message."""
    member, (old, new) = access.made_releases(request.user, slug, before, after)
    listed = redirect("exporters:releases", slug)
    if old == new:
        messages.error(request, "Choose two different releases.")
        return member, listed
    try:
        return member, Comparison(old, new)
    except file_store.Damaged as damaged:
        messages.error(request, _damage_message(damaged))
        return member, listed


def _damage_message(damaged: file_store.Damaged) -> str:
    return f"{damaged} Restore it from a backup of the data folder."


def _content(release: Release) -> dict[str, Any]:
    """Return the context of the page of a release that is made."""
    held = contents.of(release)
    counts = contents.all_counts(held)
    every = {name: _with_url(release, entry) for name, entry in contents.files(release).items()}
    formats = [
        {
            "name": name,
            "archive": every[f"{name}.zip"],
            "files": files,
            "bytes": sum(file["bytes"] for file in files),
            "notes": held["notes"][name],
            "published": [
                group for group in manifest.groups(of_format) if group[0] == manifest.PUBLISHED
            ],
        }
        for name, of_format in held["counts"].items()
        for files in [[file for path, file in every.items() if path.startswith(f"{name}/")]]
    ]
    earlier = Release.objects.made().filter(project=release.project_id, pk__lt=release.pk)
    others = earlier.order_by("-pk").values_list("name", flat=True)[:SHOWN]
    slug = release.project.slug
    return {
        "held": held,
        "figures": manifest.figures(counts),
        "groups": manifest.groups(counts),
        "formats": formats,
        "others": [
            {"name": name, "url": reverse("exporters:comparison", args=[slug, name, release.name])}
            for name in others
        ],
        "whole": [file for name, file in every.items() if "/" not in name and ".zip" not in name],
        "citation": contents.citation(release),
    }


def _with_url(release: Release, entry: FileFacts) -> dict[str, Any]:
    here = [release.project.slug, release.name, entry["name"]]
    return {
        **entry,
        "only_heading": has_only_heading(entry),
        "url": reverse("exporters:release_file", args=here),
    }


def _comparison_context(request: PageRequest, compared: Comparison) -> dict[str, Any]:
    """Return the context of a comparison's page, after reading all differences once."""
    show = request.GET.get("show", "")
    after = tuple(request.GET.get("after", "").split("\t")) if "after" in request.GET else ()
    query = request.GET.get("query", "")
    per_query: Counter[str] = Counter()
    rewritten: Counter[str] = Counter()

    def grades() -> Iterator[Change]:
        for change in compared.grades():
            per_query[change.query_id] += 1
            if not query or change.query_id == query:
                yield change

    def narratives() -> Iterator[NarrativeChange]:
        for narrative in compared.narratives():
            rewritten[narrative.change.query_id] += 1
            yield narrative

    def part_of(kind: str, rows: Iterable[Any]) -> comparing.Page:
        return comparing.read_page(rows, after if kind == show else (), SIZES[kind])

    parts = {
        "grades": part_of("grades", grades()),
        "narratives": part_of("narratives", narratives()),
        "texts": part_of("texts", compared.texts()),
        "listed": part_of("listed", compared.presence_changes()),
    }
    # After all grades and narratives have been read, which fills the counters.
    parts["queries"] = part_of("queries", comparing.queries(compared, per_query, rewritten))
    totals = {kind: part.total for kind, part in parts.items()}
    totals["grades"] = per_query.total()
    if show not in SIZES:
        # By default, show the first kind that has differences.
        show = next((kind for kind in SIZES if totals[kind]), "grades")
    shown = parts[show]
    here = {"show": show, **({"query": query} if query and show == "grades" else {})}
    return {
        "before": compared.before,
        "after": compared.after,
        "counts": compared.counts(),
        "rules": compared.rules(),
        "guidelines_differ": compared.before.guideline_id != compared.after.guideline_id,
        "show": show,
        "query": query,
        "totals": totals,
        "nothing": not any(totals.values()),
        "rows": _rows(show, shown.rows),
        "total": shown.total,
        "first_url": f"?{urlencode(here)}" if after else None,
        "next_url": f"?{urlencode({**here, 'after': chr(9).join(shown.following)})}"
        if shown.following
        else None,
    }


def _rows(show: str, rows: Sequence[Any]) -> Sequence[Any]:
    """Return the rows in the form that the template needs."""
    if show == "narratives":
        return [_narrative(row) for row in rows]
    if show == "grades":
        return [{"change": row, "under": UNDER[row.narrative]} for row in rows]
    return rows


def _narrative(narrative: NarrativeChange) -> dict[str, Any]:
    old, new = narrative.before, narrative.after
    return {
        "change": narrative.change,
        "side": Narrative.Side(narrative.change.narrative).label,
        "pieces": diff(old.text if old else "", new.text if new else ""),
        "conditions": _conditions(old, new),
    }


def _conditions(old: NarrativeText | None, new: NarrativeText | None) -> list[Piece]:
    """Return the conditions of both narratives, with those of only one marked."""
    before, after = (words.conditions if words else () for words in (old, new))
    if before == after:
        return []
    gone = [(Op.REMOVED, condition) for condition in before if condition not in after]
    now = [(Op.KEPT if condition in before else Op.ADDED, condition) for condition in after]
    return [Piece(op, f"{name}: {text}" if name else text) for op, (name, text) in [*gone, *now]]
