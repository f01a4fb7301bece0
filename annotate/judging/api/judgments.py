"""The requesting user's judgments and flags of one pair's documents, and their withdrawal."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.collection.spans import Span
from annotate.collection.text_versions import MAX_TEXT_VERSION
from annotate.judging.actions import record_flag, record_grade
from annotate.judging.answer_rules import MAX_ACTIVE_MS, MAX_NOTE
from annotate.judging.journal_entries import MAX_SENT_SPANS
from annotate.judging.judging_session import spot_number
from annotate.judging.statement import Target, target_by_number
from annotate.judging.withdrawal import withdraw
from annotate.judgments.models import Flag, Judgment, Repeat, Verdict
from annotate.judgments.repeats import Spot
from annotate.pairs import access
from annotate.pairs.models import InstructionPair
from annotate.projects.models import Membership
from base.api.resource import KeyField, RequestBody, Resource, Scope, no_content, reads, writes
from formats.fields import time_problem

# The largest offset in a text.
MAX_OFFSET = 2**31 - 1


def _check_time(moment: datetime) -> None:
    """Refuse a time before 1970 or in the future."""
    if time_problem(moment):
        raise serializers.ValidationError(_("The time is before 1970 or in the future."))


class SpanSerializer(RequestBody):
    """A span of a text in Unicode code points; `end` is exclusive."""

    start = serializers.IntegerField(min_value=0, max_value=MAX_OFFSET)
    end = serializers.IntegerField(min_value=1, max_value=MAX_OFFSET)


class SentJudgment(RequestBody):
    """A grade. The sender makes the UUID, so that sending it twice changes nothing."""

    uuid = serializers.UUIDField()
    narrative = KeyField(help_text="The version that was read.")
    candidate = KeyField(help_text="The document, by the number that `judging_session` gives it.")
    text_version = serializers.IntegerField(
        required=False,
        allow_null=True,
        min_value=0,
        max_value=MAX_TEXT_VERSION,
        help_text="The version of the document's text that was read, 0 for none; the newest if "
        "omitted.",
    )
    relevance = serializers.IntegerField(min_value=-(2**31), max_value=MAX_OFFSET)
    note = serializers.CharField(
        required=False, allow_blank=True, trim_whitespace=False, max_length=MAX_NOTE
    )
    evidence = serializers.ListField(
        child=SpanSerializer(), required=False, max_length=MAX_SENT_SPANS
    )
    clauses = serializers.ListField(
        child=SpanSerializer(), required=False, max_length=MAX_SENT_SPANS
    )
    verdicts = serializers.DictField(
        required=False,
        child=serializers.ChoiceField(choices=Verdict.Answer.choices),
        help_text="Answers by condition key.",
    )
    active_ms = serializers.IntegerField(
        required=False,
        allow_null=True,
        min_value=0,
        max_value=MAX_ACTIVE_MS,
        help_text="Active milliseconds with the document on the screen.",
    )
    pressed = serializers.ChoiceField(
        required=False, allow_blank=True, choices=Judgment.Pressed.choices
    )
    made_at = serializers.DateTimeField(
        required=False,
        allow_null=True,
        help_text="When it was given, by the sender's clock.",
        validators=[_check_time],
    )

    def validate_verdicts(self, verdicts: dict[str, str]) -> dict[int, str]:
        """Parse the keys of the conditions."""
        if not all(key.isascii() and key.isdecimal() and len(key) < 19 for key in verdicts):
            raise serializers.ValidationError(_("The keys must be keys of conditions."))
        return {int(key): answer for key, answer in verdicts.items()}


class JudgmentSerializer(serializers.Serializer[Any]):
    """The requesting user's judgment."""

    uuid = serializers.UUIDField()
    narrative = serializers.IntegerField()
    candidate = serializers.IntegerField(
        help_text="The number that `judging_session` gives the document."
    )
    text_version = serializers.IntegerField(
        allow_null=True, help_text="The version of the document's text that was read."
    )
    relevance = serializers.IntegerField()
    note = serializers.CharField()
    evidence = SpanSerializer(many=True)
    clauses = SpanSerializer(many=True)
    verdicts = serializers.DictField(child=serializers.CharField())
    active_ms = serializers.IntegerField(allow_null=True)
    pressed = serializers.CharField()
    made_at = serializers.DateTimeField(allow_null=True)
    at = serializers.DateTimeField()


class Judgments(Resource):
    """The requesting user's judgments of one pair's documents."""

    tag = "Judging"

    @reads(JudgmentSerializer, paged=True)
    def get(self, request: Request, pair: int) -> Response:
        """List your own current judgments of a pair, under whichever version they were made."""
        member, found = access.pair(self.person, pair)
        mine = Judgment.objects.not_superseded().filter(annotator=member, narrative__pair=found)
        return self.page(
            mine.prefetch_related("verdicts"),
            lambda rows: [_judgment_json(row, member) for row in rows],
        )

    @writes(JudgmentSerializer, body=SentJudgment, status=201, scope=Scope.JUDGE)
    def post(self, request: Request, pair: int) -> Response:
        """Judge a document: 201 with the judgment, also when its UUID was sent before."""
        member, found = access.pair(self.person, pair)
        sent = self.body()
        row = record_grade(
            target=_pop_target(found, sent, member),
            relevance=sent.pop("relevance"),
            evidence=[Span(**span) for span in sent.pop("evidence", ())],
            clauses=[Span(**span) for span in sent.pop("clauses", ())],
            by=member,
            **sent,
        ).row
        assert isinstance(row, (Judgment, Repeat))
        return Response(_judgment_json(row, member), status=201)


