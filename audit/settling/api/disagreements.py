"""The queue of disagreements, and each disagreement with its answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db.models import QuerySet
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.guidelines import rejudge_requests
from annotate.judgments.models import (
    Adjudication,
    ConditionAdjudication,
)
from annotate.pairs.models import Condition, Narrative
from annotate.projects import access as annotate_access
from annotate.projects.models import Membership
from audit.checks.models import Check
from audit.reviews import access as reviews_access
from audit.reviews.api.shapes import machine_passes_as_json, passes_as_json
from audit.reviews.models import Decision
from audit.reviews.passes import passes_of, verdict_of
from audit.settling import access
from audit.settling.api.shapes import (
    AskedDisagreements,
    CheckDisagreementSerializer,
    CountsSerializer,
    DisagreementSerializer,
    JudgmentDisagreementSerializer,
    RejudgeRequestSerializer,
    RevealSerializer,
    ReviewDisagreementSerializer,
    SentRejudgeRequest,
    VerdictDisagreementSerializer,
)
from audit.settling.forms import NAMES_ARE_HIDDEN, QueueFilterForm
from audit.settling.models import Reveal
from audit.settling.names import Naming, naming_for
from audit.settling.queue import count_by_kind, position_of, read_page
from audit.settling.queue_filters import DisagreementKey, Kind, QueueFilter, QueuePosition
from audit.settling.reveals import reveal_names
from audit.settling.statements import flags_on, judges_of, rejudge_requests_on
from base.api.paging import invalid_cursor, page_response, page_size, requested_cursor
from base.api.resource import Resource, Scope, form_errors, no_content, reads, writes

# --- the data of each response --------------------------------------------------------------------


def judgment_disagreement(disagreement: access.Disagreement) -> dict[str, Any]:
    """Return the judgments of a document and its decisions: a fixed number of queries."""
    member, narrative, candidate = disagreement
    disagreement_key = DisagreementKey(Kind.JUDGMENT, narrative.pk, candidate.pk, 0)
    named = naming_for(member, disagreement_key)
    judges = judges_of(disagreement, named)
    return {
        **_about(disagreement, disagreement_key, named),
        "answers": [
            {
                "row": one,
                "who": judges.names[one.annotator_id],
                "mine": one.annotator_id == member.pk,
                "verdicts": {
                    str(verdict.condition_id): verdict.answer for verdict in one.verdicts.all()
                },
            }
            for one in judges.people
        ],
        "machines": judges.machines,
        "flags": [
            {
                "who": judges.names.get(
                    one.annotator_id, None if named.hidden else one.annotator.name
                ),
                "kind": one.kind,
                "words": one.words,
            }
            for one in flags_on(disagreement)
        ],
        "decisions": _decisions(
            Adjudication.objects.filter(narrative=narrative, candidate=candidate)
        ),
        "rejudge_requests": rejudge_requests_on(disagreement),
    }


def verdict_disagreement(disagreement: access.Disagreement, condition: Condition) -> dict[str, Any]:
    """Return the verdicts on one condition and its decisions: a fixed number of queries."""
    member, narrative, candidate = disagreement
    disagreement_key = DisagreementKey(Kind.VERDICT, narrative.pk, candidate.pk, condition.pk)
    named = naming_for(member, disagreement_key)
    judges = judges_of(disagreement, named)
    return {
        **_about(disagreement, disagreement_key, named),
        "condition": condition,
        "answers": [
            {
                "row": verdict,
                "who": judges.names[one.annotator_id],
                "mine": one.annotator_id == member.pk,
                "note": one.note,
            }
            for one in judges.people
            for verdict in one.verdicts.all()
            if verdict.condition_id == condition.pk
        ],
        "decisions": _decisions(
            ConditionAdjudication.objects.filter(condition=condition, candidate=candidate)
        ),
        "rejudge_requests": rejudge_requests_on(disagreement),
    }


def review_disagreement(member: Membership, narrative: Narrative) -> dict[str, Any]:
    """Return the reviews of a narrative version and its decisions."""
    disagreement_key = DisagreementKey(Kind.REVIEW, narrative.pk, 0, 0)
    named = naming_for(member, disagreement_key)
    passes = {one.review.auditor_id: one for one in passes_of([narrative])[narrative.pk]}
    called = named.displayed({key: one.review.auditor.name for key, one in passes.items()})
    return {
        "narrative": narrative,
        "differs": position_of(member, QueueFilter(), disagreement_key) is not None,
        "hidden": named.hidden,
        "reveals": named.reveals,
        "answers": passes_as_json(
            [passes[key] for key in called], member, called if named.hidden else None
        ),
        "machines": machine_passes_as_json(passes_of([narrative], machines=True)[narrative.pk]),
        "verdict": verdict_of(passes.values(), member.project).value,
        "decisions": _decisions(Decision.objects.filter(narrative=narrative)),
    }


def check_disagreement(disagreement: access.Disagreement, item: Any) -> dict[str, Any]:
    """Return the two checks of a label, and how a third person settled it."""
    member, narrative, candidate = disagreement
    disagreement_key = DisagreementKey(Kind.CHECK, narrative.pk, candidate.pk, item.pk)
    named = naming_for(member, disagreement_key)
    checks = list(
        Check.objects.current().filter(item=item).select_related("checker").order_by("place")
    )
    first_two = {one.checker_id: one for one in checks if one.place != Check.SETTLES}
    settled = next((one for one in checks if one.place == Check.SETTLES), None)
    called = named.displayed({key: one.checker.name for key, one in first_two.items()})
    about = _about(disagreement, disagreement_key, named)
    # The person who settles is as blind as the checkers.
    shown = item.sample.shows_claim or settled is not None or not about["differs"]
    return {
        **about,
        "item": item,
        "claimed": item.claimed if shown else None,
        "answers": [
            {"row": first_two[key], "who": who, "mine": key == member.pk}
            for key, who in called.items()
        ],
        "settled": settled,
    }


def _about(
    disagreement: access.Disagreement, disagreement_key: DisagreementKey, named: Naming
) -> dict[str, Any]:
    return {
        "narrative": disagreement.narrative,
        "candidate": disagreement.candidate,
        "differs": position_of(disagreement.member, QueueFilter(), disagreement_key) is not None,
        "hidden": named.hidden,
        "reveals": named.reveals,
    }


def _decisions(decisions: QuerySet[Any]) -> QuerySet[Any]:
    """Return all decisions, withdrawn or not, the newest first."""
    return decisions.select_related("by").order_by("-at", "-pk")


class Disagreements(Resource):
    """The disagreements of a project: open, waiting or settled."""

    tag = "Disagreements"

    @reads(DisagreementSerializer, parameters=AskedDisagreements, paged=True, scope=Scope.LEAD)
    def get(self, request: Request, slug: str) -> Response:
        """List them, the farthest apart first. Names are pseudonyms until they are revealed."""
        member = annotate_access.lead(self.person, slug)
        filters = queue_filter_from(member, self.parameters())
        after = None
        if given := requested_cursor(request):
            try:
                after = QueuePosition.parse(given)
            except ValueError as error:
                raise invalid_cursor() from error
        found = read_page(member, filters, after=after, size=page_size(request))
        rows = DisagreementSerializer(found.items, many=True).data
        return page_response(request, rows, str(found.after) if found.after else None)


class DisagreementCounts(Resource):
    """The numbers of disagreements."""

    tag = "Disagreements"

    @reads(CountsSerializer, parameters=AskedDisagreements, scope=Scope.LEAD)
    def get(self, request: Request, slug: str) -> Response:
        """Count them by kind."""
        member = annotate_access.lead(self.person, slug)
        found = count_by_kind(member, queue_filter_from(member, self.parameters()))
        return Response({kind.value: count for kind, count in found.items()})


class Reveals(Resource):
    """The records of who looked up names."""

    tag = "Disagreements"

    @reads(RevealSerializer, paged=True, scope=Scope.LEAD)
    def get(self, request: Request, slug: str) -> Response:
        """List them, the newest first."""
        member = annotate_access.lead(self.person, slug)
        found = Reveal.objects.filter(by__project=member.project_id).select_related("by")
        return self.page(
            found, lambda rows: list(RevealSerializer(rows, many=True).data), newest_first=True
        )


class JudgmentDisagreement(Resource):
    """A disagreement between judges about the grade of a document."""

    tag = "Disagreements"

    @reads(JudgmentDisagreementSerializer, scope=Scope.LEAD)
    def get(self, request: Request, narrative: int, candidate: int) -> Response:
        """Return each answer and the decisions. 403 for a lead who has yet to judge it."""
        disagreement = access.judgment_disagreement(self.person, narrative, candidate)
        return Response(JudgmentDisagreementSerializer(judgment_disagreement(disagreement)).data)


class JudgesRevealed(Resource):
    """The record that a lead knows who judged a document."""

    tag = "Disagreements"

    @writes(RevealSerializer, scope=Scope.LEAD, status=201)
    def post(self, request: Request, narrative: int, candidate: int) -> Response:
        """Reveal who gave which answer. It is recorded that you looked."""
        disagreement = access.judgment_disagreement(self.person, narrative, candidate)
        made = reveal_names(
            narrative=disagreement.narrative,
            candidate=disagreement.candidate,
            by=disagreement.member,
        )
        return Response(RevealSerializer(made).data, status=201)


class VerdictDisagreement(Resource):
    """A disagreement between judges about one condition of a document."""

    tag = "Disagreements"

    @reads(VerdictDisagreementSerializer, scope=Scope.LEAD)
    def get(self, request: Request, condition: int, candidate: int) -> Response:
        """Return each answer and the decisions. 403 for a lead who has yet to judge it."""
        disagreement, found = access.verdict_disagreement(self.person, condition, candidate)
        return Response(
            VerdictDisagreementSerializer(verdict_disagreement(disagreement, found)).data
        )


class ReviewDisagreement(Resource):
    """A disagreement between auditors about a narrative version. A decision settles it."""

    tag = "Disagreements"

    @reads(ReviewDisagreementSerializer, scope=Scope.LEAD)
    def get(self, request: Request, narrative: int) -> Response:
        """Return each review and the decisions. 403 for a lead who has yet to review it."""
        member, version = reviews_access.review_disagreement(self.person, narrative)
        return Response(ReviewDisagreementSerializer(review_disagreement(member, version)).data)


class AuditorsRevealed(Resource):
    """The record that a lead knows who reviewed an instruction."""

    tag = "Disagreements"

    @writes(RevealSerializer, scope=Scope.LEAD, status=201)
    def post(self, request: Request, narrative: int) -> Response:
        """Reveal who gave which answer. It is recorded that you looked."""
        member, version = reviews_access.review_disagreement(self.person, narrative)
        made = reveal_names(narrative=version, by=member)
        return Response(RevealSerializer(made).data, status=201)


class CheckDisagreement(Resource):
    """A disagreement between two checkers of a claimed label."""

    tag = "Disagreements"

    @reads(CheckDisagreementSerializer, scope=Scope.LEAD)
    def get(self, request: Request, item: int) -> Response:
        """Return the two checks once both are there, and how a third person settled it."""
        disagreement, found = access.check_disagreement(self.person, item)
        return Response(CheckDisagreementSerializer(check_disagreement(disagreement, found)).data)


class CheckersRevealed(Resource):
    """The record that a lead knows who checked a label."""

    tag = "Disagreements"

    @writes(RevealSerializer, scope=Scope.LEAD, status=201)
    def post(self, request: Request, item: int) -> Response:
        """Reveal who gave which answer. It is recorded that you looked."""
        disagreement, found = access.check_disagreement(self.person, item)
        made = reveal_names(narrative=disagreement.narrative, item=found, by=disagreement.member)
        return Response(RevealSerializer(made).data, status=201)


class RejudgeRequests(Resource):
    """Requests to judges to look at a document again."""

    tag = "Disagreements"

    @writes(RejudgeRequestSerializer, body=SentRejudgeRequest, scope=Scope.LEAD, status=201)
    def post(self, request: Request, narrative: int, candidate: int) -> Response:
        """Ask a judge to look at the document again. Their judgment is not changed."""
        disagreement = access.judgment_disagreement(self.person, narrative, candidate)
        given = self.body()
        made = rejudge_requests.ask(
            judgment=access.judgment(disagreement, given["judgment"]),
            words=given["words"],
            by=disagreement.member,
        )
        return Response(RejudgeRequestSerializer(made).data, status=201)


class OneRejudgeRequest(Resource):
    """One rejudge request."""

    tag = "Disagreements"

    @writes(None, scope=Scope.LEAD, status=204)
    def delete(
        self, request: Request, narrative: int, candidate: int, rejudge_request: int
    ) -> Response:
        """Withdraw it: the judge is no longer asked. 422 once it is answered."""
        disagreement = access.judgment_disagreement(self.person, narrative, candidate)
        rejudge_requests.withdraw(
            rejudge_request=access.rejudge_request(disagreement, str(rejudge_request)),
            by=disagreement.member,
        )
        return no_content()


def queue_filter_from(
    member: Membership, asked: Mapping[str, Any], before: str = "?"
) -> QueueFilter:
    """Return the filter that the parameters name; 400 if one is invalid. `before` precedes a
    parameter's name in errors: "?" for the query string.
    """
    if member.project.hide_names:
        for name in ("one", "other"):
            if asked.get(name):
                raise ValidationError({f"{before}{name}": [str(NAMES_ARE_HIDDEN)]})
    form = QueueFilterForm(member, {name: str(value) for name, value in asked.items()})
    if not form.is_valid():
        raise form_errors(form, before)
    return form.queue_filter()
