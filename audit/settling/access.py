"""Access from a request to the rows of a disagreement: the row, a 404, or a 403 with a reason.

No other code fetches these rows by an id from a request.
"""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.db.models import OuterRef, QuerySet
from django.http import Http404

from annotate.judgments.blindness import exclude_unjudged, must_judge_first
from annotate.judgments.models import Adjudication, Judgment, RejudgeRequest
from annotate.pairs import access as pairs_access
from annotate.pairs.models import Condition, Narrative
from annotate.projects import access
from annotate.projects.access import Person
from annotate.projects.models import Membership
from audit.checks import access as checks_access
from audit.checks.models import Check
from audit.reviews import access as reviews_access
from audit.reviews.access import narrative_for_lead
from audit.settling.kinds import (
    KINDS,
    CheckDisagreement,
    Disagreement,
    JudgmentDisagreement,
    ReviewDisagreement,
    VerdictDisagreement,
)
from audit.settling.queue_filters import DisagreementKey, Kind, Reader
from base.pagination import parse_key
from base.requests import row_or_404

NO_CONDITION = "There is no such condition in your projects."


def judgment_disagreement(user: Person, narrative: int, candidate: int) -> JudgmentDisagreement:
    """Return a narrative version and a candidate for a lead who may see its judgments.

    Raises Http404 for a stranger; PermissionDenied for an annotator, and for a lead who has yet to
    judge it.
    """
    member, version = narrative_for_lead(user, narrative)
    return _judgment_disagreement(member, version, candidate)


def _judgment_disagreement(
    member: Membership, narrative: Narrative, candidate: int
) -> JudgmentDisagreement:
    row = pairs_access.candidate(narrative.pair, candidate)
    if must_judge_first(member, narrative, row):
        raise PermissionDenied(
            "You have a task on this pair. Judge this document first, then settle it."
        )
    return JudgmentDisagreement(member, narrative, row)


def verdict_disagreement(user: Person, condition: int, candidate: int) -> VerdictDisagreement:
    """Return a condition and a candidate for a lead who may see its verdicts.

    Raises Http404 for a stranger; PermissionDenied for an annotator, and for a lead who has yet to
    judge it.
    """
    conditions = Condition.objects.select_related(
        "narrative__pair__project", "narrative__pair__query"
    )
    row = row_or_404(conditions, condition, NO_CONDITION)
    with access.not_found_as(NO_CONDITION):
        member = access.lead(user, row.narrative.pair.project.slug)
        document = _judgment_disagreement(member, row.narrative, candidate)
    return VerdictDisagreement(document, row)


def review_disagreement(user: Person, narrative: int) -> ReviewDisagreement:
    """Return a narrative version for a lead who may see its reviews.

    Raises Http404 for a stranger; PermissionDenied for an annotator, and for a lead who still owes
    a review.
    """
    return ReviewDisagreement(*reviews_access.review_disagreement(user, narrative))


def check_disagreement(user: Person, item: int) -> CheckDisagreement:
    """Return a claimed label for a lead, once two people have checked it.

    Raises Http404 for a stranger, and for a lead while a check is missing; PermissionDenied for an
    annotator.
    """
    label = checks_access.label(item)
    with access.not_found_as(checks_access.NO_LABEL):
        member = access.lead(user, label.narrative.pair.project.slug)
    answers = Check.objects.current().filter(item=label, place__in=(1, 2))
    if answers.count() < 2:
        raise Http404("The answers are shown once two people have checked this label.")
    return CheckDisagreement(member, label)


def disagreement(user: Person, kind: Kind, **keys: int) -> Disagreement:
    """Return a disagreement of any kind for a lead who may see it; `keys` as in its address."""
    finders: dict[Kind, Callable[..., Disagreement]] = {
        Kind.JUDGMENT: judgment_disagreement,
        Kind.VERDICT: verdict_disagreement,
        Kind.REVIEW: review_disagreement,
        Kind.CHECK: check_disagreement,
    }
    return finders[kind](user, **keys)


def disagreement_of(user: Person, key: DisagreementKey) -> Disagreement:
    """Return the disagreement with this key for a lead who may see it.

    Raises Http404 or PermissionDenied as `disagreement`.
    """
    return disagreement(user, key.kind, **KINDS[key.kind].keys_of(key))


def rejudge_request(disagreement: JudgmentDisagreement, key: str) -> RejudgeRequest:
    """Return a rejudge request in a disagreement, by its key as a form sends it, or raise
    Http404.
    """
    requests = RejudgeRequest.objects.filter(
        statement__narrative=disagreement.narrative, statement__candidate=disagreement.candidate
    )
    return row_or_404(
        requests.select_related("statement__annotator", "statement__narrative"),
        parse_key(key) or 0,
        "There is no such request in this disagreement.",
    )


def batch_decisions(member: Membership, batch: UUID) -> QuerySet[Adjudication]:
    """Return the decisions of a batch of the lead's project, or raise Http404."""
    decisions = Adjudication.objects.filter(batch=batch, by__project=member.project_id)
    if not decisions.exists():
        raise Http404("There are no such decisions in this project.")
    return decisions


def visible_decisions(member: Membership, batch: UUID) -> QuerySet[Adjudication]:
    """Return those decisions of a batch on documents that the lead may see, or raise Http404."""
    mine = Judgment.objects.current().filter(
        narrative=OuterRef("narrative_id"), candidate=OuterRef("candidate_id"), annotator=member
    )
    decisions = batch_decisions(member, batch)
    return exclude_unjudged(decisions, Reader(member).to_judge, "narrative__pair", mine)