class OwnStatement(Resource):
    """The requesting user's statement about one document."""

    tag = "Judging"

    @writes(None, status=204, scope=Scope.JUDGE)
    def delete(self, request: Request, pair: int, uuid: UUID) -> Response:
        """Withdraw your judgment or flag; the one it had replaced becomes current again.
        Idempotent.
        """
        member, found = access.pair(self.person, pair)
        withdraw(uuid=uuid, pair=found, by=member)
        return no_content()


class OneJudgment(OwnStatement):
    """One judgment of the requesting user."""


class SentFlag(RequestBody):
    """A flag instead of a grade. The sender makes the UUID."""

    uuid = serializers.UUIDField()
    narrative = KeyField(help_text="The version that was read.")
    candidate = KeyField(help_text="The document, by the number that `judging_session` gives it.")
    text_version = serializers.IntegerField(
        required=False,
        allow_null=True,
        min_value=0,
        max_value=MAX_TEXT_VERSION,
        help_text="The version of the document's text that was read, 0 for none; the newest if "
        "omitted.",
    )
    kind = serializers.ChoiceField(choices=Flag.Kind.choices)
    words = serializers.CharField(
        required=False, allow_blank=True, trim_whitespace=False, max_length=MAX_NOTE
    )
    made_at = serializers.DateTimeField(
        required=False,
        allow_null=True,
        help_text="When it was given, by the sender's clock.",
        validators=[_check_time],
    )


class FlagSerializer(serializers.Serializer[Any]):
    """The requesting user's flag."""

    uuid = serializers.UUIDField()
    narrative = serializers.IntegerField()
    candidate = serializers.IntegerField(
        help_text="The number that `judging_session` gives the document."
    )
    text_version = serializers.IntegerField(
        allow_null=True, help_text="The version of the document's text that was read."
    )
    kind = serializers.ChoiceField(choices=Flag.Kind.choices)
    words = serializers.CharField()
    made_at = serializers.DateTimeField(allow_null=True)
    at = serializers.DateTimeField()


class Flags(Resource):
    """The requesting user's flags on one pair's documents."""

    tag = "Judging"

    @reads(FlagSerializer, paged=True)
    def get(self, request: Request, pair: int) -> Response:
        """List your own current flags of a pair, under whichever version they were made."""
        member, found = access.pair(self.person, pair)
        mine = Flag.objects.filter(annotator=member, narrative__pair=found, cleared_at=None)
        return self.page(mine, lambda rows: [_flag_json(row, member) for row in rows])

    @writes(FlagSerializer, body=SentFlag, status=201, scope=Scope.JUDGE)
    def post(self, request: Request, pair: int) -> Response:
        """Put a flag on a document: 201 with the flag, also when its UUID was sent before."""
        member, found = access.pair(self.person, pair)
        sent = self.body()
        row = record_flag(
            target=_pop_target(found, sent, member),
            by=member,
            **sent,
        ).row
        assert isinstance(row, (Flag, Repeat))
        return Response(_flag_json(row, member), status=201)


class OneFlag(OwnStatement):
    """One flag of the requesting user."""


def _pop_target(pair: InstructionPair, sent: dict[str, Any], member: Membership) -> Target:
    """Pop the target's fields from the sent data and return the target."""
    return target_by_number(
        pair, sent.pop("narrative"), sent.pop("candidate"), member, sent.pop("text_version", None)
    )


def _judgment_json(row: Judgment | Repeat, member: Membership) -> dict[str, Any]:
    spot = Spot(row.candidate_id, isinstance(row, Repeat))
    return dict(
        JudgmentSerializer(
            {
                "uuid": row.uuid,
                "narrative": row.narrative_id,
                "candidate": spot_number(spot, member),
                "text_version": row.text_version,
                "relevance": row.relevance,
                "note": row.note,
                "evidence": row.evidence,
                "clauses": row.clauses,
                "verdicts": {str(key): answer for key, answer in row.answers().items()},
                "active_ms": row.active_ms,
                "pressed": row.pressed,
                "made_at": row.made_at,
                "at": row.at,
            }
        ).data
    )


def _flag_json(row: Flag | Repeat, member: Membership) -> dict[str, Any]:
    is_repeat = isinstance(row, Repeat)
    return dict(
        FlagSerializer(
            {
                "uuid": row.uuid,
                "narrative": row.narrative_id,
                "candidate": spot_number(Spot(row.candidate_id, is_repeat), member),
                "text_version": row.text_version,
                "kind": row.flag if isinstance(row, Repeat) else row.kind,
                "words": row.note if isinstance(row, Repeat) else row.words,
                "made_at": row.made_at,
                "at": row.at,
            }
        ).data
    )
