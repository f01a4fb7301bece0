"""What the pages of reviews show beside the reviews themselves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from django.db.models import QuerySet

from annotate.pairs.models import Assignment, InstructionPair, Narrative
from annotate.projects.models import Membership
from audit.reviews.criteria import Rubric, Verdict
from audit.reviews.models import Decision
from audit.reviews.passes import passes_of, verdict_of


def levels_of(rubric: Rubric) -> list[dict[str, Any]]:
    """Return how the levels of a rubric are drawn, best first, and the key that gives each.

    Keys: value, name, sentence, rejects, key, icon (star, check, cross), tone (good, care, wrong).
    """
    drawn = []
    for place, level in enumerate(rubric.levels):
        icon, tone = ("star", "good") if place == 0 else ("check", "care")
        if level.rejects:
            icon, tone = "cross", "wrong"
        drawn.append({**level._asdict(), "key": str(place + 1), "icon": icon, "tone": tone})
    return drawn


def previous_decision(narrative: Narrative) -> Decision | None:
    """Return what was decided on an older version, if anything was."""
    return Decision.objects.current().select_related("by").filter(narrative=narrative).first()


class ListedReview(NamedTuple):
    """An altered narrative in a list: how far its review is, and what the reader may know of it."""

    pair: InstructionPair
    narrative: Narrative
    text: str
    submitted: int
    wanted: int
    # Nothing, where the reader may not see it yet.
    verdict: Verdict | None
    decision: Decision | None
    # Whether the reader has an assignment here, and has submitted a review.
    held: bool
    mine: bool

    @property
    def waits_after_passing(self) -> bool:
        """Whether every auditor let it pass, and nobody has decided."""
        return self.verdict is Verdict.PASSED and self.decision is None


def under_review(member: Membership) -> QuerySet[Narrative]:
    """Return the altered narratives in force of a project's pairs, oldest first."""
    return (
        Narrative.objects.current()
        .filter(pair__project=member.project_id, side=Narrative.Side.ALTERED)
        .select_related("pair__query")
    )


def listed_reviews(member: Membership, narratives: Sequence[Narrative]) -> list[ListedReview]:
    """Return what a list shows of each narrative: a fixed number of queries."""
    passes = passes_of(narratives)
    decisions = {
        one.narrative_id: one
        for one in Decision.objects.current().select_related("by").filter(narrative__in=narratives)
    }
    held = set(
        member.assignments.filter(
            task=Assignment.Task.REVIEW, pair__in=[one.pair_id for one in narratives]
        ).values_list("pair_id", flat=True)
    )
    rows = []
    for narrative in narratives:
        said = passes.get(narrative.pk, [])
        mine = any(one.review.auditor_id == member.pk for one in said)
        # Blind: what others said shows after one's own review, or to leads who owe none.
        owes = narrative.pair_id in held and not mine and narrative.author_id != member.pk
        sees = mine or (member.leads and not owes)
        rows.append(
            ListedReview(
                pair=narrative.pair,
                narrative=narrative,
                text=narrative.text,
                submitted=len(said),
                wanted=member.project.overlap_review,
                verdict=verdict_of(said, member.project.overlap_review) if sees else None,
                decision=decisions.get(narrative.pk) if sees else None,
                held=narrative.pair_id in held,
                mine=mine,
            )
        )
    return rows
