"""What auditors said of narratives: who may see it yet, and what it amounts to."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce

from annotate.models import Assignment, InstructionPair, Membership, Narrative
from audit.criteria import CRITERIA, Criterion, Level, Verdict, straddles_poor, verdict
from audit.models import Decision, Rating, Review


class Answer(NamedTuple):
    """One auditor's answer to one criterion; `level` is None while there is none."""

    criterion: Criterion
    level: Level | None
    words: str


@dataclass(frozen=True)
class Pass:
    """One auditor's review as pages show it: an answer for each criterion, in their order."""

    review: Review
    answers: list[Answer]

    @property
    def levels(self) -> dict[str, Level]:
        """The levels given, by key of the criterion."""
        return {answer.criterion.key: answer.level for answer in self.answers if answer.level}

    @property
    def unrated(self) -> list[Criterion]:
        """The criteria that have no level yet."""
        return [answer.criterion for answer in self.answers if answer.level is None]

    @property
    def unexplained(self) -> list[Criterion]:
        """The criteria rated poor without a word."""
        return [
            answer.criterion
            for answer in self.answers
            if answer.level is Level.POOR and not answer.words.strip()
        ]


class Said(NamedTuple):
    """Words about one criterion of a narrative version, for whoever rewrites it."""

    criterion: Criterion
    level: Level
    words: str


class Contrast(NamedTuple):
    """What all auditors said on one criterion, and whether they straddle poor."""

    criterion: Criterion
    answers: list[Answer]
    straddles: bool


@dataclass(frozen=True)
class Chapter:
    """One version of a narrative in the story of its pair, with what the reader may see of it."""

    narrative: Narrative
    is_current: bool
    passes: list[Pass]
    # Submitted reviews that the reader may not see yet.
    hidden: int
    decisions: list[Decision] = field(default_factory=list)

    @property
    def decision(self) -> Decision | None:
        """The decision that stands."""
        return next((one for one in self.decisions if one.withdrawn_at is None), None)


def passes_of(narratives: Iterable[Narrative], *, drafts: bool = False) -> dict[int, list[Pass]]:
    """Return the reviews of some narratives by narrative id, first begun first: two queries.

    Drafts are left out unless asked for.
    """
    reviews = Review.objects.filter(narrative__in=[one.pk for one in narratives])
    if not drafts:
        reviews = reviews.submitted()
    found: dict[int, list[Pass]] = defaultdict(list)
    given: dict[int, dict[str, Rating]] = defaultdict(dict)
    listed = list(reviews.select_related("auditor").order_by("pk"))
    for rating in Rating.objects.filter(review__in=[review.pk for review in listed]):
        given[rating.review_id][rating.criterion] = rating
    for review in listed:
        found[review.narrative_id].append(Pass(review, _answers(given[review.pk])))
    return found


def pass_of(narrative: Narrative, by: Membership) -> Pass | None:
    """Return what `by` has said of a narrative so far, or None before the first word."""
    review = Review.objects.filter(narrative=narrative, auditor=by).first()
    if review is None:
        return None
    return Pass(review, _answers({one.criterion: one for one in review.ratings.all()}))


def verdict_of(passes: Iterable[Pass], wanted: int) -> Verdict:
    """Return what submitted reviews amount to when `wanted` auditors are asked."""
    return verdict([one.levels for one in passes], wanted)


def contrasts(passes: list[Pass]) -> list[Contrast]:
    """Put several auditors' answers side by side, criterion by criterion."""
    return [
        Contrast(
            criterion,
            [one.answers[at] for one in passes],
            straddles_poor([level for one in passes if (level := one.answers[at].level)]),
        )
        for at, criterion in enumerate(CRITERIA)
    ]


def words_for(narrative: Narrative) -> list[Said]:
    """Return what auditors wrote about a version, criterion by criterion, without their names."""
    passes = passes_of([narrative])[narrative.pk]
    return [
        Said(answer.criterion, answer.level, answer.words)
        for contrast in contrasts(passes)
        for answer in contrast.answers
        if answer.level is not None and answer.words.strip()
    ]


