"""The dashboard in the API: progress, pace, flags and the matrix."""

from __future__ import annotations

import datetime
from typing import Any

from django.core.exceptions import PermissionDenied
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.utils.urls import replace_query_param

from annotate.judgments import completion
from annotate.judgments.document_names import names_for
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
from annotate.overview.finish_date import Estimate, Unknown, estimate
from annotate.overview.forms import MatrixForm
from annotate.overview.matrix import matrix
from annotate.overview.matrix_cells import Key, Row
from annotate.overview.progress import task_progress
from annotate.overview.time_estimate import time_estimate
from annotate.projects import access
from annotate.projects.models import Membership
from base import reader_preferences as personal
from base.api.resource import Resource, form_errors, reads


class Progress(Resource, tag="Progress"):
    """Progress of a project."""

    @reads(ProgressSerializer)
    def get(self, request: Request, slug: str) -> dict[str, Any]:
        """Read the progress of a project."""
        member = access.member(self.person, slug)
        judgments = completion.judging(member.project)
        return {
            "answered": judgments.answered,
            "wanted": judgments.wanted,
            "tasks": task_progress(member, judgments),
        }


class Pace(Resource, tag="Progress"):
    """Pace of a project."""

    @reads(PaceSerializer, parameters=AskedPace)
    def get(self, request: Request, slug: str) -> dict[str, Any]:
        """Read what was judged day by day, what is left, and when it will be done."""
        member = access.lead(self.person, slug)
        pace = self.parameters()["days"]
        calendar = _calendar()
        judging = completion.judging(member.project)
        work = paces.workload(member, judging)
        people = paces.people_pace(member, calendar)
        days, _effort = paces.together(people, calendar)
        far = task_progress(member, judging)
        assignments = [(task.task, task.name, task.done, task.total) for task in far]
        tasks = paces.tasks_pace(member.project, assignments, calendar, pace)
        lately = paces.last_days(days, pace)
        return {
            "zone": calendar.zone,
            "wanted": work.wanted,
            "answered": work.answered,
            "flagged": work.flagged,
            "left": work.left,
            "time_estimate": time_estimate(member, judging),
            "outlook": _outlook(estimate(work.left, lately, days[-1].on, asked=work.wanted > 0)),
            "tasks": [{**vars(task), "outlook": _outlook(task.outlook)} for task in tasks],
            "people": [_person(person, pace) for person in people],
            "days": days,
        }


class MemberPace(Resource, tag="Progress"):
    """Pace of one person."""

    @reads(OnePersonPaceSerializer, parameters=AskedPace)
    def get(self, request: Request, slug: str, member: int) -> dict[str, Any]:
        """Read what one person has done; leads may read everybody's, others their own."""
        reader = access.member(self.person, slug)
        membership = access.member_of_project(reader, member)
        if membership.pk != reader.pk and not reader.leads:
            raise PermissionDenied("This is another person's pace. You can read only your own.")
        pace = self.parameters()["days"]
        calendar = _calendar()
        done = next(iter(paces.people_pace(reader, calendar, of=membership)), None)
        done = done or paces.PersonPace(membership, calendar.days())
        return _person(done, pace)


class ProjectFlags(Resource, tag="Progress"):
    """The flags of a project."""

    @reads(FlaggedSerializer, parameters=AskedFlags, paged=True)
    def get(self, request: Request, slug: str) -> Response:
        """List the flags with their words."""
        member = access.lead(self.person, slug)
        asked = self.parameters()
        flags = visible_flags(member)
        if "kind" in asked:
            flags = flags.filter(flag=asked["kind"])
        if "member" in asked:
            flags = flags.filter(annotator=asked["member"])
        rows = flags.select_related("annotator", "candidate__document", "narrative__pair")
        return self.page(
            rows.defer("narrative__text"), prepare=lambda part: _named_flags(member, part)
        )


class MatrixPart(Resource, tag="Progress"):
    """Each person's answer to each document."""

    @reads(MatrixSerializer, parameters=AskedMatrix)
    def get(self, request: Request, slug: str) -> dict[str, Any]:
        """Read a part of the matrix of documents and people."""
        member = access.lead(self.person, slug)
        self.parameters()
        form = MatrixForm(member, request.query_params)
        if not form.is_valid():
            raise form_errors(form, "?")
        table = matrix(member, form.people, form.asked())
        return {
            "next": _page_url(request, "after", table.after),
            "previous": _page_url(request, "before", table.before),
            "people": table.people,
            "results": [_row(row, table.people) for row in table.rows],
        }


def _calendar() -> paces.Calendar:
    """Return the calendar in the reader's time zone."""
    return paces.Calendar.of(personal.zone_of_reader() or datetime.UTC)


def _outlook(outlook: Estimate | Unknown) -> dict[str, Any]:
    if isinstance(outlook, Unknown):
        return {"estimate": None, "unknown": outlook.value}
    return {"estimate": outlook, "unknown": None}


def _person(person: paces.PersonPace, days: int) -> dict[str, Any]:
    return {**vars(person), "lately": person.lately(days), "last_on": person.last_on}


def _row(row: Row, people: list[Membership]) -> dict[str, Any]:
    cells = zip(people, row.cells, strict=True)
    return {
        **vars(row),
        "cells": [{"member": member.pk, **cell._asdict()} for member, cell in cells],
    }


def _named_flags(member: Membership, flags: list[Flag]) -> list[dict[str, Any]]:
    names = names_for(member, [flag.candidate for flag in flags])
    return [{"flag": flag, "document": names[flag.candidate_id]} for flag in flags]


def _page_url(request: Request, name: str, key: Key | None) -> str | None:
    """Return the address of the part before or after this one."""
    if key is None:
        return None
    url = request.build_absolute_uri(request.path)
    for kept in ("query", "person", "category", "state", "grades"):
        if value := request.query_params.get(kept):
            url = replace_query_param(url, kept, value)
    return str(replace_query_param(url, name, str(key)))
