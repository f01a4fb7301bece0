"""A judge's session on a narrative: the documents in order, the answers so far, and undo;
the judge's own judgments and flags, and their withdrawal.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.collection.models import Document
from annotate.judging.actions import narrative_for, record_sent, undo, withdraw
from annotate.judging.document_view import (
    DocumentView,
    Rank,
    ShownRejudgeRequest,
    document_views,
)
from annotate.judging.forms import SentFlag, SentJudgment, SpanSerializer
from annotate.judging.judging_session import read_judging_session, spot_number
from annotate.judgments.api import NamedSerializer
from annotate.judgments.models import Flag, Judgment, Statement
from annotate.judgments.repeats import Spot
from annotate.pairs import access
from base.api.records import serializer_of
from base.api.resource import QueryParameters, Resource, Scope, reads, writes
from base.pagination import parse_key

# The most documents with their texts that are sent at once.
MAX_DOCUMENTS = 20


class JudgingSessionSerializer(serializers.Serializer[Any]):
    """Your progress through the pool of a pair."""

    narrative = serializers.IntegerField(help_text="The version to judge under now.")
    order = serializers.ListField(
        child=serializers.IntegerField(),
        help_text="The documents in your order, by their numbers.",
    )
    next = serializers.IntegerField(
        allow_null=True, help_text="The document to judge next; null: nothing is left."
    )
    total = serializers.IntegerField()
    settled = serializers.IntegerField(help_text="How many of them need no further answer.")
    judged = serializers.DictField(
        child=serializers.IntegerField(), help_text="Your grades, by the document's number."
    )
    flagged = serializers.DictField(
        child=serializers.ChoiceField(choices=Flag.Kind.choices),
        help_text="Your flags, by the document's number.",
    )
    again = serializers.ListField(
        child=serializers.IntegerField(), help_text="What a lead asks you to judge again."
    )


class DocumentViewSerializer(NamedSerializer):
    """A document as it is shown to you."""

    number = serializers.IntegerField(help_text="How to name the document in what you send.")
    position = serializers.IntegerField(help_text="Its position in your order, from 1.")
    markup = serializers.ChoiceField(choices=Document.Markup.choices, source="document.markup")
    text_version = serializers.IntegerField(
        help_text="The version of its text, from 1; 0 for none. Send it with your answer."
    )
    text = serializers.CharField(allow_null=True)
    prior_relevance = serializers.IntegerField(
        source="prior", allow_null=True, help_text="Also null if the project hides it."
    )
    ranks = serializer_of(Rank)(many=True)
    evidence_for = serializers.ListField(
        child=serializers.IntegerField(),
        source="evidence_grades",
        help_text="The grades that need a marked passage.",
    )
    relevance = serializers.IntegerField(
        source="given.relevance", allow_null=True, help_text="Your grade."
    )
    flag = serializers.ChoiceField(choices=Flag.Kind.choices, allow_null=True)
    again = serializer_of(ShownRejudgeRequest)(many=True)


class AskedDocumentViews(QueryParameters):
    """The requested documents."""

    candidates = serializers.RegexField(
        r"^[0-9]{1,18}(,[0-9]{1,18})*$",
        max_length=20 * MAX_DOCUMENTS,
        help_text=f"Their numbers, at most {MAX_DOCUMENTS}, separated by commas.",
    )

    def validate_candidates(self, value: str) -> list[int]:
        """Parse the numbers."""
        numbers = [parse_key(part) for part in value.split(",")]
        if len(numbers) > MAX_DOCUMENTS:
            raise serializers.ValidationError(
                f"At most {MAX_DOCUMENTS} documents are sent at once."
            )
        return [number for number in numbers if number is not None]


class TakenBackSerializer(serializers.Serializer[Any]):
    """The withdrawn judgment or flag."""

    candidate = serializers.IntegerField(help_text="The document's number.")
    uuid = serializers.UUIDField()


class MyJudgingSession(Resource, tag="Judging"):
    """The requesting user's progress through the pool of a pair."""

    @reads(JudgingSessionSerializer)
    def get(self, request: Request, pair: int) -> dict[str, Any]:
        """Read the order of the documents, and which is next. You must hold an assignment on the
        pair.
        """
        member, instruction_pair = access.pair(self.person, pair)
        narrative = narrative_for(member, instruction_pair)
        session = read_judging_session(narrative=narrative, by=member)
        return {
            "narrative": narrative.pk,
            "order": session.order,
            "next": session.next(),
            "total": session.total,
            "settled": session.settled,
            "judged": session.judged,
            "flagged": session.flagged,
            "again": sorted(session.again),
        }


class DocumentViews(Resource, tag="Judging"):
    """Documents as they are shown to the requesting user."""

    @reads(DocumentViewSerializer, parameters=AskedDocumentViews, many=True)
    def get(self, request: Request, pair: int) -> list[DocumentView]:
        """Read some of the documents of your pool, with their texts. You must hold an assignment
        on the pair.
        """
        member, instruction_pair = access.pair(self.person, pair)
        numbers = self.parameters()["candidates"]
        narrative = narrative_for(member, instruction_pair)
        return document_views(
            pair=instruction_pair,
            narrative=narrative,
            member=member,
            order=read_judging_session(narrative=narrative, by=member).order,
            numbers=numbers,
            grades=list(instruction_pair.project.grades.order_by("value")),
        )


class Undo(Resource, tag="Judging"):
    """The withdrawal of the latest judgment or flag."""

    @writes(TakenBackSerializer, scope=Scope.JUDGE)
    def post(self, request: Request, pair: int) -> dict[str, Any]:
        """Withdraw your latest judgment or flag under the current narrative. Each further call
        withdraws the one before.
        """
        member, instruction_pair = access.pair(self.person, pair)
        row = undo(narrative=narrative_for(member, instruction_pair), by=member)
        spot = Spot(row.candidate_id, row.repeat)
        return {"candidate": spot_number(spot, member), "uuid": row.uuid}


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
