"""The requesting user's judgments and flags of one pair's documents, and their withdrawal."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

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
from base.api.resource import KeyField, RequestBody, Resource, Scope, reads, writes
from formats.fields import time_problem

# The largest offset in a text.
MAX_OFFSET = 2**31 - 1


def _check_time(moment: datetime) -> None:
    """Refuse a time before 1970 or in the future."""
    if time_problem(moment):
        raise serializers.ValidationError("The time is before 1970 or in the future.")


class SpanSerializer(RequestBody):
    """A span of a text in Unicode code points; `end` is exclusive."""

    start = serializers.IntegerField(min_value=0, max_value=MAX_OFFSET)
    end = serializers.IntegerField(min_value=1, max_value=MAX_OFFSET)


class SentStatement(RequestBody):
    """A grade or a flag. The sender makes the UUID, so that sending it twice changes nothing."""

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
    made_at = serializers.DateTimeField(
        required=False,
        allow_null=True,
        help_text="When it was given, by the sender's clock.",
        validators=[_check_time],
    )


class SentJudgment(SentStatement):
    """A grade."""

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

    def validate_verdicts(self, verdicts: dict[str, str]) -> dict[int, str]:
        """Parse the keys of the conditions."""
        if not all(key.isascii() and key.isdecimal() and len(key) < 19 for key in verdicts):
            raise serializers.ValidationError("The keys must be keys of conditions.")
        return {int(key): answer for key, answer in verdicts.items()}


class StatementSerializer(serializers.Serializer[Any]):
    """The requesting user's judgment or flag, which may be the answer to a repeat."""

    uuid = serializers.UUIDField()
    narrative = serializers.IntegerField(source="narrative_id")
    candidate = serializers.SerializerMethodField(
        help_text="The number that `judging_session` gives the document."
    )
    text_version = serializers.IntegerField(
        allow_null=True, help_text="The version of the document's text that was read."
    )
    made_at = serializers.DateTimeField(allow_null=True)
    at = serializers.DateTimeField()

    def get_candidate(self, row: Judgment | Flag | Repeat) -> int:
        """Return the number of the document for its annotator."""
        return spot_number(Spot(row.candidate_id, isinstance(row, Repeat)), row.annotator)


class JudgmentSerializer(StatementSerializer):
    """The requesting user's judgment."""

    relevance = serializers.IntegerField()
    note = serializers.CharField()
    evidence = SpanSerializer(many=True)
    clauses = SpanSerializer(many=True)
    verdicts = serializers.DictField(child=serializers.CharField(), source="answers")
    active_ms = serializers.IntegerField(allow_null=True)
    pressed = serializers.CharField()


class Judgments(Resource, tag="Judging"):
    """The requesting user's judgments of one pair's documents."""

    @reads(JudgmentSerializer, paged=True)
    def get(self, request: Request, pair: int) -> Response:
        """List your own current judgments of a pair, under whichever version they were made."""
        member, found = access.pair(self.person, pair)
        mine = Judgment.objects.not_superseded().filter(annotator=member, narrative__pair=found)
        mine = mine.select_related("annotator__project").prefetch_related("verdicts")
        return self.page(mine)

    @writes(JudgmentSerializer, body=SentJudgment, status=201, scope=Scope.JUDGE)
    def post(self, request: Request, pair: int) -> Judgment | Flag | Repeat:
        """Judge a document: 201 with the judgment, also when its UUID was sent before."""
        member, found = access.pair(self.person, pair)
        sent = self.body()
        return record_grade(
            target=_pop_target(found, sent, member),
            relevance=sent.pop("relevance"),
            evidence=[Span(**span) for span in sent.pop("evidence", ())],
            clauses=[Span(**span) for span in sent.pop("clauses", ())],
            by=member,
            **sent,
        ).row


class OwnStatement(Resource, tag="Judging"):
    """The requesting user's statement about one document."""

    @writes(None, status=204, scope=Scope.JUDGE)
    def delete(self, request: Request, pair: int, uuid: UUID) -> None:
        """Withdraw your judgment or flag; the one it had replaced becomes current again.
        Idempotent.
        """
        member, found = access.pair(self.person, pair)
        withdraw(uuid=uuid, pair=found, by=member)


class OneJudgment(OwnStatement):
    """One judgment of the requesting user."""


class SentFlag(SentStatement):
    """A flag instead of a grade."""

    kind = serializers.ChoiceField(choices=Flag.Kind.choices)
    words = serializers.CharField(
        required=False, allow_blank=True, trim_whitespace=False, max_length=MAX_NOTE
    )


class FlagSerializer(StatementSerializer):
    """The requesting user's flag."""

    kind = serializers.ChoiceField(choices=Flag.Kind.choices)
    words = serializers.CharField()


class Flags(Resource, tag="Judging"):
    """The requesting user's flags on one pair's documents."""

    @reads(FlagSerializer, paged=True)
    def get(self, request: Request, pair: int) -> Response:
        """List your own current flags of a pair, under whichever version they were made."""
        member, found = access.pair(self.person, pair)
        mine = Flag.objects.filter(annotator=member, narrative__pair=found, cleared_at=None)
        return self.page(mine.select_related("annotator__project"))

    @writes(FlagSerializer, body=SentFlag, status=201, scope=Scope.JUDGE)
    def post(self, request: Request, pair: int) -> Judgment | Flag | Repeat:
        """Put a flag on a document: 201 with the flag, also when its UUID was sent before."""
        member, found = access.pair(self.person, pair)
        sent = self.body()
        return record_flag(target=_pop_target(found, sent, member), by=member, **sent).row


class OneFlag(OwnStatement):
    """One flag of the requesting user."""


def _pop_target(pair: InstructionPair, sent: dict[str, Any], member: Membership) -> Target:
    """Pop the target's fields from the sent data and return the target."""
    return target_by_number(
        pair, sent.pop("narrative"), sent.pop("candidate"), member, sent.pop("text_version", None)
    )
