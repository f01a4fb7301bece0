"""The dashboard in the API: progress, steps, pace, flags and the matrix."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.core.exceptions import PermissionDenied
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.utils.urls import replace_query_param

from annotate.judgments import completion
from annotate.judgments.document_names import names_for
from annotate.judgments.models import Flag
from annotate.overview import pace as paces
from annotate.overview import steps
from annotate.overview.api.collection import ANSWERED
from annotate.overview.finish_date import Estimate, Unknown
from annotate.overview.flags import FlagFilterForm, find_flags
from annotate.overview.forms import MatrixForm
from annotate.overview.matrix import CellState, Key, Row, matrix
from annotate.overview.pace import TimeEstimate, time_estimate
from annotate.overview.progress import TaskProgress, task_progress
from annotate.projects import access
from annotate.projects.models import Membership
from base.api.records import RecordSerializer, serializer_of
from base.api.resource import (
    FormParameters,
    KeyField,
    QueryParameters,
    Resource,
    form_errors,
    reads,
)


class ProgressSerializer(serializers.Serializer[Any]):
    """Progress of a project."""

    answered = serializers.IntegerField(help_text=ANSWERED)
    wanted = serializers.IntegerField(help_text="How many answers are wanted.")
    tasks = serializer_of(TaskProgress)(many=True)


class OutlookSerializer(serializers.Serializer[Any]):
    """An estimate, or why there is none."""

    estimate = serializer_of(Estimate)(allow_null=True)
    unknown = serializers.ChoiceField(choices=[reason.value for reason in Unknown], allow_null=True)


class PersonPaceSerializer(RecordSerializer):
    """What one person has done."""

    member = serializers.IntegerField(source="member.pk")
    name = serializers.CharField(source="member.name")
    answered = serializers.IntegerField(help_text=ANSWERED)

    class Meta:
        record = paces.PersonPace
        fields = (
            *("member", "name", "answered", "lately", "flags", "reviewed", "checked", "last_on"),
            "effort",
        )


class OnePersonPaceSerializer(PersonPaceSerializer):
    """What one person has done, day by day."""

    days = serializer_of(paces.Day)(many=True)


class TaskPaceSerializer(RecordSerializer):
    """Pace of one task, in assignments."""

    outlook = OutlookSerializer()

    class Meta:
        record = paces.TaskPace
        fields = ("task", "done", "total", "lately", "outlook")


class PaceSerializer(serializers.Serializer[Any]):
    """Pace of a project."""

    zone = serializers.CharField(help_text="The time zone of the days: yours if chosen, else UTC.")
    wanted = serializers.IntegerField()
    answered = serializers.IntegerField(help_text=ANSWERED)
    flagged = serializers.IntegerField(
        help_text="How many answers are final flags; on pairs that you still judge, only yours."
    )
    left = serializers.IntegerField()
    time_estimate = serializer_of(TimeEstimate)(
        allow_null=True, help_text="null if nothing is left to judge."
    )
    outlook = OutlookSerializer()
    tasks = TaskPaceSerializer(many=True)
    people = PersonPaceSerializer(many=True)
    days = serializer_of(paces.Day)(many=True)


class AskedPace(QueryParameters):
    """The days over which the pace is measured."""

    days = serializers.ChoiceField(
        choices=list(paces.PACES),
        default=paces.PACES[0],
        help_text="How many of the last days, today included.",
    )


class FlaggedSerializer(serializers.Serializer[Any]):
    """A document that somebody flagged."""

    pair = serializers.IntegerField(source="flag.narrative.pair_id")
    pair_id = serializers.CharField(source="flag.narrative.pair.pair_id")
    narrative = serializers.IntegerField(source="flag.narrative_id")
    candidate = serializers.IntegerField(source="flag.candidate_id")
    doc_id = serializers.CharField(
        source="document.doc_id",
        allow_null=True,
        help_text="null while you have the document to judge under another pair.",
    )
    member = serializers.IntegerField(source="flag.annotator_id")
    name = serializers.CharField(source="flag.annotator.name")
    kind = serializers.ChoiceField(choices=Flag.Kind.choices, source="flag.flag")
    words = serializers.CharField(source="flag.note")
    at = serializers.DateTimeField(source="flag.at")
    waits = serializers.BooleanField(
        source="flag.waits", help_text="Whether whoever flagged it was asked to look again."
    )


class AskedMatrix(FormParameters):
    """Filter of the rows."""

    person = KeyField(required=False, help_text="The key of a member.")
    grades = serializers.RegexField(
        r"^-?[0-9]{1,4}~-?[0-9]{1,4}$", required=False, help_text="Two people's grades: 0~2."
    )
    after = serializers.RegexField(
        r"^[0-9]{1,18}~[0-9]{1,18}$", required=False, help_text="From `next` of another page."
    )
    before = serializers.RegexField(
        r"^[0-9]{1,18}~[0-9]{1,18}$", required=False, help_text="From `previous`."
    )

    class Meta:
        form = MatrixForm


class CellSerializer(serializers.Serializer[Any]):
    """State of one person's answer to one document."""

    member = serializers.IntegerField()
    state = serializers.ChoiceField(choices=[state.value for state in CellState])
    relevance = serializers.IntegerField(allow_null=True)
    kind = serializers.CharField(help_text="The kind of a flag.")


