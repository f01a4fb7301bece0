"""The dashboard: progress and pace, the matrix, flags; and a page for each person."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_GET

from annotate.judgments import completion
from annotate.judgments.assignments import my_assignments
from annotate.judgments.blindness import blind_pairs
from annotate.judgments.document_names import names_for
from annotate.judgments.models import Flag
from annotate.overview import pace as paces
from annotate.overview.finish_date import estimate
from annotate.overview.flags import FlagPage, list_flags
from annotate.overview.forms import MatrixForm
from annotate.overview.lists import at_instruction
from annotate.overview.matrix import Asked, CellState, Key, Row
from annotate.overview.matrix import count as count_documents
from annotate.overview.matrix import matrix as documents_by_people
from annotate.overview.views.home import work_url
from annotate.pairs.models import Assignment
from annotate.projects import access
from annotate.projects.models import Membership
from annotate.projects.project_page import project_page
from base.requests import PageRequest

# How many assignments of a person are listed; begun ones come first.
ASSIGNMENTS = 50


@require_GET
def progress(request: PageRequest, slug: str) -> HttpResponse:
    """Show what was judged day by day, what is left, and when it will be done at this pace."""
    member = access.lead(request.user, slug)
    project = member.project
    pace = _pace(request)
    shown = paces.project_pace(member, completion.judging(project), pace)
    reviewing = next((task for task in shown.tasks if task.task == Assignment.Task.REVIEW), None)
    return project_page(
        request,
        "overview/progress.html",
        member,
        section="overview",
        judging=shown.judging,
        begun=shown.begun,
        flagged=shown.flagged,
        days=shown.days,
        pace=pace,
        paces=paces.PACES,
        outlook=shown.outlook,
        effort=shown.effort,
        time_left=shown.effort.for_(shown.judging.left),
        active_lately=sum(day.active for day in shown.days[-pace:]),
        tasks=shown.tasks,
        # If nobody is asked to judge, the page estimates when the reviews will be done.
        reviewing=None if project.overlap_judge else reviewing,
        people=shown.people,
        shows_answers=bool(project.overlap_judge)
        or any(person.answered for person in shown.people),
        reviewed=any(person.reviewed for person in shown.people),
        checked=any(person.checked for person in shown.people),
        zone=str(shown.calendar.zone),
    )


@require_GET
def person(request: PageRequest, slug: str, pk: int) -> HttpResponse:
    """Show one person's progress, pace and flags: to themselves, and to leads."""
    member = access.member(request.user, slug)
    membership = access.member_of_project(member, pk)
    if membership.pk != member.pk and not member.leads:
        raise PermissionDenied("This is another person's page. You can open only your own.")
    project = member.project
    calendar = paces.Calendar.of_reader()
    pace = _pace(request)
    done = paces.person_pace(member, membership, calendar, pace)
    assignments = my_assignments(membership)
    judging = (work for work in assignments if work.assignment.task == Assignment.Task.JUDGE)
    left = sum(work.total - work.done for work in judging)
    lately = paces.last_days(done.days, pace)
    listed = list_flags(member, request.GET, of=membership)
    return project_page(
        request,
        "overview/person.html",
        member,
        section="mine" if membership.pk == member.pk else "members",
        person=membership,
        mine=membership.pk == member.pk,
        answered=done.answered,
        last_on=done.answered_on,
        reviewed=done.reviewed,
        checked=done.checked,
        effort=done.effort,
        active=done.active,
        time_left=done.effort.for_(left),
        days=done.days,
        pace=pace,
        paces=paces.PACES,
        left=left,
        outlook=estimate(left, lately, done.days[-1].on),
        assignments=[
            {
                "assignment": work.assignment,
                "done": work.done,
                "total": work.total,
                "url": work_url(work.assignment)
                if membership.pk == member.pk
                else reverse("annotate:query", args=[project.slug, work.assignment.pair.query_id])
                + at_instruction(work.assignment.pair_id),
            }
            for work in assignments[:ASSIGNMENTS]
        ],
        more_assignments=max(len(assignments) - ASSIGNMENTS, 0),
        **_flags(listed, member, request),
        zone=str(calendar.zone),
    )


