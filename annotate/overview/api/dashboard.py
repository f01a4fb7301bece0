"""The dashboard in the API: progress, pace, flags and the matrix."""

from __future__ import annotations

import datetime
from typing import Any

from django.core.exceptions import PermissionDenied
from django.utils.translation import gettext as _
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.utils.urls import replace_query_param

from annotate.judgments import completion
from annotate.judgments.flags import visible_flags
from annotate.judgments.models import Flag
from annotate.overview import pace as paces
from annotate.overview.api.dashboard_shapes import (
    AskedFlags,
    AskedMatrix,
    AskedPace,
    FlaggedSerializer,
    MatrixSerializer,
    OnePersonPaceSerializer,
    PaceSerializer,
    ProgressSerializer,
)
from annotate.overview.forms import MatrixForm
from annotate.overview.matrix import matrix
from annotate.overview.matrix_cells import Cell, Key, Row
from annotate.overview.outlook import Estimate, Unknown, estimate
from annotate.overview.progress import task_progress
from annotate.overview.time_estimate import time_estimate
from annotate.projects import access
from annotate.projects.models import Membership
from base import reader_preferences as personal
from base.api.resource import Resource, form_errors, reads


class Progress(Resource):
    """Progress of a project."""

    tag = "Progress"

    @reads(ProgressSerializer)
    def get(self, request: Request, slug: str) -> Response:
        """Read the progress of a project."""
        member = access.member(self.person, slug)
        judgments = completion.judging(member.project)
        return Response(
            {
                "answered": judgments.answered,
                "wanted": judgments.wanted,
                "tasks": [
                    {"task": one.task, "done": one.done, "total": one.total, "free": one.free}
                    for one in task_progress(member, judgments)
                ],
            }
        )


class Pace(Resource):
    """Pace of a project."""

    tag = "Progress"

    @reads(PaceSerializer, parameters=AskedPace)
    def get(self, request: Request, slug: str) -> Response:
        """Read what was judged day by day, what is left, and when it will be done."""
        member = access.lead(self.person, slug)
        pace = self.parameters()["days"]
        calendar = _calendar()
        judging = completion.judging(member.project)
        work = paces.workload(member, judging)
        people = paces.people_pace(member, calendar)
        days, _effort = paces.together(people, calendar)
        far = task_progress(member, judging)
        assignments = [(one.task, one.name, one.done, one.total) for one in far]
        tasks = paces.tasks_pace(member.project, assignments, calendar, pace)
        lately = paces.last_days(days, pace)
        time = time_estimate(member, judging)
        return Response(
            {
                "zone": str(calendar.zone),
                "wanted": work.wanted,
                "answered": work.answered,
                "flagged": work.flagged,
                "left": work.left,
                "time_estimate": time and {**time._asdict(), "seconds": time.seconds},
                "outlook": _outlook(
                    estimate(work.left, lately, days[-1].on, asked=work.wanted > 0)
                ),
                "tasks": [
                    {
                        "task": one.task,
                        "done": one.done,
                        "total": one.total,
                        "lately": one.lately,
                        "outlook": _outlook(one.outlook),
                    }
                    for one in tasks
                ],
                "people": [_person(one, pace) for one in people],
                "days": [_day(day) for day in days],
            }
        )


class MemberPace(Resource):
    """Pace of one person."""

    tag = "Progress"

    @reads(OnePersonPaceSerializer, parameters=AskedPace)
    def get(self, request: Request, slug: str, member: int) -> Response:
        """Read what one person has done; leads may read everybody's, others their own."""
        reader = access.member(self.person, slug)
        found = access.member_of_project(reader, member)
        if found.pk != reader.pk and not reader.leads:
            raise PermissionDenied(_("This is another person's pace. You can read only your own."))
        pace = self.parameters()["days"]
        calendar = _calendar()
        done = next(iter(paces.people_pace(reader, calendar, of=found)), None)
        done = done or paces.PersonPace(found, calendar.days())
        return Response({**_person(done, pace), "days": [_day(day) for day in done.days]})


