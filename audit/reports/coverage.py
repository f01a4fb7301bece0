"""How a project's instructions cover its taxonomy, with figures of each category."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

from django.db.models import Count, Exists, OuterRef, Q

from annotate.pairs.models import InstructionPair, Narrative, is_taken_out
from annotate.projects.models import Membership
from audit.checks.models import RESAMPLES, SEED
from audit.reports.report_parts import ratings_of
from audit.reports.scopes import WHOLE, rubric_of
from audit.reports.unit_counts import Patterns, ratings_in, review_patterns
from audit.reviews.criteria import Criterion, Rubric
from audit.reviews.models import Decision
from audit.reviews.passes import owes_no_review
from base.texts import natural

if TYPE_CHECKING:
    from agreement import Coefficient


@dataclass
class CategoryCoverage:
    """One category with its pairs. A pair that was sent back may have been accepted since."""

    key: str
    name: str
    sentence: str = ""
    # Whether the project's taxonomy has it.
    known: bool = True
    pairs: int = 0
    accepted: int = 0
    revised: int = 0
    removed: int = 0
    combined: Annotated[
        int, "Pairs whose category joins this type with others of the taxonomy: “Audience, Length”."
    ] = 0

    @property
    def undecided(self) -> int:
        """Pairs that are neither accepted nor removed."""
        return self.pairs - self.accepted - self.removed


@dataclass(frozen=True)
class Coverage:
    """Every category of the taxonomy in its order, then those that only pairs name."""

    categories: list[CategoryCoverage]

    @property
    def pairs(self) -> int:
        """Pairs of every category."""
        return sum(category.pairs for category in self.categories)

    @property
    def empty(self) -> list[CategoryCoverage]:
        """Types of the taxonomy that no pair has, alone or joined with others, except removed
        pairs.
        """
        return [
            category
            for category in self.categories
            if category.known and category.pairs == category.removed and not category.combined
        ]

    @property
    def unknown(self) -> list[CategoryCoverage]:
        """Categories that pairs name and the taxonomy does not have."""
        return [category for category in self.categories if not category.known and category.key]

    @property
    def is_by_category(self) -> bool:
        """Whether the project has categories, or a pair names one."""
        return any(category.key for category in self.categories)

    @property
    def most(self) -> int:
        """The pairs of the largest category: the scale of the chart."""
        return max((category.pairs for category in self.categories), default=0)


def coverage(reader: Membership) -> Coverage:
    """Count the pairs of each category by the decisions on them: four queries.

    A query without an instruction (no category, and no narrative except the original one) does not
    count. A category that joins types of the taxonomy is known, and counts for each of them.

    Accepted: the current decision accepts the current altered narrative, and no lead sent it back
    since. Revised: sent back at least once. Removed: by a decision on its reviews. The counts leave
    out decisions on instructions that the reader has yet to review. Pairs and queries that a lead
    took out do not count.
    """
    categories = {
        category.key: CategoryCoverage(category.key, category.name, category.sentence)
        for category in reader.project.categories.order_by("place", "key")
    }
    has_categories = bool(categories)
    newest = Narrative.objects.current().filter(side=Narrative.Side.ALTERED)
    decided = Decision.objects.current().filter(narrative__pair=OuterRef("pk"))
    # By joins: a subquery would read the narratives of all projects for each pair.
    accepted = decided.filter(
        outcome=Decision.Outcome.ACCEPTED,
        narrative__is_current=True,
        narrative__side=Narrative.Side.ALTERED,
        narrative__sent_back_at=None,
    )
    sent_back = Narrative.objects.filter(pair=OuterRef("pk"), sent_back_at__isnull=False)
    owed = newest.filter(~owes_no_review(reader), pair__project=reader.project_id)
    hidden = list(owed.values_list("pair__pk", flat=True))
    may_see = ~Q(pk__in=hidden)
    instructed = Narrative.objects.filter(pair=OuterRef("pk")).exclude(side=Narrative.Side.ORIGINAL)
    rows = (
        InstructionPair.objects.filter(~is_taken_out(), project=reader.project_id)
        .exclude(~Exists(instructed), category="")
        .order_by()
        .annotate(is_accepted=Exists(accepted), is_revised=Exists(sent_back))
        .values_list("category")
        .annotate(
            n=Count("pk"),
            accepted=Count("pk", filter=may_see & Q(is_accepted=True, removed_at__isnull=True)),
            revised=Count("pk", filter=may_see & Q(is_revised=True)),
            removed=Count("pk", filter=Q(removed_at__isnull=False)),
        )
    )
    for key, pairs, good, revised, removed in sorted(rows, key=lambda row: natural(row[0])):
        joined = _types_of(key, categories) if has_categories and key not in categories else []
        for kind in joined:
            kind.combined += pairs - removed
        is_known = bool(joined) or (not has_categories and bool(key))
        covered = categories.setdefault(key, CategoryCoverage(key, key, known=is_known))
        covered.pairs, covered.accepted = pairs, good
        covered.revised, covered.removed = revised, removed
    return Coverage(list(categories.values()))


def _types_of(category: str, categories: Mapping[str, CategoryCoverage]) -> list[CategoryCoverage]:
    """Return the types that a category joins with commas; empty if one of them is unknown."""
    types = {
        name.casefold(): category
        for category in categories.values()
        for name in (category.key, category.name)
    }
    parts = [part.strip().casefold() for part in category.split(",")]
    if len(parts) < 2 or not all(part in types for part in parts):
        return []
    return [types[part] for part in parts]


@dataclass(frozen=True)
class CriterionFigures:
    """How the instructions of a category are rated on one criterion."""

    key: str
    name: str
    levels: Annotated[dict[str, int], "Ratings by level."]
    rejecting: Annotated[int, "Ratings at a level that sends the instruction back."]
    ratings: Annotated[int, "Ratings at any level."]
    share: Annotated[float | None, "The share of ratings that reject, if there are any."]


@dataclass(frozen=True)
class CategoryFigures:
    """One category: the decisions, the ratings, and how much auditors agree."""

    key: Annotated[str, "Empty for instructions without a category."]
    pairs: int
    accepted: int
    sent_back: Annotated[int, "Instructions that were sent back at least once."]
    removed: int
    criteria: list[CriterionFigures]
    percent: Annotated[
        Coefficient | None, "A unit is one criterion of an instruction; null without a rating."
    ]
    kappa: Coefficient | None

    @property
    def sent_back_share(self) -> float:
        """The share of its instructions that were sent back at least once."""
        return self.sent_back / self.pairs

    @property
    def removed_share(self) -> float:
        """The share of its instructions that were removed."""
        return self.removed / self.pairs


@dataclass(frozen=True)
class ByCategory:
    """The figures of every category that has instructions, under one rubric."""

    rubric: Rubric
    categories: list[CategoryFigures]

    @property
    def is_reviewed(self) -> bool:
        """Whether people have rated any instruction."""
        return any(criterion.ratings for each in self.categories for criterion in each.criteria)

    def by_criterion(self) -> Iterator[dict[str, Any]]:
        """Yield each criterion with its figures in every category, as the page lists them."""
        for place, criterion in enumerate(self.rubric.criteria):
            figures = [category.criteria[place] for category in self.categories]
            yield {"criterion": criterion, "figures": figures}


def by_category(reader: Membership, counted: Coverage | None = None) -> ByCategory:
    """Return the figures of each category that has instructions, for a lead who may see reviews.

    These count people's ratings in submitted reviews under the newest review's rubric, of every
    version of the narratives. `counted` is the coverage, if it is known already. Six queries at
    most, however many categories there are.
    """
    project = reader.project
    rubric = rubric_of(project)
    levels: dict[tuple[str, str], Counter[str]] = {}
    rows: Any = (
        ratings_in(project, WHOLE, rubric)
        .exclude(level="")
        .order_by()
        .values_list("review__narrative__pair__category", "criterion", "level")
        .annotate(n=Count("pk"))
    )
    for category, criterion, level, n in rows:
        levels.setdefault((category, criterion), Counter())[level] += n
    patterns = review_patterns(project, WHOLE, rubric, by="category")
    scale = list(range(len(rubric.levels)))
    figures = []
    for covered in (counted or coverage(reader)).categories:
        if not covered.pairs:
            continue
        criteria = [
            _criterion(criterion, levels.get((covered.key, criterion.key)), rubric)
            for criterion in rubric.criteria
        ]
        percent, kappa = _agreement(patterns.get(covered.key), scale)
        figures.append(
            CategoryFigures(
                key=covered.key,
                pairs=covered.pairs,
                accepted=covered.accepted,
                sent_back=covered.revised,
                removed=covered.removed,
                criteria=criteria,
                percent=percent,
                kappa=kappa,
            )
        )
    return ByCategory(rubric, figures)


def _criterion(
    criterion: Criterion, counted: Counter[str] | None, rubric: Rubric
) -> CriterionFigures:
    levels = {level.value: (counted or Counter())[level.value] for level in rubric.levels}
    ratings = sum(levels.values())
    rejecting = sum(levels[level.value] for level in rubric.levels if level.rejects)
    return CriterionFigures(
        key=criterion.key,
        name=criterion.name,
        levels=levels,
        rejecting=rejecting,
        ratings=ratings,
        share=rejecting / ratings if ratings else None,
    )


def _agreement(
    patterns: Patterns | None, scale: list[int]
) -> tuple[Coefficient | None, Coefficient | None]:
    """Compute percent agreement and Cohen's kappa over all criteria of a category."""
    if not patterns:
        return None, None
    from agreement import cohen_kappa, percent_agreement

    raters = sorted({member for pattern in patterns for member, _value in pattern})
    ratings = ratings_of(patterns, raters, scale)
    # As in reports: resampling the mean over all pairs of many people takes too long for a page.
    how: Literal["auto", "analytic"] = "auto" if len(raters) < 3 else "analytic"
    percent = percent_agreement(ratings, interval="auto", seed=SEED, resamples=RESAMPLES)
    kappa = cohen_kappa(ratings, interval=how, seed=SEED, resamples=RESAMPLES)
    return percent, kappa


def csv_rows(figures: ByCategory) -> Iterator[list[str]]:
    """Yield a header and a line for each category, as a table for a spreadsheet."""
    levels = [level.value for level in figures.rubric.levels]
    criteria = [criterion.key for criterion in figures.rubric.criteria]
    yield [
        *("category", "instructions", "accepted", "sent_back", "removed"),
        *(f"{criterion}_{level}" for criterion in criteria for level in levels),
        *("units", "percent_agreement", "cohen_kappa", "cohen_kappa_low", "cohen_kappa_high"),
    ]
    for category in figures.categories:
        counts = (category.pairs, category.accepted, category.sent_back, category.removed)
        yield [
            category.key,
            *map(str, counts),
            *(str(each.levels[level]) for each in category.criteria for level in levels),
            *_agreement_cells(category),
        ]


def _agreement_cells(category: CategoryFigures) -> list[str]:
    """Return the cells for how much auditors agree; empty cells if it is undefined."""
    if category.percent is None or category.kappa is None:
        return ["0", "", "", "", ""]
    interval = category.kappa.interval or (None, None)
    values = (category.percent.value, category.kappa.value, *interval)
    return [
        str(category.percent.units),
        *("" if value is None else f"{value:.6f}" for value in values),
    ]