@require_GET
def flags(request: PageRequest, slug: str) -> HttpResponse:
    """List the flags with their words; `?kind=` and `?person=` filter them."""
    member = access.lead(request.user, slug)
    listed = list_flags(member, request.GET)
    people = member.project.memberships.people().order_by("name")
    return project_page(
        request,
        "overview/flags.html",
        member,
        section="disagreements",
        people=people,
        chosen=request.GET.get("person", ""),
        assigned=bool(blind_pairs(member)),
        **_flags(listed, member, request),
    )


@require_GET
def matrix(request: PageRequest, slug: str) -> HttpResponse:
    """Show each person's answer to each document; the address holds the filter."""
    member = access.lead(request.user, slug)
    form = MatrixForm(member, request.GET)
    asked = form.asked()
    table = documents_by_people(member, form.people, asked)
    names = (*form.fields, "grades")
    kept = {name: request.GET[name] for name in names if request.GET.get(name)}
    filtered = asked != Asked(after=asked.after, before=asked.before)
    return render(
        request,
        "overview/matrix.html",
        {
            "project": member.project,
            "member": member,
            "section": "queries",
            "form": form,
            "filtered": filtered,
            "people": table.people,
            "rows": [_row(member, row, table.people) for row in table.rows],
            "met": asked.grades,
            "total": None if asked.state or asked.grades else count_documents(member, asked),
            "grades": list(member.project.grades.order_by("value")),
            "assigned": bool(blind_pairs(member)),
            "previous_url": _page_url(kept, "before", table.before),
            "next_url": _page_url(kept, "after", table.after),
        },
    )


def _row(member: Membership, row: Row, people: list[Membership]) -> dict[str, Any]:
    """Return a row with the address behind each cell; empty and hidden cells have none."""
    pair, candidate = row.narrative.pair_id, row.candidate.pk
    mine = reverse("annotate:judge", args=[pair, candidate])
    disagreement = reverse("audit:disagreement", args=[row.narrative.pk, candidate])
    cells = []
    for person, cell in zip(people, row.cells, strict=True):
        url = disagreement
        if cell.state in {CellState.EMPTY, CellState.HIDDEN}:
            url = ""
        elif person.pk == member.pk and (row.outcome is None or cell.state is CellState.TAKEN):
            url = mine
        elif cell.state is CellState.TAKEN:
            url = reverse("annotate:person", args=[member.project.slug, person.pk])
        cells.append({"cell": cell, "person": person, "url": url})
    return {
        "pair": row.narrative.pair,
        "document": row.candidate.document,
        "name": row.name,
        "outcome": row.outcome,
        "url": mine if row.outcome is None else disagreement,
        "cells": cells,
    }


def _page_url(kept: dict[str, str], name: str, key: Key | None) -> str:
    """Return the address of the page before or after this one; "" if there is none."""
    return "" if key is None else f"?{urlencode({**kept, name: str(key)})}"


def _flags(listed: FlagPage, member: Membership, request: PageRequest) -> dict[str, Any]:
    kind = request.GET.get("kind", "")
    return {
        "flags": listed.page.rows,
        "names": names_for(member, [flag.candidate for flag in listed.page.rows]),
        "flag_counts": [
            {"kind": kind.value, "name": kind.label, "count": listed.counts[kind.value]}
            for kind in Flag.Kind
        ],
        "flags_total": listed.total,
        "kind": kind if kind in Flag.Kind.values else "",
        "previous_url": listed.page.previous,
        "next_url": listed.page.next,
    }


def _pace(request: PageRequest) -> int:
    """Return the days of `?pace=`, over which the pace is measured."""
    asked = request.GET.get("pace", "")
    return next((days for days in paces.PACES if str(days) == asked), paces.PACES[0])
