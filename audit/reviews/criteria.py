"""Rubrics: the criteria and levels that instructions are rated on.

PURE: no Django. A rubric's name includes its version and is stored with every review, so that a
later wording never applies to an older review. Rubrics of a project are rows of the same shape
(`audit.models.Rubric`, read by `audit.reviews.rubrics`).
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from formats.records import CriterionRecord as Criterion
from formats.records import LevelRecord as Level
from formats.records import RubricRecord

__all__ = [
    "DEFAULT",
    "FOLLOWTABLE",
    "MULTICONIR",
    "SHIPPED",
    "Criterion",
    "Level",
    "Rubric",
]


class Rubric(RubricRecord):
    """The criteria of a review and the levels that each is rated on, best first."""

    __slots__ = ()

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of the criteria, in their order."""
        return tuple(criterion.key for criterion in self.criteria)

    def level(self, value: str) -> Level | None:
        """Return the level with this value, or None."""
        return next((level for level in self.levels if level.value == value), None)

    def place(self, level: Level) -> int:
        """Return the place of a level on the scale: 0 is the best."""
        return self.levels.index(level)


FOLLOWTABLE = Rubric(
    "followtable-1",
    "FollowTable: six criteria",
    (
        Level("excellent", "Excellent", "It meets the criterion fully."),
        Level("acceptable", "Acceptable", "It meets it with a weakness that does not mislead."),
        Level("poor", "Poor", "It does not meet it, and cannot stay as it is.", rejects=True),
    ),
    (
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
    ),
)

MULTICONIR = Rubric(
    "multiconir-1",
    "MultiConIR: is the query valid",
    (
        Level("valid", "Valid", "A careful reader would let it stand."),
        Level("not_valid", "Not valid", "A careful reader would not let it stand.", rejects=True),
    ),
    (
        Criterion(
            "natural",
            "Natural",
            "Could a person have asked it in these words?",
            "It is not how anybody asks: broken, padded, or strung together by a machine.",
            "“Find a film set in Lisbon whose main character drives a tram.”",
            "“Find a film film of which Lisbon set is and tram.”",
        ),
        Criterion(
            "precise",
            "Precise",
            "Is it clear of each condition when a document meets it?",
            "Two careful readers could differ on whether a document meets a condition.",
            "“Published in 2011. Has a glossary.”",
            "“Rather recent. Good for those who like such books.”",
        ),
        Criterion(
            "plausible",
            "Plausible",
            "Could one document meet all of its conditions together?",
            "Its conditions contradict each other, or no such thing can be.",
            "“A case of a woman of 46 who keeps parrots and does not smoke.”",
            "“A silent film of 1915 with a song that won a prize in 1980.”",
        ),
    ),
)

# The rubrics shipped with Rejudge, by name.
SHIPPED: dict[str, Rubric] = {rubric.name: rubric for rubric in (FOLLOWTABLE, MULTICONIR)}
# The rubric of a project that has not chosen one.
DEFAULT = FOLLOWTABLE


class Verdict(StrEnum):
    """The result of the reviews of one narrative version."""

    UNREVIEWED = "unreviewed"
    INCOMPLETE = "incomplete"
    PASSED = "passed"
    REJECTED = "rejected"


def verdict(
    reviews: Iterable[Iterable[Level]], wanted: int, *, by_majority: bool = False
) -> Verdict:
    """Return the verdict of submitted reviews, given their levels and the number wanted.

    A rejecting level by any auditor on any criterion rejects at once; with `by_majority`, more than
    half of the auditors must give one, each on any criterion. Passing needs every wanted review.
    """
    answers = [list(levels) for levels in reviews]
    against = sum(any(level.rejects for level in levels) for levels in answers)
    if against > (max(wanted, len(answers)) / 2 if by_majority else 0):
        return Verdict.REJECTED
    if not answers:
        return Verdict.UNREVIEWED
    return Verdict.PASSED if len(answers) >= wanted else Verdict.INCOMPLETE


def straddles(levels: Iterable[Level]) -> bool:
    """Return whether some of the auditors reject on a criterion and some do not."""
    return len({level.rejects for level in levels}) > 1
