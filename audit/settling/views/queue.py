"""The list of disagreements, and the list of reveals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from annotate.judgments.blindness import BLIND_TASKS
from annotate.judgments.models import RejudgeRequest
from annotate.judgments.work_left import open_assignments
from annotate.projects import access as annotate_access
from annotate.projects.project_page import project_page
from audit.settling.forms import QueueFilterForm
from audit.settling.models import Reveal
from audit.settling.queue import PAGE_SIZE, count_by_kind, read_page
from audit.settling.queue_filters import Kind, Order, QueueFilter, State
from audit.settling.queue_table import table_rows
from audit.settling.views.addresses import (
    add_filter,
    disagreement_url,
    filter_in,
    list_url,
    parse_position,
    revealed_disagreement,
)
from base.csv_output import csv_response
from base.page_request import PageRequest
from base.pagination import newest_by_key


@never_cache  # a cached page would still list what was settled since
@require_GET
def disagreements(request: PageRequest, slug: str) -> HttpResponse:
    """List a project's disagreements: open, waiting for an annotator, or settled."""
    member = annotate_access.lead(request.user, slug)
    form = QueueFilterForm(member, request.GET)
    filters = form.queue_filter()
    after = parse_position(request.GET.get("after", ""))
    listed = read_page(member, filters, after=after, size=PAGE_SIZE)
    asked = filter_in(request.GET)
    # Only settled ones have a cause.
    asked_open = {**asked, "settled_cause": ""}
    here = reverse("audit:disagreements", args=[slug])
    sent_back = RejudgeRequest.objects.open().filter(by__project=member.project_id).exists()
    totals = {
        state: listed.total
        if queue_filter == filters
        else sum(count_by_kind(member, queue_filter).values())
        if sent_back or state != "waiting"
        else 0
        for state, queue_filter in (
            ("open", filters.replaced(settled=False, waiting=False, cause="")),
            ("waiting", filters.replaced(settled=False, waiting=True, cause="")),
            ("settled", filters.replaced(settled=True, waiting=False)),
        )
    }
    is_open = not filters.settled and not filters.waiting
    ticked_kind = _settled_together(filters.kind, listed.counts) if is_open else None
    return project_page(
        request,
        "settling/disagreements.html",
        member,
        "disagreements",
        grades=form.grades,
        form=form,
        rarer=[
            field
            for field in form.rarer
            if filters.settled or field.name != "settled_cause" or field.value()
        ],
        rarer_used=any(field.value() for field in form.rarer),
        filtered=filters
        != QueueFilter(settled=filters.settled, waiting=filters.waiting, order=filters.order),
        rows=[
            {"item": item, "url": disagreement_url(item.key.disagreement_key, asked)}
            for item in listed.items
        ],
        total=listed.total,
        kinds=_kinds(filters, listed.counts, here, asked),
        totals=totals,
        showing="settled" if filters.settled else "waiting" if filters.waiting else "open",
        by_effect=filters.order is Order.EFFECT,
        by_measure=filters.order is Order.MEASURE,
        open_url=add_filter(here, {**asked_open, "state": ""}),
        waiting_url=add_filter(here, {**asked_open, "state": State.WAITING}),
        settled_url=add_filter(here, {**asked, "state": State.SETTLED}),
        all_url=add_filter(here, {"state": asked.get("state", "")}),
        settle_many_url=add_filter(
            reverse("audit:settling_many", args=[slug]),
            {**asked, "kind": Kind.CHECK if ticked_kind is Kind.CHECK else "", "state": ""},
        )
        if ticked_kind and listed.counts[ticked_kind]
        else "",
        ticked_url=reverse("audit:settling_many", args=[slug]),
        ticked_kind=ticked_kind,
        asked={name: value for name, value in asked.items() if name != "only"},
        n_only=len(filters.only),
        without_only_url=add_filter(here, {**asked, "only": ""}),
        table_url=add_filter(reverse("audit:disagreements_table", args=[slug]), asked),
        first_url=add_filter(here, asked) if after else "",
        next_url=add_filter(here, {**asked, "after": str(listed.after)}) if listed.after else "",
        words=f"{len(listed.items)} of {listed.total:,} shown",
        assigned=bool(open_assignments(member, *BLIND_TASKS)),
    )


def _settled_together(kind: Kind | None, counts: Mapping[Kind, int]) -> Kind | None:
    """Return what can be settled together in a list: documents, or labels where none is listed."""
    if kind is None:
        return Kind.JUDGMENT if counts[Kind.JUDGMENT] else Kind.CHECK
    return kind if kind in (Kind.JUDGMENT, Kind.CHECK) else None


@require_GET
def disagreements_table(request: PageRequest, slug: str) -> HttpResponseBase:
    """Download all disagreements that match the page's filter as a table."""
    member = annotate_access.lead(request.user, slug)
    form = QueueFilterForm(member, request.GET)
    if not form.is_valid():
        return redirect(list_url(slug, filter_in(request.GET)))
    return csv_response(table_rows(member, form.queue_filter()), f"{slug}-disagreements.csv")


@never_cache  # the browser's back button would show an old number
@require_GET
def disagreement_count(request: PageRequest, slug: str) -> HttpResponse:
    """Return how many match the filter; the page of a disagreement loads this separately."""
    member = annotate_access.lead(request.user, slug)
    filters = QueueFilterForm(member, filter_in(request.GET)).queue_filter()
    total = sum(count_by_kind(member, filters).values())
    about = {"count": f"{total:,}"}
    if filters.settled:
        words = "{count} settled".format(**about)
    elif filters.waiting:
        words = "{count} waiting for an annotator".format(**about)
    else:
        words = "{count} open".format(**about)
    return HttpResponse(words, content_type="text/plain; charset=utf-8")


@require_GET
def reveals(request: PageRequest, slug: str) -> HttpResponse:
    """List the reveals, newest first."""
    member = annotate_access.lead(request.user, slug)
    reveals = Reveal.objects.filter(by__project=member.project_id).select_related(
        "by", "narrative__pair", "candidate__document", "item__sample"
    )
    page = newest_by_key(reveals, request.GET)
    return project_page(
        request,
        "settling/reveals.html",
        member,
        "disagreements",
        rows=[
            {"reveal": reveal, "url": disagreement_url(revealed_disagreement(reveal))}
            for reveal in page.rows
        ],
        page=page,
        words=f"{len(page.rows)} shown",
    )


def _kinds(
    filters: QueueFilter, counts: dict[Kind, int], here: str, asked: dict[str, str]
) -> list[dict[str, Any]]:
    """Return each kind with how many of it match the filter, all kinds together first."""
    listed: list[tuple[str, int, str]] = [("All kinds", sum(counts.values()), "")]
    listed += [(kind.label, counts[kind], kind.value) for kind in Kind]
    return [
        {
            "name": name,
            "count": count,
            "url": add_filter(here, {**asked, "kind": kind}),
            "current": kind == (filters.kind or ""),
        }
        for name, count, kind in listed
    ]
