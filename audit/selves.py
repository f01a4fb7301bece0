"""Each person with themselves: what they said of a document, and what when it came again, unmarked.

A unit is a document that came again to one person under a narrative in force; its two raters are
the first time and the second. What the first time said is what stood when the second was given: a
grade that was changed afterwards tells nothing of two fresh looks.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any, NamedTuple

from annotate.models import Judgment, Narrative, Project, Repeat

# What the two columns are called.
TIMES = ("first", "again")


class Twice(NamedTuple):
    """Two answers of one person to one document under one narrative."""

    narrative: int
    candidate: int
    first: int
    again: int


class Selves(NamedTuple):
    """What people said twice, by their names, and what was left out, by its reason.

    Reasons hold `{repeats}` where the noun belongs: its number depends on the count.
    """

    people: dict[str, list[Twice]]
    left_out: dict[str, int]

    @property
    def everybody(self) -> list[Twice]:
        """All answers of all people."""
        return [twice for answers in self.people.values() for twice in answers]


def selves(project: Project) -> Selves:
    """Return what people said twice: three queries, in the order of names and of the rows."""
    said = (
        Repeat.objects.current()
        .filter(annotator__project=project, annotator__is_machine=False)
        .order_by("annotator__name", "pk")
    )
    in_force = set(
        Narrative.objects.current()
        .filter(pair__project=project, pair__removed_at__isnull=True)
        .values_list("pk", flat=True)
    )
    rows: list[Any] = list(
        said.values_list(
            "narrative",
            "candidate",
            "annotator",
            "annotator__name",
            "relevance",
            "first__relevance",
            "first__withdrawn_at",
        )
    )
    later = _said_later(rows)
    people: dict[str, list[Twice]] = defaultdict(list)
    left_out: dict[str, int] = defaultdict(int)
    for narrative, candidate, annotator, name, again, first, taken_back in rows:
        if narrative not in in_force:
            left_out["{repeats} under an older version of the narrative"] += 1
            continue
        if again is None:
            left_out["{repeats} flagged instead of judged"] += 1
            continue
        if first is None or taken_back is not None:
            first = later.get((narrative, candidate, annotator))
        if first is None:
            left_out["{repeats} of a document with no first judgment"] += 1
            continue
        people[name].append(Twice(narrative, candidate, first, again))
    return Selves(dict(people), dict(left_out))


def _said_later(rows: list[Any]) -> dict[tuple[int, int, int], int]:
    """What stands now of documents whose first time had no judgment when they came again, or one
    that was taken back since.
    """
    open_ones = {
        (narrative, candidate, annotator)
        for narrative, candidate, annotator, _, _, first, taken_back in rows
        if first is None or taken_back is not None
    }
    if not open_ones:
        return {}
    narratives, candidates, annotators = map(set, zip(*open_ones, strict=True))
    standing = Judgment.objects.current().filter(
        narrative__in=narratives, candidate__in=candidates, annotator__in=annotators
    )
    return {
        (narrative, candidate, annotator): relevance
        for narrative, candidate, annotator, relevance in standing.values_list(
            "narrative", "candidate", "annotator", "relevance"
        )
        if (narrative, candidate, annotator) in open_ones
    }
