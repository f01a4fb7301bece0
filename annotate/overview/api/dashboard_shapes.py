"""Progress, pace, flags and the matrix as the API shows them."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from annotate.judgments.models import Flag
from annotate.overview import pace as paces
from annotate.overview.api.collection_shapes import ANSWERED
from annotate.overview.finish_date import Estimate, Unknown
from annotate.overview.matrix_cells import CellState, Wanted
from annotate.overview.progress import TaskProgress
from annotate.overview.time_estimate import TimeEstimate
from base.api.records import RecordSerializer, serializer_of
from base.api.resource import KeyField, QueryParameters


class ProgressSerializer(serializers.Serializer[Any]):
    """Progress of a project."""

    answered = serializers.IntegerField(help_text=ANSWERED)
    wanted = serializers.IntegerField(help_text="How many answers are wanted.")
    tasks = serializer_of(TaskProgress)(many=True)


class OutlookSerializer(serializers.Serializer[Any]):
    """An estimate, or why there is none."""

    estimate = serializer_of(Estimate)(allow_null=True)
    unknown = serializers.ChoiceField(choices=[reason.value for reason in Unknown], allow_null=True)


class DaySerializer(RecordSerializer):
    """Answers of one day in the reader's time zone; imported ones if their file says when."""

    class Meta:
        record = paces.Day
        fields = ("on", "counting", "other")


class PersonPaceSerializer(RecordSerializer):
    """What one person has done."""

    member = serializers.IntegerField(source="member.pk")
    name = serializers.CharField(source="member.name")
    answered = serializers.IntegerField(help_text=ANSWERED)
    lately = serializers.IntegerField(help_text="Counted answers of the last days, today included.")

    class Meta:
        record = paces.PersonPace
        fields = ("member", "name", "answered", "lately", "flags", "last_on", "effort")


class OnePersonPaceSerializer(PersonPaceSerializer):
    """What one person has done, day by day."""

    days = DaySerializer(many=True)


class TaskPaceSerializer(RecordSerializer):
    """Pace of one task, in assignments."""

    outlook = OutlookSerializer()

    class Meta:
        record = paces.TaskPace
        fields = ("task", "done", "total", "lately", "outlook")


class TimeEstimateSerializer(RecordSerializer):
    """How much time the judgments left will take."""

    class Meta:
        record = TimeEstimate
        fields = ("judgments", "each", "measured", "planned", "seconds")


class PaceSerializer(serializers.Serializer[Any]):
    """Pace of a project."""

    zone = serializers.CharField(help_text="The time zone of the days: yours if chosen, else UTC.")
    wanted = serializers.IntegerField()
    answered = serializers.IntegerField(help_text=ANSWERED)
    flagged = serializers.IntegerField(
        help_text="How many answers are final flags; on pairs that you still judge, only yours."
    )
    left = serializers.IntegerField()
    time_estimate = TimeEstimateSerializer(
        allow_null=True, help_text="null if nothing is left to judge."
    )
    outlook = OutlookSerializer()
    tasks = TaskPaceSerializer(many=True)
    people = PersonPaceSerializer(many=True)
    days = DaySerializer(many=True)


class AskedPace(QueryParameters):
    """The days over which the pace is measured."""

    days = serializers.ChoiceField(
        choices=list(paces.PACES),
        default=paces.PACES[0],
        help_text="How many of the last days, today included.",
    )


class AskedFlags(QueryParameters):
    """Filter of the flags."""

    kind = serializers.ChoiceField(choices=Flag.Kind.choices, required=False)
    member = KeyField(required=False, help_text="Only flags of this member.")


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


class AskedMatrix(QueryParameters):
    """Filter of the rows."""

    query = serializers.CharField(required=False, max_length=255, help_text="The query's id.")
    person = KeyField(required=False, help_text="The key of a member.")
    category = serializers.CharField(required=False, max_length=60, help_text="-: none named.")
    state = serializers.ChoiceField(choices=[state.value for state in Wanted], required=False)
    grades = serializers.RegexField(
        r"^-?[0-9]{1,4}~-?[0-9]{1,4}$", required=False, help_text="Two people's grades: 0~2."
    )
    after = serializers.RegexField(
        r"^[0-9]{1,18}~[0-9]{1,18}$", required=False, help_text="From `next` of another page."
    )
    before = serializers.RegexField(
        r"^[0-9]{1,18}~[0-9]{1,18}$", required=False, help_text="From `previous`."
    )


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
    doc_id = serializers.CharField(source="candidate.document.doc_id")
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
