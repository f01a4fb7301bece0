"""Access from a request to the rows of a disagreement: the row, a 404, or a 403 with a reason.

No other code fetches these rows by an id from a request.
"""

from __future__ import annotations

from typing import NamedTuple
from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404

from annotate.collection.models import Candidate
from annotate.judgments.blindness import must_judge_first
from annotate.judgments.models import (
    Adjudication,
    ConditionAdjudication,
    Judgment,
    RejudgeRequest,
    Verdict,
)
from annotate.pairs import access as pairs_access
from annotate.pairs.models import Condition, Narrative
from annotate.projects import access
from annotate.projects.access import Person
from annotate.projects.models import Membership
from audit.checks.models import Check, SampleItem
from audit.reviews.access import narrative_for_lead
from base import raw_sql

NO_CONDITION = "There is no such condition in your projects."
NO_LABEL = "There is no such label in your projects."


class Disagreement(NamedTuple):
    """A lead, and the narrative version and candidate whose answers they may see."""

    member: Membership
    narrative: Narrative
    candidate: Candidate


def judgment_disagreement(user: Person, pk: int, candidate: int) -> Disagreement:
    """Return narrative version `pk` and a candidate for a lead who may see its judgments.

    Raises Http404 for a stranger; PermissionDenied for an annotator, and for a lead who has yet to
    judge it.
    """
    member, narrative = narrative_for_lead(user, pk)
    found = pairs_access.candidate(narrative.pair, candidate)
    if must_judge_first(member, narrative, found):
        raise PermissionDenied(
            "You have a task on this pair. Judge this document first, then settle it."
        )
    return Disagreement(member, narrative, found)


def verdict_disagreement(user: Person, pk: int, candidate: int) -> tuple[Disagreement, Condition]:
    """Return condition `pk` and a candidate for a lead who may see its verdicts.

    Raises Http404 for a stranger; PermissionDenied for an annotator, and for a lead who has yet to
    judge it.
    """
    found = Condition.objects.filter(pk=min(pk, raw_sql.LARGEST_KEY)).first()
    if found is None:
        raise Http404(NO_CONDITION)
    with access.not_found_as(NO_CONDITION):
        disagreement = judgment_disagreement(user, found.narrative_id, candidate)
    found.narrative = disagreement.narrative
    return disagreement, found


def check_disagreement(user: Person, pk: int) -> tuple[Disagreement, SampleItem]:
    """Return label `pk` for a lead, once two people have checked it.

    Raises Http404 for a stranger, and for a lead while a check is missing; PermissionDenied for an
    annotator.
    """
    found = (
        SampleItem.objects.select_related(
            "sample", "narrative__pair__project", "narrative__pair__query", "candidate__document"
        )
        .filter(pk=min(pk, raw_sql.LARGEST_KEY))
        .first()
    )
    if found is None:
        raise Http404(NO_LABEL)
    with access.not_found_as(NO_LABEL):
        member = access.lead(user, found.narrative.pair.project.slug)
    answers = Check.objects.current().filter(item=found, place__in=(1, 2))
    if answers.count() < 2:
        raise Http404("The answers are shown once two people have checked this label.")
    return Disagreement(member, found.narrative, found.candidate), found


def judgment(disagreement: Disagreement, pk: int) -> Judgment:
    """Return one person's judgment in a disagreement, current or not, or raise Http404."""
    found = (
        Judgment.objects.of_people()
        .select_related("annotator", "narrative", "candidate")
        .filter(pk=pk, narrative=disagreement.narrative, candidate=disagreement.candidate)
        .first()
    )
    if found is None:
        raise Http404("There is no such answer in this disagreement.")
    return found


def verdict(disagreement: Disagreement, condition: Condition, pk: int) -> Verdict:
    """Return one person's answer to a condition, current or not, or raise Http404."""
    found = (
        Verdict.objects.select_related("condition__narrative", "judgment__candidate")
        .filter(
            pk=pk,
            condition=condition,
            judgment__candidate=disagreement.candidate,
            judgment__annotator__is_machine=False,
        )
        .first()
    )
    if found is None:
        raise Http404("There is no such answer in this disagreement.")
    return found


def check(item: SampleItem, pk: int) -> Check:
    """Return a check by one of a label's first two checkers, or raise Http404."""
    found = Check.objects.current().filter(pk=pk, item=item, place__in=(1, 2)).first()
    if found is None:
        raise Http404("There is no such answer in this disagreement.")
    return found


def condition_adjudication(condition: Condition, candidate: Candidate) -> ConditionAdjudication:
    """Return the current settling decision on a condition, or raise Http404."""
    found = (
        ConditionAdjudication.objects.current()
        .select_related("condition__narrative", "by")
        .filter(condition=condition, candidate=candidate)
        .first()
    )
    if found is None:
        raise Http404("This disagreement has no decision.")
    return found


def rejudge_request(disagreement: Disagreement, key: str) -> RejudgeRequest:
    """Return a rejudge request in a disagreement, by its key as a form sends it, or raise
    Http404.
    """
    found = (
        RejudgeRequest.objects.select_related("judgment__annotator", "judgment__narrative")
        .filter(
            pk=int(key) if key.isascii() and key.isdecimal() and len(key) < 19 else 0,
            judgment__narrative=disagreement.narrative,
            judgment__candidate=disagreement.candidate,
        )
        .first()
    )
    if found is None:
        raise Http404("There is no such request in this disagreement.")
    return found


def adjudication(disagreement: Disagreement) -> Adjudication:
    """Return the current settling decision, or raise Http404."""
    found = (
        Adjudication.objects.current()
        .select_related("narrative", "by")
        .filter(narrative=disagreement.narrative, candidate=disagreement.candidate)
        .first()
    )
    if found is None:
        raise Http404("This disagreement has no decision.")
    return found


def batch_decisions(member: Membership, batch: UUID) -> QuerySet[Adjudication]:
    """Return the decisions of a batch of the lead's project, or raise Http404."""
    found = Adjudication.objects.filter(batch=batch, by__project=member.project_id)
    if not found.exists():
        raise Http404("There are no such decisions in this project.")
    return found
