"""What people differ on: the queue, and each disagreement with what was said of it."""

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
from audit.settling.forms import NAMES_ARE_HIDDEN, WantedForm
from audit.settling.models import Reveal
from audit.settling.names import Naming, naming
from audit.settling.queue import counts, key_of, page
from audit.settling.queue_filters import DisagreementKey, Key, Kind, Wanted
from audit.settling.reveals import reveal_names
from audit.settling.statements import flags_on, judges_of, rejudge_requests_on
from base.api.paging import cursor_of, nowhere, paged, size_of
from base.api.resource import Resource, Scope, done, reads, writes, wrong

# --- what each answer is made of ------------------------------------------------------------------


def judgment_disagreement(disagreement: access.Disagreement) -> dict[str, Any]:
    """What judges said of a document, and how it was settled: a fixed number of queries."""
    member, narrative, candidate = disagreement
    disagreement_key = DisagreementKey(Kind.JUDGMENT, narrative.pk, candidate.pk, 0)
    named = naming(member, disagreement_key)
    judges = judges_of(disagreement, named)
    return {
        **_about(disagreement, disagreement_key, named),
        "said": [
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
    """What judges said of one condition, and how it was settled: a fixed number of queries."""
    member, narrative, candidate = disagreement
    disagreement_key = DisagreementKey(Kind.VERDICT, narrative.pk, candidate.pk, condition.pk)
    named = naming(member, disagreement_key)
    judges = judges_of(disagreement, named)
    return {
        **_about(disagreement, disagreement_key, named),
        "condition": condition,
        "said": [
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
    """What auditors said of a narrative version, and what was decided."""
    disagreement_key = DisagreementKey(Kind.REVIEW, narrative.pk, 0, 0)
    named = naming(member, disagreement_key)
    passes = {one.review.auditor_id: one for one in passes_of([narrative])[narrative.pk]}
    called = named.of({key: one.review.auditor.name for key, one in passes.items()})
    return {
        "narrative": narrative,
        "differs": key_of(member, Wanted(), disagreement_key) is not None,
        "hidden": named.hidden,
        "reveals": named.reveals,
        "said": passes_as_json(
            [passes[key] for key in called], member, called if named.hidden else None
        ),
        "machines": machine_passes_as_json(passes_of([narrative], machines=True)[narrative.pk]),
        "verdict": verdict_of(passes.values(), member.project).value,
        "decisions": _decisions(Decision.objects.filter(narrative=narrative)),
    }


def check_disagreement(disagreement: access.Disagreement, item: Any) -> dict[str, Any]:
    """What two checkers said of a label, and how a third settled it."""
    member, narrative, candidate = disagreement
    disagreement_key = DisagreementKey(Kind.CHECK, narrative.pk, candidate.pk, item.pk)
    named = naming(member, disagreement_key)
    said = list(
        Check.objects.current().filter(item=item).select_related("checker").order_by("place")
    )
    first_two = {one.checker_id: one for one in said if one.place != Check.SETTLES}
    settled = next((one for one in said if one.place == Check.SETTLES), None)
    called = named.of({key: one.checker.name for key, one in first_two.items()})
    about = _about(disagreement, disagreement_key, named)
    # Who settles is as blind as who checked.
    shown = item.sample.shows_claim or settled is not None or not about["differs"]
    return {
        **about,
        "item": item,
        "claimed": item.claimed if shown else None,
        "said": [
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
        "differs": key_of(disagreement.member, Wanted(), disagreement_key) is not None,
        "hidden": named.hidden,
        "reveals": named.reveals,
    }


def _decisions(decisions: QuerySet[Any]) -> QuerySet[Any]:
    """All decisions on it, withdrawn or not, the newest first."""
    return decisions.select_related("by").order_by("-at", "-pk")


class Disagreements(Resource):
    """What a project's people differ on, or what was settled."""

    tag = "Disagreements"

    @reads(DisagreementSerializer, asked=AskedDisagreements, paged=True, scope=Scope.LEAD)
    def get(self, request: Request, slug: str) -> Response:
        """List them, the farthest apart first. Names are pseudonyms until they are looked up."""
        member = annotate_access.lead(self.person, slug)
        wanted = wanted_by(member, self.asked())
        after = None
        if given := cursor_of(request):
            try:
                after = Key.parse(given)
            except ValueError as error:
                raise nowhere() from error
        found = page(member, wanted, after=after, size=size_of(request))
        rows = DisagreementSerializer(found.items, many=True).data
        return paged(request, rows, str(found.after) if found.after else None)


class DisagreementCounts(Resource):
    """How many of them there are."""

    tag = "Disagreements"

    @reads(CountsSerializer, asked=AskedDisagreements, scope=Scope.LEAD)
    def get(self, request: Request, slug: str) -> Response:
        """Count them by kind."""
        member = annotate_access.lead(self.person, slug)
        found = counts(member, wanted_by(member, self.asked()))
        return Response({kind.value: count for kind, count in found.items()})


class Reveals(Resource):
    """Who looked up who said what."""

    tag = "Disagreements"

    @reads(RevealSerializer, paged=True, scope=Scope.LEAD)
    def get(self, request: Request, slug: str) -> Response:
        """List the look-ups, the newest first."""
        member = annotate_access.lead(self.person, slug)
        found = Reveal.objects.filter(by__project=member.project_id).select_related("by")
        return self.page(
            found, lambda rows: list(RevealSerializer(rows, many=True).data), newest_first=True
        )


class JudgmentDisagreement(Resource):
    """What judges said of a document under a narrative version."""

    tag = "Disagreements"

    @reads(JudgmentDisagreementSerializer, scope=Scope.LEAD)
    def get(self, request: Request, narrative: int, candidate: int) -> Response:
        """Tell what each said, and how it was settled. 403 for who has yet to judge it."""
        disagreement = access.judgment_disagreement(self.person, narrative, candidate)
        return Response(JudgmentDisagreementSerializer(judgment_disagreement(disagreement)).data)


class JudgesRevealed(Resource):
    """That a lead knows who judged a document."""

    tag = "Disagreements"

    @writes(RevealSerializer, scope=Scope.LEAD, status=201)
    def post(self, request: Request, narrative: int, candidate: int) -> Response:
        """Look up who said what; that you looked is kept."""
        disagreement = access.judgment_disagreement(self.person, narrative, candidate)
        made = reveal_names(
            narrative=disagreement.narrative,
            candidate=disagreement.candidate,
            by=disagreement.member,
        )
        return Response(RevealSerializer(made).data, status=201)


class VerdictDisagreement(Resource):
    """What judges said of one condition of a document."""

    tag = "Disagreements"

    @reads(VerdictDisagreementSerializer, scope=Scope.LEAD)
    def get(self, request: Request, condition: int, candidate: int) -> Response:
        """Tell what each said, and how it was settled. 403 for who has yet to judge it."""
        disagreement, found = access.verdict_disagreement(self.person, condition, candidate)
        return Response(
            VerdictDisagreementSerializer(verdict_disagreement(disagreement, found)).data
        )


class ReviewDisagreement(Resource):
    """What auditors said of a narrative version. It is settled by a decision."""

    tag = "Disagreements"

    @reads(ReviewDisagreementSerializer, scope=Scope.LEAD)
    def get(self, request: Request, narrative: int) -> Response:
        """Tell what each said, and what was decided. 403 for who has yet to review it."""
        member, version = reviews_access.review_disagreement(self.person, narrative)
        return Response(ReviewDisagreementSerializer(review_disagreement(member, version)).data)


class AuditorsRevealed(Resource):
    """That a lead knows who reviewed an instruction."""

    tag = "Disagreements"

    @writes(RevealSerializer, scope=Scope.LEAD, status=201)
    def post(self, request: Request, narrative: int) -> Response:
        """Look up who said what; that you looked is kept."""
        member, version = reviews_access.review_disagreement(self.person, narrative)
        made = reveal_names(narrative=version, by=member)
        return Response(RevealSerializer(made).data, status=201)


class CheckDisagreement(Resource):
    """What two people said of a claimed label."""

    tag = "Disagreements"

    @reads(CheckDisagreementSerializer, scope=Scope.LEAD)
    def get(self, request: Request, item: int) -> Response:
        """Tell what the two said once both have, and how a third settled it."""
        disagreement, found = access.check_disagreement(self.person, item)
        return Response(CheckDisagreementSerializer(check_disagreement(disagreement, found)).data)


class CheckersRevealed(Resource):
    """That a lead knows who checked a label."""

    tag = "Disagreements"

    @writes(RevealSerializer, scope=Scope.LEAD, status=201)
    def post(self, request: Request, item: int) -> Response:
        """Look up who said what; that you looked is kept."""
        disagreement, found = access.check_disagreement(self.person, item)
        made = reveal_names(narrative=disagreement.narrative, item=found, by=disagreement.member)
        return Response(RevealSerializer(made).data, status=201)


class RejudgeRequests(Resource):
    """That a judge is asked to look again."""

    tag = "Disagreements"

    @writes(RejudgeRequestSerializer, sent=SentRejudgeRequest, scope=Scope.LEAD, status=201)
    def post(self, request: Request, narrative: int, candidate: int) -> Response:
        """Ask whoever made a judgment to look at the document again. Nothing is edited."""
        disagreement = access.judgment_disagreement(self.person, narrative, candidate)
        given = self.sent()
        made = rejudge_requests.ask(
            judgment=access.judgment(disagreement, given["judgment"]),
            words=given["words"],
            by=disagreement.member,
        )
        return Response(RejudgeRequestSerializer(made).data, status=201)


class OneRejudgeRequest(Resource):
    """One of these rejudge requests."""

    tag = "Disagreements"

    @writes(None, scope=Scope.LEAD, status=204)
    def delete(
        self, request: Request, narrative: int, candidate: int, rejudge_request: int
    ) -> Response:
        """Take it back: nobody is asked for it any more. 422 once it is answered."""
        disagreement = access.judgment_disagreement(self.person, narrative, candidate)
        rejudge_requests.withdraw(
            rejudge_request=access.rejudge_request(disagreement, str(rejudge_request)),
            by=disagreement.member,
        )
        return done()


def wanted_by(member: Membership, asked: Mapping[str, Any], before: str = "?") -> Wanted:
    """Return which disagreements are named, by the parameters of an address unless `before` says
    otherwise; 400 for what is not there.
    """
    if member.project.hide_names:
        for name in ("one", "other"):
            if asked.get(name):
                raise ValidationError({f"{before}{name}": [str(NAMES_ARE_HIDDEN)]})
    form = WantedForm(member, {name: str(value) for name, value in asked.items()})
    if not form.is_valid():
        raise wrong(form, before)
    return form.wanted()