class ProjectFlags(Resource):
    """The flags of a project."""

    tag = "Progress"

    @reads(FlaggedSerializer, parameters=AskedFlags, paged=True)
    def get(self, request: Request, slug: str) -> Response:
        """List the flags with their words."""
        member = access.lead(self.person, slug)
        asked = self.parameters()
        flags = visible_flags(member)
        if "kind" in asked:
            flags = flags.filter(kind=asked["kind"])
        if "member" in asked:
            flags = flags.filter(annotator=asked["member"])
        rows = flags.select_related("annotator", "candidate__document", "narrative__pair")
        return self.page(rows.defer("narrative__text"), lambda part: [_flag(row) for row in part])


class MatrixPart(Resource):
    """Each person's answer to each document."""

    tag = "Progress"

    @reads(MatrixSerializer, parameters=AskedMatrix)
    def get(self, request: Request, slug: str) -> Response:
        """Read a part of the matrix of documents and people."""
        member = access.lead(self.person, slug)
        self.parameters()
        form = MatrixForm(member, request.query_params)
        if not form.is_valid():
            raise form_errors(form, "?")
        found = matrix(member, form.people, form.asked())
        return Response(
            {
                "next": _page_url(request, "after", found.after),
                "previous": _page_url(request, "before", found.before),
                "people": [{"member": one.pk, "name": one.name} for one in found.people],
                "results": [_row(row, found.people) for row in found.rows],
            }
        )


def _calendar() -> paces.Calendar:
    """Return the calendar in the reader's time zone."""
    return paces.Calendar.of(personal.zone_of_reader() or datetime.UTC)


def _outlook(found: Estimate | Unknown) -> dict[str, Any]:
    if isinstance(found, Unknown):
        return {"estimate": None, "unknown": found.value}
    return {"estimate": found._asdict(), "unknown": None}


def _person(one: paces.PersonPace, days: int) -> dict[str, Any]:
    return {
        "member": one.member.pk,
        "name": one.member.name,
        "answered": one.answered,
        "lately": one.lately(days),
        "flags": one.flags,
        "last_on": one.last_on,
        "effort": {"seconds": one.effort.seconds, "judgments": one.effort.judgments},
    }


def _day(day: paces.Day) -> dict[str, Any]:
    return {"on": day.on, "counting": day.counting, "other": day.other}


def _flag(row: Flag) -> dict[str, Any]:
    return {
        "pair": row.narrative.pair_id,
        "pair_id": row.narrative.pair.pair_id,
        "narrative": row.narrative_id,
        "candidate": row.candidate_id,
        "doc_id": row.candidate.document.doc_id,
        "member": row.annotator_id,
        "name": row.annotator.name,
        "kind": row.kind,
        "words": row.words,
        "at": row.at,
    }


def _row(row: Row, people: list[Membership]) -> dict[str, Any]:
    return {
        "pair": row.narrative.pair_id,
        "pair_id": row.narrative.pair.pair_id,
        "narrative": row.narrative.pk,
        "candidate": row.candidate.pk,
        "doc_id": row.candidate.document.doc_id,
        "state": row.outcome.state.value if row.outcome else None,
        "relevance": row.outcome.relevance if row.outcome else None,
        "cells": [_cell(one, cell) for one, cell in zip(people, row.cells, strict=True)],
    }


def _cell(one: Membership, cell: Cell) -> dict[str, Any]:
    return {
        "member": one.pk,
        "state": cell.state.value,
        "relevance": cell.relevance,
        "kind": cell.kind,
    }


def _page_url(request: Request, name: str, key: Key | None) -> str | None:
    """Return the address of the part before or after this one."""
    if key is None:
        return None
    url = request.build_absolute_uri(request.path)
    for kept in ("query", "person", "category", "state", "grades"):
        if value := request.query_params.get(kept):
            url = replace_query_param(url, kept, value)
    return str(replace_query_param(url, name, str(key)))
