"""The list of reviewed instructions: its filter and its rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from django.db.models import Exists, OuterRef, Q, QuerySet

from annotate.pairs.models import Assignment, InstructionPair, Narrative, is_in_draw
from annotate.projects.models import Membership
from audit.reviews import rejected
from audit.reviews.criteria import Rubric, Verdict
from audit.reviews.models import Decision, Rating, Review
from audit.reviews.passes import narratives_to_decide, owes_no_review, passes_of, verdict_of

TO_DECIDE, SENT_BACK, DRAWN = "to-decide", "sent-back", "drawn"
# What leads can list, with its name on the page; the outcomes are those of current decisions.
STATES = {
    TO_DECIDE: "To decide",
    SENT_BACK: "Sent back",
    Decision.Outcome.ACCEPTED.value: "Accepted",
    Decision.Outcome.REMOVED.value: "Removed",
    DRAWN: "Drawn",
}
# The same value selects pairs without a category in the matrix of documents.
NO_CATEGORY = "-"


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


class ReviewRow(NamedTuple):
    """A row of the list: an altered narrative, the progress of its reviews, and its verdict."""

    pair: InstructionPair
    narrative: Narrative
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
        """Whether its reviews have an outcome, and nobody decided, sent it back or took it out."""
        is_over = self.decision or self.narrative.sent_back_at or self.pair.removed_at
        return not is_over and self.verdict in {Verdict.PASSED, Verdict.REJECTED}


def under_review(member: Membership) -> QuerySet[Any]:
    """Return the current altered narratives of a project, with `is_drawn`: whether they are to be
    reviewed.
    """
    return (
        Narrative.objects.current()
        .filter(pair__project=member.project_id, side=Narrative.Side.ALTERED)
        .annotate(is_drawn=is_in_draw("pair__"))
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


class ReviewFilter(NamedTuple):
    """Filters of the list of instructions; all by default. The last three are for leads."""

    state: str = ""
    search: str = ""
    category: str = ""
    #: Keys of members: who wrote the instruction, who submitted a review of it.
    author: int | None = None
    auditor: int | None = None
    #: The key of a criterion on which an auditor rejects.
    criterion: str = ""


def filter_reviews(member: Membership, filters: ReviewFilter) -> QuerySet[Narrative]:
    """Return the current altered narratives that match the filters.

    Filters by outcome, auditor or criterion return only narratives whose reviews this reader may
    see. For anybody except a lead, only words and category count.
    """
    rows = under_review(member)
    if filters.search:
        rows = rows.filter(
            Q(text__icontains=filters.search)
            | Q(pair__pair_id__icontains=filters.search)
            | Q(pair__query__title__icontains=filters.search)
        )
    if filters.category:
        key = "" if filters.category == NO_CATEGORY else filters.category
        rows = rows.filter(pair__category=key)
    if not member.leads:
        return rows
    if filters.state == TO_DECIDE:
        rows = rows.filter(pk__in=narratives_to_decide(member).values("pk"))
    elif filters.state == SENT_BACK:
        sent_back = rejected.rejected(member.project, by=member, everyone=True)
        rows = rows.filter(pk__in=sent_back.values("pk"))
    elif filters.state == DRAWN:
        rows = rows.filter(is_drawn=True)
    elif filters.state:
        decided = Decision.objects.current().filter(narrative=OuterRef("pk"))
        rows = rows.filter(owes_no_review(member), Exists(decided.filter(outcome=filters.state)))
    if filters.author is not None:
        rows = rows.filter(author=filters.author)
    if filters.auditor is not None or filters.criterion:
        rows = rows.filter(owes_no_review(member))
    if filters.auditor is not None:
        submitted = Review.objects.submitted().filter(narrative=OuterRef("pk"))
        rows = rows.filter(Exists(submitted.filter(auditor=filters.auditor)))
    if filters.criterion:
        against = Rating.objects.of_people().filter(
            review__narrative=OuterRef("pk"),
            review__submitted_at__isnull=False,
            rejects=True,
            criterion=filters.criterion,
        )
        rows = rows.filter(Exists(against))
    return rows
