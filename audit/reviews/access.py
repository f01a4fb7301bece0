"""Fetch reviews and decisions that a request may access; else 404 or 403."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from django.core.exceptions import PermissionDenied

from annotate.collection.removal import MOST
from annotate.judgments import assignments
from annotate.pairs import access as pairs_access
from annotate.pairs.models import Assignment, InstructionPair, Narrative
from annotate.projects import access
from annotate.projects.access import Person
from annotate.projects.models import Membership
from audit.reviews.models import Decision
from audit.reviews.passes import narratives_to_decide, owes_review
from base.errors import Refused
from base.requests import first_or_404, row_or_404

NO_NARRATIVE = "There is no such narrative in your projects."


class ReviewTask(NamedTuple):
    """An auditor, and the current altered narrative of a pair to review."""

    member: Membership
    pair: InstructionPair
    narrative: Narrative


def review_task(user: Person, pk: int) -> ReviewTask:
    """Return the pair whose review assignment the person holds, with the narrative to review.

    A stranger gets Http404; a member without an assignment, or without a narrative to review,
    Refused.
    """
    member, pair = pairs_access.pair(user, pk)
    if not assignments.holds(pair=pair, task=Assignment.Task.REVIEW, by=member):
        raise Refused("This is not your task. Take one from your list, then go on.")
    narrative = pair.current(Narrative.Side.ALTERED)
    if narrative is None:
        raise Refused("There is no altered narrative to review yet.")
    return ReviewTask(member, pair, narrative)


def review_disagreement(user: Person, pk: int) -> tuple[Membership, Narrative]:
    """Return narrative version `pk` for a lead who may see its reviews.

    A stranger gets Http404; an annotator, and a lead who still owes a review, PermissionDenied.
    """
    member, narrative = narrative_for_lead(user, pk)
    if owes_review(member, narrative):
        raise PermissionDenied("You have a task here. Submit your own review first, then decide.")
    return member, narrative


def ticked_narratives(member: Membership, keys: Sequence[int]) -> list[Narrative]:
    """Return the narrative versions that a lead ticked, in the order of their pairs' ids.

    Refused: one of them does not wait for this lead's decision.
    """
    ticked = narratives_to_decide(member).filter(pk__in=keys[:MOST]).select_related("pair__project")
    narratives = list(ticked.order_by("pair__pair_id"))
    if len(narratives) != len(set(keys)):
        raise Refused("One of these does not wait for your decision. Reload the page.")
    return narratives


def decision(narrative: Narrative) -> Decision:
    """Return the current decision on a narrative version, or raise Http404."""
    return first_or_404(
        Decision.objects.current()
        .select_related("narrative__pair", "by")
        .filter(narrative=narrative),
        "There is no decision on this narrative.",
    )


def narrative_for_lead(user: Person, pk: int) -> tuple[Membership, Narrative]:
    """Return a narrative version of a project the person leads, or raise Http404 or
    PermissionDenied.
    """
    narrative = row_or_404(
        Narrative.objects.select_related("pair__project", "pair__query"), pk, NO_NARRATIVE
    )
    with access.not_found_as(NO_NARRATIVE):
        return access.lead(user, narrative.pair.project.slug), narrative
