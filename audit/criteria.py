"""The six criteria on which an instruction is rated, and their levels.

FollowTable, section 4.2 and Table 2. PURE: no Django. The rubric's version goes with every review,
so that a later wording never speaks for an older one.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

RUBRIC_VERSION = "followtable-1"


class Level(StrEnum):
    """How well an instruction meets a criterion, best first."""

    EXCELLENT = "excellent"
    ACCEPTABLE = "acceptable"
    POOR = "poor"


class Criterion(NamedTuple):
    """One question an auditor answers about an instruction."""

    key: str
    name: str
    asks: str
    poor_when: str
    good_example: str
    poor_example: str


CRITERIA: tuple[Criterion, ...] = (
    Criterion(
        "semantic_expansion",
        "Semantic expansion",
        "Does it add a non-trivial constraint that narrows what is retrieved?",
        "The constraint is decorative or vacuous.",
        "Query: ferry timetables. “Only crossings that carry lorries in winter.”",
        "Query: ferry timetables. “The table should be informative.”",
    ),
    Criterion(
        "semantic_consistency",
        "Semantic consistency",
        "Is it a logical refinement of the query, with no shift of topic?",
        "It contradicts the query or turns to an unrelated topic.",
        "Query: wheat yields. “Yields of the last ten years, by region.”",
        "Query: wheat yields. “Tables on the price of tractors.”",
    ),
    Criterion(
        "query_dependency",
        "Query dependency",
        "Does it rely on the query's context in a meaningful way?",
        "It repeats the query word for word, so that the query is redundant.",
        "Query: bridge inspections. “Only those that led to a closure.”",
        "Query: bridge inspections. “Find tables on bridge inspections that led to a closure.”",
    ),
    Criterion(
        "constraint_abstraction",
        "Constraint abstraction",
        "Are its constraints conceptual or categorical?",
        "It overfits particular values of a document, as a fingerprint would.",
        "Query: marathon results. “Races held above 1,500 metres.”",
        "Query: marathon results. “The table in which 2:14:07 stands in the third row.”",
    ),
    Criterion(
        "category_focus",
        "Category-aware focus",
        "Does the constraint's type match its focus, content or schema?",
        "A schema-type instruction asks for content, or the reverse.",
        "Type S1. “A column for the year and one for the country.”",
        "Type S1. “Only years in which exports fell.”",
    ),
    Criterion(
        "internal_consistency",
        "Internal consistency",
        "Is it free of self-contradiction?",
        "It requires and excludes the same property.",
        "“European lakes, without artificial ones.”",
        "“Only artificial lakes, and no reservoirs or dammed waters of any kind.”",
    ),
)

CRITERION_KEYS: tuple[str, ...] = tuple(criterion.key for criterion in CRITERIA)


class Verdict(StrEnum):
    """What the reviews of one narrative version amount to."""

    UNREVIEWED = "unreviewed"
    INCOMPLETE = "incomplete"
    PASSED = "passed"
    REJECTED = "rejected"


def verdict(reviews: list[dict[str, Level]], wanted: int) -> Verdict:
    """Derive the verdict from submitted reviews (criterion key -> level) of `wanted` auditors.

    Poor by any auditor on any criterion rejects, at once; passing needs every auditor.
    """
    if any(Level.POOR in review.values() for review in reviews):
        return Verdict.REJECTED
    if not reviews:
        return Verdict.UNREVIEWED
    return Verdict.PASSED if len(reviews) >= wanted else Verdict.INCOMPLETE


def straddles_poor(levels: list[Level]) -> bool:
    """Tell whether auditors differ on what decides: some say poor of a criterion, some do not."""
    return Level.POOR in levels and any(level is not Level.POOR for level in levels)