def to_decide(member: Membership) -> QuerySet[Narrative]:
    """Return the altered narratives in force that wait for a lead's decision.

    Some auditor said poor, or every auditor is heard; and this lead owes no review of it.
    """
    heard = Review.objects.submitted().filter(narrative=OuterRef("pk"))
    poor = Rating.objects.filter(
        review__narrative=OuterRef("pk"), review__submitted_at__isnull=False, level=Level.POOR
    )
    all_heard = heard.order_by().values("narrative").annotate(n=Count("pk")).values("n")
    owed = Assignment.objects.filter(
        pair=OuterRef("pair"), task=Assignment.Task.REVIEW, member=member
    )
    return (
        Narrative.objects.current()
        .filter(
            pair__project=member.project_id,
            pair__removed_at__isnull=True,
            side=Narrative.Side.ALTERED,
        )
        .annotate(heard=Coalesce(Subquery(all_heard), Value(0)))
        .filter(Exists(poor) | Q(heard__gte=member.project.overlap_review))
        .filter(~Exists(Decision.objects.current().filter(narrative=OuterRef("pk"))))
        .filter(~Exists(owed) | Exists(heard.filter(auditor=member)) | Q(author=member))
    )


def must_answer_first(who: Membership, narrative: Narrative) -> bool:
    """Tell whether `who` sits in a review seat of this version and has not submitted yet.

    Who wrote it cannot review it, whatever seat they hold.
    """
    if narrative.author_id == who.pk:
        return False
    seated = Assignment.objects.filter(
        pair=narrative.pair_id, task=Assignment.Task.REVIEW, member=who
    )
    return (
        seated.exists()
        and not Review.objects.submitted().filter(narrative=narrative, auditor=who).exists()
    )


def story(pair: InstructionPair, reader: Membership) -> list[Chapter]:
    """Return the altered versions of a pair, newest first, with what `reader` may see of each.

    Of the version in force, an auditor sees the others' reviews after submitting their own; its
    author once it is sent back or removed; a lead always, unless they have yet to review it. What
    was said of older versions everybody may read: nobody can review those any more.
    """
    versions = list(
        pair.narratives.filter(side=Narrative.Side.ALTERED)
        .select_related("author")
        .order_by("-version")
    )
    passes = passes_of(versions)
    decisions: dict[int, list[Decision]] = defaultdict(list)
    for decision in (
        Decision.objects.filter(narrative__in=versions)
        .select_related("by", "withdrawn_by")
        .order_by("-at", "-pk")
    ):
        decisions[decision.narrative_id].append(decision)
    chapters = []
    for place, narrative in enumerate(versions):
        said = passes[narrative.pk]
        chapter = Chapter(narrative, place == 0, said, 0, decisions[narrative.pk])
        if chapter.is_current and not _may_see(reader, chapter):
            own = [one for one in said if one.review.auditor_id == reader.pk]
            chapter = Chapter(narrative, True, own, len(said) - len(own), [])
        chapters.append(chapter)
    return chapters


def _may_see(reader: Membership, chapter: Chapter) -> bool:
    submitted = {one.review.auditor_id: one.review.submitted_at for one in chapter.passes}
    if reader.pk in submitted:
        return True
    if reader.leads:
        return not must_answer_first(reader, chapter.narrative)
    against = {Decision.Outcome.REVISE, Decision.Outcome.REMOVED}
    return (
        chapter.narrative.author_id == reader.pk
        and chapter.decision is not None
        and chapter.decision.outcome in against
    )


def _answers(given: dict[str, Rating]) -> list[Answer]:
    answers = []
    for criterion in CRITERIA:
        rating = given.get(criterion.key)
        answers.append(
            Answer(
                criterion,
                Level(rating.level) if rating is not None and rating.level else None,
                rating.words if rating is not None else "",
            )
        )
    return answers