class MatrixRowSerializer(serializers.Serializer[Any]):
    """A document under one current narrative, with a cell for each person."""

    pair = serializers.IntegerField(source="narrative.pair_id")
    pair_id = serializers.CharField(source="narrative.pair.pair_id")
    narrative = serializers.IntegerField(source="narrative.pk")
    candidate = serializers.IntegerField(source="candidate.pk")
    doc_id = serializers.CharField(
        source="name.doc_id",
        allow_null=True,
        help_text="null while you have the document to judge.",
    )
    state = serializers.CharField(
        source="outcome.state",
        allow_null=True,
        help_text="The outcome; null: hidden until you have judged it.",
    )
    relevance = serializers.IntegerField(source="outcome.relevance", allow_null=True)
    cells = CellSerializer(many=True)


class ColumnSerializer(serializers.Serializer[Any]):
    """A person who has a column."""

    member = serializers.IntegerField(source="pk")
    name = serializers.CharField()


class MatrixSerializer(serializers.Serializer[Any]):
    """A part of the matrix of documents and people."""

    next = serializers.URLField(allow_null=True)
    previous = serializers.URLField(allow_null=True)
    people = ColumnSerializer(many=True)
    results = MatrixRowSerializer(many=True)


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
        judging = completion.judging(member.project)
        shown = paces.project_pace(member, judging, pace)
        return {
            **{name: getattr(judging, name) for name in ("wanted", "answered", "left")},
            "flagged": shown.flagged,
            "zone": shown.calendar.zone,
            "time_estimate": time_estimate(member, judging),
            "outlook": _outlook(shown.outlook),
            "tasks": [{**vars(task), "outlook": _outlook(task.outlook)} for task in shown.tasks],
            "people": shown.people,
            "days": shown.days,
        }


class MemberPace(Resource, tag="Progress"):
    """Pace of one person."""

    @reads(OnePersonPaceSerializer, parameters=AskedPace)
    def get(self, request: Request, slug: str, member: int) -> paces.PersonPace:
        """Read what one person has done; leads may read everybody's, others their own."""
        reader = access.member(self.person, slug)
        membership = access.member_of_project(reader, member)
        if membership.pk != reader.pk and not reader.leads:
            raise PermissionDenied("This is another person's pace. You can read only your own.")
        days = self.parameters()["days"]
        return paces.person_pace(reader, membership, paces.Calendar.of_reader(), days)


class ProjectFlags(Resource, tag="Progress"):
    """The flags of a project."""

    @reads(FlaggedSerializer, parameters=FlagFilterForm, paged=True)
    def get(self, request: Request, slug: str) -> Response:
        """List the flags with their words."""
        member = access.lead(self.person, slug)
        flags = find_flags(member, **self.parameters())
        return self.page(flags, prepare=lambda part: _named_flags(member, part))


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


def _outlook(outlook: Estimate | Unknown) -> dict[str, Any]:
    if isinstance(outlook, Unknown):
        return {"estimate": None, "unknown": outlook.value}
    return {"estimate": outlook, "unknown": None}


def _row(row: Row, people: list[Membership]) -> dict[str, Any]:
    cells = zip(people, row.cells, strict=True)
    return {
        **vars(row),
        "cells": [{"member": member.pk, **cell._asdict()} for member, cell in cells],
    }


def _named_flags(member: Membership, flags: Sequence[Flag]) -> list[dict[str, Any]]:
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


class StepsSerializer(serializers.Serializer[Any]):
    """The steps of a project, in the order of its kind."""

    kind = serializers.CharField()
    next = serializers.CharField(allow_null=True, help_text="The first that is to be done now.")
    steps = serializer_of(steps.Step)(many=True)


class Steps(Resource, tag="Progress"):
    """The steps of a project."""

    @reads(StepsSerializer)
    def get(self, request: Request, slug: str) -> dict[str, Any]:
        """Read the state of each step, and which is next."""
        member = access.lead(self.person, slug)
        all_steps = steps.steps_of(member)
        following = steps.next_step(all_steps)
        return {
            "kind": member.project.kind,
            "next": following.key.value if following else None,
            "steps": all_steps,
        }
