"""The queue of disagreements, and each disagreement with its answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from django.http import StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.guidelines import rejudge_requests
from annotate.judging.forms import SpanSerializer
from annotate.judgments.models import Adjudication, Flag, RejudgeRequest, Verdict
from annotate.pairs.api import ConditionSerializer, OfNarrativeSerializer, VersionSerializer
from annotate.projects import access as annotate_access
from annotate.projects.models import Membership
from audit.checks.api.checking import CheckedSerializer
from audit.reviews.api import (
    VERDICT_CHOICES,
    DecisionSerializer,
)
from audit.reviews.passes import SignedPass
from audit.settling import access, kinds
from audit.settling.forms import NAMES_ARE_HIDDEN, QueueFilterForm
from audit.settling.kinds.base import Voice
from audit.settling.models import Reveal
from audit.settling.queue import count_by_kind, read_all, read_page, table_rows
from audit.settling.queue_filters import Kind, QueueFilter, QueuePosition
from base.api.records import serializer_of
from base.api.resource import (
    FormParameters,
    KeyField,
    RequestBody,
    Resource,
    Scope,
    form_errors,
    invalid_cursor,
    page_response,
    page_size,
    reads,
    requested_cursor,
    writes,
)
from base.csv_output import csv_response


class _DecisionSerializer(serializers.Serializer[Any]):
    """A decision on what judges differ about."""

    cause = serializers.ChoiceField(choices=Adjudication.Cause.choices)
    reason = serializers.CharField()
    by = serializers.CharField(source="by.name")
    at = serializers.DateTimeField()
    withdrawn_at = serializers.DateTimeField(allow_null=True)
    text_replaced_at = serializers.DateTimeField(
        allow_null=True, help_text="When the document got another text, which ended the decision."
    )


class SettledSerializer(_DecisionSerializer):
    """A decision on the grade of a document, current or ended."""

    relevance = serializers.IntegerField()
    batch = serializers.UUIDField(allow_null=True)


class ConditionSettledSerializer(_DecisionSerializer):
    """A decision on whether a document meets a condition, current or ended."""

    answer = serializers.ChoiceField(choices=Verdict.Answer.choices)


class DisagreementSerializer(OfNarrativeSerializer):
    """A disagreement, open or settled."""

    key = serializers.CharField()
    kind = serializers.ChoiceField(source="key.kind.value", choices=Kind.values)
    narrative = serializers.IntegerField(source="narrative.pk")
    candidate = serializers.IntegerField(source="candidate.pk", allow_null=True, default=None)
    doc_id = serializers.CharField(
        source="candidate.document.doc_id", allow_null=True, default=None
    )
    condition = serializers.IntegerField(source="condition.pk", allow_null=True, default=None)
    label = serializers.IntegerField(source="sample.pk", allow_null=True, default=None)  # type: ignore[assignment]
    distance = serializers.IntegerField()
    decides = serializers.BooleanField(help_text="Whether settling decides if it counts.")
    since = serializers.DateTimeField(source="position.at")
    answers = serializer_of(Voice)(source="voices", many=True)
    settled = serializers.BooleanField(source="is_settled")
    waiting = serializers.BooleanField(
        help_text="Whether an annotator was asked again and has yet to answer."
    )


class JudgmentHereSerializer(serializers.Serializer[Any]):
    """One person's judgment of a document that people differ on."""

    judgment = serializers.IntegerField(source="row.pk")
    who = serializers.CharField()
    mine = serializers.BooleanField()
    relevance = serializers.IntegerField(source="row.relevance")
    verdicts = serializers.DictField(
        source="row.answers", child=serializers.ChoiceField(choices=Verdict.Answer.choices)
    )
    note = serializers.CharField(source="row.note")
    evidence = SpanSerializer(source="row.evidence", many=True)
    clauses = SpanSerializer(source="row.clauses", many=True)
    at = serializers.DateTimeField(source="row.at")


class FlagHereSerializer(serializers.Serializer[Any]):
    """A current flag on the document."""

    id = serializers.IntegerField(source="flag.pk")
    who = serializers.CharField(allow_null=True)
    kind = serializers.ChoiceField(source="flag.flag", choices=Flag.Kind.choices)
    words = serializers.CharField(source="flag.note")


