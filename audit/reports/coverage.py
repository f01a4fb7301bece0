"""How a project's instructions cover its taxonomy, with the decisions on them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from django.db.models import Count, Exists, OuterRef, Q

from annotate.pairs.models import InstructionPair, Narrative
from annotate.projects.models import Membership
from audit.reviews.models import Decision
from audit.reviews.passes import owes_no_review
from base.natural_order import natural


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

    Accepted: the current decision accepts the current altered narrative. Revised: sent back at
    least once. Removed: no longer worked on. The counts leave out decisions on instructions that
    the reader has yet to review. Queries that were taken out do not count.
    """
    categories = {
        category.key: CategoryCoverage(category.key, category.name, category.sentence)
        for category in reader.project.categories.order_by("place", "key")
    }
    has_categories = bool(categories)
    newest = Narrative.objects.current().filter(side=Narrative.Side.ALTERED)
    decided = Decision.objects.current().filter(narrative__pair=OuterRef("pk"))
    accepted = decided.filter(outcome=Decision.Outcome.ACCEPTED, narrative__in=newest.values("pk"))
    sent_back = Decision.objects.filter(
        narrative__pair=OuterRef("pk"),
        outcome=Decision.Outcome.REVISE,
        withdrawn_at__isnull=True,
    )
    owed = newest.filter(~owes_no_review(reader), pair__project=reader.project_id)
    hidden = list(owed.values_list("pair__pk", flat=True))
    may_see = ~Q(pk__in=hidden)
    instructed = Narrative.objects.filter(pair=OuterRef("pk")).exclude(side=Narrative.Side.ORIGINAL)
    rows = (
        InstructionPair.objects.filter(project=reader.project_id, query__removed_at__isnull=True)
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
