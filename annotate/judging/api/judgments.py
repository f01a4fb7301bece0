"""The requesting user's judgments and flags of one pair's documents, and their withdrawal."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.judging.actions import record_sent, withdraw
from annotate.judging.forms import SentFlag, SentJudgment, SpanSerializer
from annotate.judging.judging_session import spot_number
from annotate.judgments.models import Flag, Judgment, Statement
from annotate.judgments.repeats import Spot
from annotate.pairs import access
from base.api.resource import Resource, Scope, reads, writes


class StatementSerializer(serializers.ModelSerializer[Any]):
    """The requesting user's judgment or flag, which may be the answer to a repeat."""

    narrative = serializers.IntegerField(source="narrative_id", read_only=True)
    candidate = serializers.SerializerMethodField(
        help_text="The number that `judging_session` gives the document."
    )

    class Meta:
        fields: tuple[str, ...] = (
            "uuid",
            "narrative",
            "candidate",
            "text_version",
            "made_at",
            "at",
        )

    def get_candidate(self, row: Statement) -> int:
        """Return the number of the document for its annotator."""
        return spot_number(Spot(row.candidate_id, row.repeat), row.annotator)


class JudgmentSerializer(StatementSerializer):
    """The requesting user's judgment."""

    relevance = serializers.IntegerField(read_only=True)
    evidence = SpanSerializer(many=True, read_only=True)
    clauses = SpanSerializer(many=True, read_only=True)
    verdicts = serializers.DictField(
        child=serializers.CharField(), source="answers", read_only=True
    )

    class Meta(StatementSerializer.Meta):
        model = Judgment
        fields = (*StatementSerializer.Meta.fields, *Judgment.CONTENT)
        read_only_fields = fields


class Judgments(Resource, tag="Judging"):
    """The requesting user's judgments of one pair's documents."""

    @reads(JudgmentSerializer, paged=True)
    def get(self, request: Request, pair: int) -> Response:
        """List your own current judgments of a pair, under whichever version they were made."""
        member, instruction_pair = access.pair(self.person, pair)
        mine = Judgment.objects.not_superseded().filter(
            annotator=member, narrative__pair=instruction_pair
        )
        mine = mine.select_related("annotator__project").prefetch_related("verdicts")
        return self.page(mine)

    @writes(JudgmentSerializer, body=SentJudgment, status=201, scope=Scope.JUDGE)
    def post(self, request: Request, pair: int) -> Statement:
        """Judge a document: 201 with the judgment, also when its UUID was sent before."""
        member, instruction_pair = access.pair(self.person, pair)
        return record_sent(self.body(), pair=instruction_pair, by=member).row


class OwnStatement(Resource, tag="Judging"):
    """The requesting user's statement about one document."""

    @writes(None, status=204, scope=Scope.JUDGE)
    def delete(self, request: Request, pair: int, uuid: UUID) -> None:
        """Withdraw your judgment or flag; the one it had replaced becomes current again.
        Idempotent.
        """
        member, instruction_pair = access.pair(self.person, pair)
        withdraw(uuid=uuid, pair=instruction_pair, by=member)


class OneJudgment(OwnStatement):
    """One judgment of the requesting user."""


class FlagSerializer(StatementSerializer):
    """The requesting user's flag."""

    kind = serializers.ChoiceField(choices=Flag.Kind.choices, source="flag", read_only=True)
    words = serializers.CharField(source="note", read_only=True)

    class Meta(StatementSerializer.Meta):
        model = Flag
        fields = (*StatementSerializer.Meta.fields, "kind", "words")
        read_only_fields = fields


class Flags(Resource, tag="Judging"):
    """The requesting user's flags on one pair's documents."""

    @reads(FlagSerializer, paged=True)
    def get(self, request: Request, pair: int) -> Response:
        """List your own current flags of a pair, under whichever version they were made."""
        member, instruction_pair = access.pair(self.person, pair)
        mine = Flag.objects.filter(
            annotator=member, narrative__pair=instruction_pair, ended_at=None
        )
        return self.page(mine.select_related("annotator__project"))

    @writes(FlagSerializer, body=SentFlag, status=201, scope=Scope.JUDGE)
    def post(self, request: Request, pair: int) -> Statement:
        """Put a flag on a document: 201 with the flag, also when its UUID was sent before."""
        member, instruction_pair = access.pair(self.person, pair)
        return record_sent(self.body(), pair=instruction_pair, by=member).row


class OneFlag(OwnStatement):
    """One flag of the requesting user."""