class MachineSerializer(serializers.Serializer[Any]):
    """A machine's judgment of the document."""

    name = serializers.CharField(source="annotator.name")
    relevance = serializers.IntegerField()


class RevealSerializer(serializers.Serializer[Any]):
    """A record that somebody looked up the names."""

    id = serializers.IntegerField(source="pk")
    narrative = serializers.IntegerField(source="narrative_id")
    candidate = serializers.IntegerField(source="candidate_id", allow_null=True)
    label = serializers.IntegerField(source="item_id", allow_null=True)  # type: ignore[assignment]
    by = serializers.CharField(source="by.name")
    at = serializers.DateTimeField()


class RejudgeRequestSerializer(serializers.Serializer[Any]):
    """A request to somebody to look at their answer again."""

    id = serializers.IntegerField(source="pk")
    answer = serializers.IntegerField(source="statement_id", help_text="A judgment or a flag.")
    words = serializers.CharField()
    by = serializers.CharField(source="by.name")
    at = serializers.DateTimeField()
    waits = serializers.SerializerMethodField(help_text="Whether it is not answered yet.")
    withdrawn_at = serializers.DateTimeField(allow_null=True)

    def get_waits(self, rejudge_request: RejudgeRequest) -> bool:
        """Whether it still waits for an answer."""
        return rejudge_request.withdrawn_at is None and rejudge_request.statement.is_current


class _AboutSerializer(OfNarrativeSerializer):
    """The instruction it belongs to, and whether people differ on it."""

    narrative = VersionSerializer()
    differs = serializers.BooleanField()
    hidden = serializers.BooleanField(
        source="naming.hidden", help_text="Whether names are replaced by pseudonyms."
    )
    reveals = RevealSerializer(source="naming.reveals", many=True)


class JudgmentDisagreementSerializer(_AboutSerializer):
    """The judgments of a document under a narrative version, and the decisions on it."""

    candidate = serializers.IntegerField(source="candidate.pk")
    doc_id = serializers.CharField(source="candidate.document.doc_id")
    answers = JudgmentHereSerializer(many=True)
    machines = MachineSerializer(many=True)
    flags = FlagHereSerializer(many=True)
    decisions = SettledSerializer(many=True, help_text="The newest first; at most one is current.")
    rejudge_requests = RejudgeRequestSerializer(many=True)


class AnsweredSerializer(serializers.Serializer[Any]):
    """One person's answer to a condition."""

    verdict = serializers.IntegerField(source="row.pk")
    judgment = serializers.IntegerField(source="row.statement_id")
    who = serializers.CharField()
    mine = serializers.BooleanField()
    answer = serializers.ChoiceField(source="row.answer", choices=Verdict.Answer.choices)
    note = serializers.CharField(source="row.statement.note")


class VerdictDisagreementSerializer(_AboutSerializer):
    """The verdicts on one condition of a document, and the decisions on it."""

    candidate = serializers.IntegerField(source="candidate.pk")
    doc_id = serializers.CharField(source="candidate.document.doc_id")
    condition = ConditionSerializer()
    answers = AnsweredSerializer(many=True)
    decisions = ConditionSettledSerializer(many=True)
    rejudge_requests = RejudgeRequestSerializer(many=True)


class ReviewDisagreementSerializer(_AboutSerializer):
    """The reviews of a narrative version, and the decisions on it."""

    answers = serializer_of(SignedPass)(source="reviews", many=True)
    machines = serializer_of(SignedPass)(
        source="machine_reviews", many=True, help_text="They never count in the verdict."
    )
    verdict = serializers.ChoiceField(choices=VERDICT_CHOICES)
    decisions = DecisionSerializer(many=True)


class SettlementSerializer(serializers.Serializer[Any]):
    """How a third person settled a claimed label."""

    by = serializers.CharField(source="checker.name")
    relevance = serializers.IntegerField(allow_null=True)
    cannot_judge = serializers.BooleanField()
    verdicts = serializers.DictField(child=serializers.ChoiceField(choices=Verdict.Answer.choices))
    words = serializers.CharField()
    at = serializers.DateTimeField()


