"""The only door from a request to a row of the second pass: the row, or 404, or 403 with why."""

from __future__ import annotations

from typing import NamedTuple

from django.core.exceptions import PermissionDenied
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

NO_CONDITION = "There is no such condition among yours."
NO_LABEL = "There is no such label among yours."


class Disagreement(NamedTuple):
    """A lead before what people said of a narrative version, and of a candidate under it."""

    member: Membership
    narrative: Narrative
    candidate: Candidate


def judgment_disagreement(user: Person, pk: int, candidate: int) -> Disagreement:
    """Return narrative version `pk` and a candidate for a lead who may see what was said of it.

    A stranger gets Http404; an annotator, and a lead who has yet to judge it, PermissionDenied.
    """
    member, narrative = narrative_for_lead(user, pk)
    found = pairs_access.candidate(narrative.pair, candidate)
    if must_judge_first(member, narrative, found):
        raise PermissionDenied("You have a task here. Judge this document first, then settle it.")
    return Disagreement(member, narrative, found)


def verdict_disagreement(user: Person, pk: int, candidate: int) -> tuple[Disagreement, Condition]:
    """Return condition `pk` and a candidate for a lead who may see what was said of it.

    A stranger gets Http404; an annotator, and a lead who has yet to judge it, PermissionDenied.
    """
    found = Condition.objects.filter(pk=min(pk, raw_sql.LARGEST_KEY)).first()
    if found is None:
        raise Http404(NO_CONDITION)
    with access.told_alike(NO_CONDITION):
        disagreement = judgment_disagreement(user, found.narrative_id, candidate)
    found.narrative = disagreement.narrative
    return disagreement, found


def check_disagreement(user: Person, pk: int) -> tuple[Disagreement, SampleItem]:
    """Return label `pk` for a lead, who may see what two checkers said once both have spoken.

    A stranger gets Http404, as does a lead where not both have spoken; an annotator
    PermissionDenied.
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
    with access.told_alike(NO_LABEL):
        member = access.lead(user, found.narrative.pair.project.slug)
    said = Check.objects.current().filter(item=found, place__in=(1, 2))
    if said.count() < 2:
        raise Http404("What people say of this label shows here once two have checked it.")
    return Disagreement(member, found.narrative, found.candidate), found


def judgment(disagreement: Disagreement, pk: int) -> Judgment:
    """Return one person's answer to what differs, current or not, or raise Http404."""
    found = (
        Judgment.objects.of_people()
        .select_related("annotator", "narrative", "candidate")
        .filter(pk=pk, narrative=disagreement.narrative, candidate=disagreement.candidate)
        .first()
    )
    if found is None:
        raise Http404("There is no such answer here.")
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
        raise Http404("There is no such answer here.")
    return found


def check(item: SampleItem, pk: int) -> Check:
    """Return what one of the first two said of a label, or raise Http404."""
    found = Check.objects.current().filter(pk=pk, item=item, place__in=(1, 2)).first()
    if found is None:
        raise Http404("There is no such answer here.")
    return found


def condition_adjudication(condition: Condition, candidate: Candidate) -> ConditionAdjudication:
    """Return the settling decision on a condition that stands, or raise Http404."""
    found = (
        ConditionAdjudication.objects.current()
        .select_related("condition__narrative", "by")
        .filter(condition=condition, candidate=candidate)
        .first()
    )
    if found is None:
        raise Http404("Nothing is settled here.")
    return found


def rejudge_request(disagreement: Disagreement, key: str) -> RejudgeRequest:
    """Return what was asked again of an answer to what differs, by its key as a form sends it, or
    raise Http404.
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
        raise Http404("Nothing of the kind was asked here.")
    return found


def adjudication(disagreement: Disagreement) -> Adjudication:
    """Return the settling decision that stands, or raise Http404."""
    found = (
        Adjudication.objects.current()
        .select_related("narrative", "by")
        .filter(narrative=disagreement.narrative, candidate=disagreement.candidate)
        .first()
    )
    if found is None:
        raise Http404("Nothing is settled here.")
    return found
