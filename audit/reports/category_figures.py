"""Figures of each category of instructions: criteria, decisions and agreement."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

from django.db.models import Count

from annotate.projects.models import Membership
from audit.checks.models import RESAMPLES, SEED
from audit.reports.coverage import CategoryCoverage, coverage
from audit.reports.patterns import Patterns
from audit.reports.report_parts import ratings_of
from audit.reports.scopes import WHOLE, rubric_of
from audit.reports.unit_counts import ratings_in, review_patterns
from audit.reviews.criteria import Criterion, Rubric

if TYPE_CHECKING:
    from agreement import Coefficient


@dataclass(frozen=True)
class CriterionFigures:
    """How the instructions of a category are rated on one criterion: ratings by level."""

    key: str
    name: str
    levels: Annotated[dict[str, int], "Ratings by level."]
    rejecting: Annotated[int, "Ratings at a level that sends the instruction back."]

    @property
    def ratings(self) -> int:
        """Ratings at any level."""
        return sum(self.levels.values())

    @property
    def share(self) -> float | None:
        """The share of ratings that reject, if there are any."""
        return self.rejecting / self.ratings if self.ratings else None


@dataclass(frozen=True)
class CategoryFigures:
    """One category, with the decisions on its instructions and their ratings."""

    covered: CategoryCoverage
    criteria: list[CriterionFigures]
    # How much auditors agree; a unit is one criterion of an instruction. None without a rating.
    percent: Coefficient | None
    kappa: Coefficient | None

    @property
    def key(self) -> str:
        """The category; "" for instructions without one."""
        return self.covered.key

    @property
    def sent_back_share(self) -> float | None:
        """The share of its instructions that were sent back at least once."""
        return self.covered.revised / self.covered.pairs if self.covered.pairs else None

    @property
    def removed_share(self) -> float | None:
        """The share of its instructions that were removed."""
        return self.covered.removed / self.covered.pairs if self.covered.pairs else None


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


def by_category(reader: Membership) -> ByCategory:
    """Return the figures of each category that has instructions, for a lead who may see reviews.

    These count people's ratings in submitted reviews under the newest review's rubric, of every
    version of the narratives. Six queries, however many categories there are.
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
    for covered in coverage(reader).categories:
        if not covered.pairs:
            continue
        criteria = [
            _criterion(criterion, levels.get((covered.key, criterion.key)), rubric)
            for criterion in rubric.criteria
        ]
        figures.append(
            CategoryFigures(covered, criteria, *_agreement(patterns.get(covered.key), scale))
        )
    return ByCategory(rubric, figures)


def _criterion(
    criterion: Criterion, counted: Counter[str] | None, rubric: Rubric
) -> CriterionFigures:
    of = counted or Counter()
    return CriterionFigures(
        criterion.key,
        criterion.name,
        levels={level.value: of[level.value] for level in rubric.levels},
        rejecting=sum(of[level.value] for level in rubric.levels if level.rejects),
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
        covered = category.covered
        counts = (covered.pairs, covered.accepted, covered.revised, covered.removed)
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