class CheckDisagreementSerializer(_AboutSerializer):
    """The two checks of a claimed label, and how a third person settled it."""

    label = serializers.IntegerField(source="item.pk")  # type: ignore[assignment]
    candidate = serializers.IntegerField(source="candidate.pk")
    doc_id = serializers.CharField(source="candidate.document.doc_id")
    claimed = serializers.SerializerMethodField(
        help_text="Null while the person who settles must not see it."
    )
    answers = CheckedSerializer(many=True)
    settled = SettlementSerializer(source="third", allow_null=True)

    def get_claimed(self, disagreement: kinds.CheckDisagreement) -> int | None:
        """Return the claimed relevance, if the reader may see it."""
        return (
            disagreement.item.claimed
            if disagreement.shows_claim(differs=disagreement.differs())
            else None
        )


# --- resources ------------------------------------------------------------------------------------


class AskedDisagreements(FormParameters):
    """The filter and order; without any, all open disagreements."""

    one = KeyField(
        required=False,
        help_text="With `other`, the keys of two members; only if names are shown.",
    )
    other = KeyField(required=False)
    grade_one = serializers.IntegerField(
        required=False, help_text="A grade that somebody gave the document."
    )
    grade_other = serializers.IntegerField(
        required=False, help_text="Another grade that somebody gave it."
    )

    class Meta:
        form = QueueFilterForm


class CountsSerializer(serializers.Serializer[Any]):
    """The number of disagreements of each kind."""

    judgment = serializers.IntegerField()
    verdict = serializers.IntegerField()
    review = serializers.IntegerField()
    check = serializers.IntegerField()


class SentRejudgeRequest(RequestBody):
    """Which answer to look at again, and why."""

    answer = KeyField(help_text="The key of a judgment or of a flag.")
    words = serializers.CharField(max_length=rejudge_requests.MAX_WORDS)


class Disagreements(Resource, tag="Disagreements"):
    """The disagreements of a project: open, waiting or settled."""

    @reads(DisagreementSerializer, parameters=AskedDisagreements, paged=True)
    def get(self, request: Request, slug: str) -> Response:
        """List them, the farthest apart first. Names are pseudonyms until they are revealed."""
        member = annotate_access.lead(self.person, slug)
        filters = queue_filter_from(member, self.parameters())
        after = None
        if cursor := requested_cursor(request):
            try:
                after = QueuePosition.parse(cursor)
            except ValueError as error:
                raise invalid_cursor() from error
        page = read_page(member, filters, after=after, size=page_size(request))
        rows = self.shape(page.items)
        return page_response(request, rows, str(page.after) if page.after else None)


class DisagreementsTable(Resource, tag="Disagreements"):
    """The disagreements of a project as a table."""

    @reads(OpenApiTypes.STR, parameters=AskedDisagreements, media="text/csv")
    def get(self, request: Request, slug: str) -> StreamingHttpResponse:
        """Download the same list as CSV."""
        member = annotate_access.lead(self.person, slug)
        filters = queue_filter_from(member, self.parameters())
        return csv_response(table_rows(read_all(member, filters)))


class DisagreementCounts(Resource, tag="Disagreements"):
    """The numbers of disagreements."""

    @reads(CountsSerializer, parameters=AskedDisagreements)
    def get(self, request: Request, slug: str) -> dict[str, int]:
        """Count them by kind."""
        member = annotate_access.lead(self.person, slug)
        counts = count_by_kind(member, queue_filter_from(member, self.parameters()))
        return {kind.value: count for kind, count in counts.items()}


class Reveals(Resource, tag="Disagreements"):
    """The records of who looked up names."""

    @reads(RevealSerializer, paged=True)
    def get(self, request: Request, slug: str) -> Response:
        """List them, the newest first."""
        member = annotate_access.lead(self.person, slug)
        reveals = Reveal.objects.filter(by__project=member.project_id).select_related("by")
        return self.page(reveals, newest_first=True)


