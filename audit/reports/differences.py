"""Where people differ: by query, category, grades, condition and criterion, with the causes.

The counts cover what the queue of disagreements lists: people's answers under current narratives.
People differ where their answers lead to no relevance by the project's rule, or were settled.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import combinations, groupby
from typing import Annotated, NamedTuple

from django.db.models import Count, Exists, OuterRef, Q

from annotate.judgments import cached_counts
from annotate.judgments.answer_counts import (
    AnswerPattern,
    ConditionPattern,
    counts_of,
)
from annotate.judgments.blindness import blind_pairs
from annotate.judgments.consensus import State
from annotate.judgments.in_force import in_pools
from annotate.judgments.models import Adjudication, ConditionAdjudication, Judgment, Verdict
from annotate.pairs.models import Condition, Narrative
from annotate.projects.models import Membership
from audit.reviews import rubrics
from audit.reviews.models import Decision, Rating
from audit.reviews.passes import owes_no_review
from base.bulk import CHUNK

# How many entries of each list to show, those with most to settle first.
TOP = 10


@dataclass
class Spot:
    """A part of the project: how much two or more people answered, and how much they differ."""

    label: str
    # The filter of the queue and of the matrix.
    key: str
    title: str = ""
    compared: int = 0
    open: int = 0
    settled: int = 0

    def add(self, state: State, compared: int) -> None:
        """Add a number of compared documents in one state."""
        self.compared += compared
        self.open += compared if state is State.DISPUTED else 0
        self.settled += compared if state is State.SETTLED else 0

    @property
    def agreed(self) -> int:
        """How many are compared and neither open nor settled."""
        return self.compared - self.open - self.settled

    @property
    def share(self) -> float | None:
        """The share that is open or was settled; None if nothing is compared."""
        return (self.open + self.settled) / self.compared if self.compared else None


class Meeting(NamedTuple):
    """How often two people gave these two grades to one document."""

    lower: int
    higher: int
    times: int


class CauseCount(NamedTuple):
    """How many decisions name a cause."""

    cause: Adjudication.Cause
    name: str
    decisions: int


@dataclass
class Differences:
    """Where people differ, each list with most to settle first."""

    everything: Spot
    queries: list[Spot] = field(default_factory=list)
    categories: list[Spot] = field(default_factory=list)
    conditions: list[Spot] = field(default_factory=list)
    criteria: list[Spot] = field(default_factory=list)
    instructions: Annotated[int, "Instructions that two or more people reviewed."] = 0
    meetings: Annotated[
        list[Meeting], "Every two grades, equal ones too, with the number of pairs of answers."
    ] = field(default_factory=list)
    causes: Annotated[
        list[CauseCount], "Why decisions were needed, the most frequent cause first."
    ] = field(default_factory=list)

    @property
    def answers(self) -> int:
        """The number of pairs of answers whose grades were compared."""
        return sum(one.times for one in self.meetings)

    @property
    def apart(self) -> list[Meeting]:
        """Grades that differ, those that meet most often first."""
        found = (one for one in self.meetings if one.lower != one.higher and one.times)
        return sorted(found, key=lambda one: (-one.times, one.lower, one.higher))


def differences(reader: Membership) -> Differences:
    """Count where people differ, as far as the reader may see it: at most twenty queries."""
    pairs = {
        narrative: (query, title, category)
        for narrative, query, title, category in Narrative.objects.in_force(
            [reader.project_id]
        ).values_list("pk", "pair__query__query_id", "pair__query__title", "pair__category")
    }
    found = Differences(Spot("", ""))
    queries: dict[str, Spot] = {}
    categories: dict[str, Spot] = {}
    met: Counter[tuple[int, int]] = Counter()
    rule = reader.project.consensus
    for narrative, pattern in _patterns(reader):
        people, documents = len(pattern.grades), len(pattern.candidates)
        state = pattern.outcome(rule).state
        if people < 2 and state is not State.SETTLED:
            continue
        query, title, category = pairs[narrative]
        for spot in (
            found.everything,
            queries.setdefault(query, Spot(query, query, title)),
            categories.setdefault(category, Spot(category, category)),
        ):
            spot.add(state, documents)
        for grade in pattern.grades:
            met[grade, grade] += 0
        for grades in combinations(pattern.grades, 2):
            met[grades] += documents
    found.queries = _sort_spots(queries.values())
    found.categories = _sort_spots(categories.values())
    found.meetings = [Meeting(*grades, times) for grades, times in sorted(met.items())]
    found.conditions = _conditions(reader)
    criteria = _criteria(reader)
    found.criteria = _sort_spots(criteria)
    found.instructions = max((spot.compared for spot in criteria), default=0)
    found.causes = _causes(reader)
    return found


def _patterns(reader: Membership) -> Iterator[tuple[int, AnswerPattern]]:
    """Yield the grades that people gave under each current narrative (by key).

    In pairs that the reader judges, this covers only documents that they have judged.
    """
    blind = blind_pairs(reader)
    judged: dict[int, set[int]] = {}
    mine = Judgment.objects.current().filter(annotator=reader, narrative__pair__in=blind)
    for narrative, candidate in mine.values_list("narrative_id", "candidate_id") if blind else ():
        judged.setdefault(narrative, set()).add(candidate)
    states = cached_counts.states_of_newest([reader.project])
    pairs = {state.narrative: state.pair for state in states}
    for narrative, counted in counts_of(states).items():
        for pattern in counted.patterns:
            if pairs[narrative] in blind:
                seen = sorted(judged.get(narrative, set()).intersection(pattern.candidates))
                pattern = replace(pattern, candidates=seen)
            if pattern.candidates:
                yield narrative, pattern


def _sort_spots(spots: Iterable[Spot]) -> list[Spot]:
    """Return the spots with something open or settled, those with most open ones first."""
    found = [spot for spot in spots if spot.open or spot.settled]
    return sorted(found, key=lambda spot: (-spot.open, -(spot.share or 0), spot.label))


def _conditions(reader: Membership) -> list[Spot]:
    """Return the conditions, by name or else number, on which verdicts differ."""
    names = {
        pk: name or str(number)
        for pk, name, number in Condition.objects.filter(
            narrative__in=Narrative.objects.in_force([reader.project_id]).values("pk")
        ).values_list("pk", "name", "number")
    }
    spots: dict[str, Spot] = {}
    for pattern in _verdicts(reader) if names else ():
        if len(pattern.answers) < 2 and pattern.settled is None:
            continue
        name = names[pattern.condition]
        state = pattern.state(reader.project.consensus)
        spots.setdefault(name, Spot(name, name)).add(state, pattern.documents)
    return _sort_spots(spots.values())


def _verdicts(reader: Membership) -> Iterator[ConditionPattern]:
    """Yield people's answers to each condition.

    In pairs that the reader judges, this covers only documents that they have judged.
    """
    blind = blind_pairs(reader)
    states = cached_counts.states_of_newest([reader.project])
    counts = counts_of(one for one in states if one.pair not in blind)
    for counted in counts.values():
        yield from counted.conditions
    if not blind:
        return
    narratives = Narrative.objects.in_force([reader.project_id]).filter(pair__in=blind).values("pk")
    own = Judgment.objects.current().filter(
        narrative=OuterRef("statement__narrative"),
        candidate=OuterRef("statement__candidate"),
        annotator=reader,
    )
    rows = (
        Verdict.objects.current()
        .of_people()
        .filter(Exists(own), statement__narrative__in=narratives)
        .order_by("condition_id", "statement__candidate_id")
        .values_list("condition_id", "statement__candidate_id", "answer")
    )
    decisions = ConditionAdjudication.objects.current().filter(narrative__in=narratives)
    settled = decisions.values_by_question()
    for place, answers in groupby(rows.iterator(CHUNK), lambda row: row[:2]):
        pattern = tuple(answer for *_, answer in answers)
        yield ConditionPattern(place[0], pattern, settled.get(place), 1)


def _criteria(reader: Membership) -> list[Spot]:
    """Return the criteria, with how often one auditor rejects and another does not.

    The queue lists no instruction that a lead sent back without a decision on its reviews.
    """
    in_force = Narrative.objects.in_force([reader.project_id])
    decisions = Decision.objects.current().filter(narrative__in=in_force.values("pk"))
    decided = set(decisions.values_list("narrative_id", flat=True))
    listed = in_force.filter(Q(sent_back_at=None) | Q(pk__in=decisions.values("narrative")))
    rows = Rating.objects.filter(
        review__submitted_at__isnull=False,
        review__auditor__is_machine=False,
        review__narrative__in=listed.values("pk"),
        rejects__isnull=False,
    )
    rows = rows.filter(owes_no_review(reader, narrative="review__narrative"))
    grouped = (
        rows.order_by()
        .values_list("criterion", "review__narrative_id")
        .annotate(against=Count("pk", filter=Q(rejects=True)), all=Count("pk"))
    )
    names = rubrics.criterion_names(rubrics.chosen_rubrics(reader.project_id))
    spots: dict[str, Spot] = {}
    for criterion, narrative, against, every in grouped:
        if every < 2:
            continue
        spot = spots.setdefault(criterion, Spot(names.get(criterion, criterion), criterion))
        spot.compared += 1
        if 0 < against < every:
            spot.open += narrative not in decided
            spot.settled += narrative in decided
    return list(spots.values())


def _causes(reader: Membership) -> list[CauseCount]:
    """Return the causes in settling decisions, the most frequent first."""
    counted = dict(
        Adjudication.objects.current()
        .filter(
            in_pools(), narrative__in=Narrative.objects.in_force([reader.project_id]).values("pk")
        )
        .exclude(narrative__pair__in=blind_pairs(reader))
        .order_by()
        .values_list("cause")
        .annotate(n=Count("pk"))
    )
    causes = [
        CauseCount(cause, str(cause.label), counted[cause.value])
        for cause in Adjudication.Cause
        if counted.get(cause.value)
    ]
    return sorted(causes, key=lambda cause: -cause.decisions)
