"""Data for the pages of reviews: levels of a rubric, and rows of the list."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from django.db.models import Exists, OuterRef, QuerySet

from annotate.pairs.models import Assignment, DrawnPair, InstructionPair, Narrative, ReviewDraw
from annotate.projects.models import Membership
from audit.reviews.criteria import Rubric
from audit.reviews.models import Decision
from audit.reviews.passes import passes_of, verdict_of
from audit.reviews.review_verdict import Verdict


def levels_of(rubric: Rubric) -> list[dict[str, Any]]:
    """Return the levels of a rubric for display, best first, with their keyboard keys: as with
    grades, a higher digit is better.

    Keys: value, name, sentence, rejects, key, icon (star, check, cross), tone (good, care, wrong).
    """
    drawn = []
    for place, level in enumerate(rubric.levels):
        icon, tone = ("star", "good") if place == 0 else ("check", "care")
        if level.rejects:
            icon, tone = "cross", "wrong"
        drawn.append(
            {**level._asdict(), "key": str(len(rubric.levels) - place), "icon": icon, "tone": tone}
        )
    return drawn


def current_decision(narrative: Narrative) -> Decision | None:
    """Return the current decision on an older version, or None."""
    return Decision.objects.current().select_related("by").filter(narrative=narrative).first()


class ReviewRow(NamedTuple):
    """A row of the list: an altered narrative, the progress of its reviews, and its verdict."""

    pair: InstructionPair
    narrative: Narrative
    text: str
    submitted: int
    wanted: int
    # The verdict and the decision are None if the reader may not see them yet.
    verdict: Verdict | None
    decision: Decision | None
    # Whether the reader holds a review assignment, and has submitted a review.
    held: bool
    mine: bool
    # Whether it is to be reviewed: drawn, or there is no current draw.
    drawn: bool = True

    @property
    def waits(self) -> bool:
        """Whether its reviews have an outcome and nobody has decided."""
        return self.verdict in {Verdict.PASSED, Verdict.REJECTED} and self.decision is None


def under_review(member: Membership) -> QuerySet[Any]:
    """Return the current altered narratives of a project, with `is_drawn`: whether they are to be
    reviewed.
    """
    in_force = ReviewDraw.objects.current().filter(project=member.project_id)
    drawn = DrawnPair.objects.filter(pair=OuterRef("pair"), draw__in=in_force)
    return (
        Narrative.objects.current()
        .filter(pair__project=member.project_id, side=Narrative.Side.ALTERED)
        .annotate(is_drawn=~Exists(in_force) | Exists(drawn))
        .select_related("pair__query")
    )


def review_rows(member: Membership, narratives: Sequence[Any]) -> list[ReviewRow]:
    """Return a row for each narrative of `under_review`: a fixed number of queries."""
    passes = passes_of(narratives)
    decisions = {
        decision.narrative_id: decision
        for decision in Decision.objects.current()
        .select_related("by")
        .filter(narrative__in=narratives)
    }
    held = set(
        member.assignments.filter(
            task=Assignment.Task.REVIEW, pair__in=[narrative.pair_id for narrative in narratives]
        ).values_list("pair_id", flat=True)
    )
    rows = []
    for narrative in narratives:
        reviews = passes.get(narrative.pk, [])
        mine = any(review_pass.review.auditor_id == member.pk for review_pass in reviews)
        # The verdict is visible after one's own review, and to leads who owe none.
        owes = narrative.pair_id in held and not mine and not narrative.is_by(member)
        sees = mine or (member.leads and not owes)
        rows.append(
            ReviewRow(
                pair=narrative.pair,
                narrative=narrative,
                text=narrative.text,
                submitted=len(reviews),
                wanted=member.project.overlap_review if narrative.is_drawn else 0,
                verdict=verdict_of(reviews, member.project) if sees else None,
                decision=decisions.get(narrative.pk) if sees else None,
                held=narrative.pair_id in held,
                mine=mine,
                drawn=narrative.is_drawn,
            )
        )
    return rows