class JudgmentDisagreement(Resource, tag="Disagreements"):
    """A disagreement between judges about the grade of a document."""

    @reads(JudgmentDisagreementSerializer)
    def get(self, request: Request, narrative: int, candidate: int) -> kinds.JudgmentDisagreement:
        """Return each answer and the decisions. 403 for a lead who has yet to judge it."""
        return access.judgment_disagreement(self.person, narrative, candidate)


class _NamesRevealed(Resource, tag="Disagreements"):
    """The record that a lead knows who gave which answer in a disagreement."""

    kind: ClassVar[Kind]

    @writes(RevealSerializer, scope=Scope.LEAD, status=201)
    def post(self, request: Request, **keys: int) -> Reveal:
        """Reveal who gave which answer. It is recorded that you looked."""
        return access.disagreement(self.person, self.kind, **keys).reveal()


class JudgesRevealed(_NamesRevealed):
    """The record that a lead knows who judged a document."""

    kind = Kind.JUDGMENT


class VerdictDisagreement(Resource, tag="Disagreements"):
    """A disagreement between judges about one condition of a document."""

    @reads(VerdictDisagreementSerializer)
    def get(self, request: Request, condition: int, candidate: int) -> kinds.VerdictDisagreement:
        """Return each answer and the decisions. 403 for a lead who has yet to judge it."""
        return access.verdict_disagreement(self.person, condition, candidate)


class ReviewDisagreement(Resource, tag="Disagreements"):
    """A disagreement between auditors about a narrative version. A decision settles it."""

    @reads(ReviewDisagreementSerializer)
    def get(self, request: Request, narrative: int) -> kinds.ReviewDisagreement:
        """Return each review and the decisions. 403 for a lead who has yet to review it."""
        return access.review_disagreement(self.person, narrative)


class AuditorsRevealed(_NamesRevealed):
    """The record that a lead knows who reviewed an instruction."""

    kind = Kind.REVIEW


class CheckDisagreement(Resource, tag="Disagreements"):
    """A disagreement between two checkers of a claimed label."""

    @reads(CheckDisagreementSerializer)
    def get(self, request: Request, item: int) -> kinds.CheckDisagreement:
        """Return the two checks once both are there, and how a third person settled it."""
        return access.check_disagreement(self.person, item)


class CheckersRevealed(_NamesRevealed):
    """The record that a lead knows who checked a label."""

    kind = Kind.CHECK


class RejudgeRequests(Resource, tag="Disagreements"):
    """Requests to judges to look at a document again."""

    @writes(RejudgeRequestSerializer, body=SentRejudgeRequest, scope=Scope.LEAD, status=201)
    def post(self, request: Request, narrative: int, candidate: int) -> RejudgeRequest:
        """Ask a judge to look at the document again. Their answer is not changed."""
        disagreement = access.judgment_disagreement(self.person, narrative, candidate)
        body = self.body()
        return rejudge_requests.ask(
            statement=disagreement.answer(body["answer"]),
            words=body["words"],
            by=disagreement.member,
        )


class OneRejudgeRequest(Resource, tag="Disagreements"):
    """One rejudge request."""

    @writes(None, scope=Scope.LEAD, status=204)
    def delete(
        self, request: Request, narrative: int, candidate: int, rejudge_request: int
    ) -> None:
        """Withdraw it: the judge is no longer asked. 422 once it is answered."""
        disagreement = access.judgment_disagreement(self.person, narrative, candidate)
        rejudge_requests.withdraw(
            rejudge_request=access.rejudge_request(disagreement, str(rejudge_request)),
            by=disagreement.member,
        )


def queue_filter_from(
    member: Membership, asked: Mapping[str, Any], before: str = "?"
) -> QueueFilter:
    """Return the filter that the parameters name; 400 if one is invalid. `before` precedes a
    parameter's name in errors: "?" for the query string.
    """
    if member.project.hide_names:
        for name in ("one", "other"):
            if asked.get(name):
                raise ValidationError({f"{before}{name}": [NAMES_ARE_HIDDEN]})
    sent = {name: str(value) for name, value in asked.items() if value is not None}
    form = QueueFilterForm(member, sent)
    if not form.is_valid():
        raise form_errors(form, before)
    return form.queue_filter()
