"""People's answers under each narrative, with those that are alike counted together.

Every page that says how far the work is or where people differ reads these counts. They do not
depend on a project's rules: whoever reads them says which documents judges are shown, and what
relevance their grades lead to. A process keeps the counts of a narrative until something changes
under it (`annotate.judgments.cached_counts`).
"""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from typing import Any, NamedTuple

from django.db.models import Max

from annotate.collection.models import Candidate
from annotate.collection.shown_documents import is_shown_to_judges
from annotate.judgments import cached_counts
from annotate.judgments.consensus import Outcome, State, consensus
from annotate.judgments.models import (
    Adjudication,
    ConditionAdjudication,
    Flag,
    Judgment,
    Verdict,
)
from annotate.pairs.models import InstructionPair
from annotate.projects.models import Project
from base.bulk import listed_values

# The most narratives read at once.
_AT_ONCE = 250


class DocumentClass(NamedTuple):
    """What decides whether a project shows a document to its judges."""

    # The loaded relevance.
    prior: int | None
    # Whether it was written for one instruction.
    generated: bool

    def is_shown(self, project: Project) -> bool:
        """Return whether the project shows such a document to its judges."""
        return is_shown_to_judges(project, prior=self.prior, generated=self.generated)


@dataclass(frozen=True)
class AnswerPattern:
    """Documents under one narrative version that people answered alike."""

    documents: DocumentClass
    # Sorted; one grade for each person.
    grades: tuple[int, ...]
    # How many people gave a final flag and no grade.
    flags: int
    settled: int | None
    # The documents, by the keys of their candidates, sorted.
    candidates: Sequence[int]
    # When the newest grade was given.
    since: datetime | None = None

    @property
    def is_judged(self) -> bool:
        """Whether there is a grade or a decision."""
        return bool(self.grades) or self.settled is not None

    def outcome(self, rule: str) -> Outcome[int]:
        """Return the outcome under a project's rule of consensus."""
        return consensus(self.grades, rule, self.settled)


@dataclass(frozen=True)
class ConditionPattern:
    """Documents for which people gave the same answers to a condition (by key)."""

    condition: int
    # Each answer once for every person who gave it.
    answers: tuple[str, ...]
    settled: str | None
    documents: int
    since: datetime | None = None

    def state(self, rule: str) -> State:
        """Return the state under a project's rule of consensus."""
        return consensus(self.answers, rule, self.settled).state


@dataclass
class AnswerCounts:
    """The answers under one narrative version."""

    patterns: list[AnswerPattern] = field(default_factory=list)
    conditions: list[ConditionPattern] = field(default_factory=list)
    # By person (key) and class of documents.
    people: Counter[tuple[int, DocumentClass]] = field(default_factory=Counter)
    # The active time of the judgments whose time is known (`with_time`), in milliseconds, and their
    # number.
    milliseconds: int = 0
    timed: int = 0

    def by_number(self, project: Project) -> Counter[int]:
        """Count the documents that judges are shown by their number of answers, from 1."""
        documents: Counter[int] = Counter()
        for pattern in self.patterns:
            answers = len(pattern.grades) + pattern.flags
            if answers and pattern.documents.is_shown(project):
                documents[answers] += len(pattern.candidates)
        return documents

    def judged(self, project: Project) -> int:
        """Count the documents that judges are shown and that have a grade or a decision."""
        return sum(
            len(pattern.candidates)
            for pattern in self.patterns
            if pattern.is_judged and pattern.documents.is_shown(project)
        )

    def only_flagged(self, project: Project) -> int:
        """Count the documents that judges are shown and that people flagged and nobody graded."""
        return sum(
            len(pattern.candidates)
            for pattern in self.patterns
            if pattern.flags and not pattern.is_judged and pattern.documents.is_shown(project)
        )

    def by_person(self, project: Project) -> Counter[int]:
        """Count each person's answers to documents that judges are shown."""
        answered: Counter[int] = Counter()
        for (person, documents), answers in self.people.items():
            if documents.is_shown(project):
                answered[person] += answers
        return answered


def counts_of(states: Iterable[cached_counts.NarrativeState]) -> dict[int, AnswerCounts]:
    """Return the counts of these narratives, by key; those without any answer may be missing.

    Six queries if anything has changed under one of them, else none.
    """
    return _COUNTS.of(states, None)


def uncached_counts(narratives: Sequence[int]) -> dict[int, AnswerCounts]:
    """Return the counts of narratives (by key) from the rows of this transaction, uncached."""
    return _count(None, narratives)


def _count(_rules: None, narratives: Sequence[int]) -> dict[int, AnswerCounts]:
    counts: dict[int, AnswerCounts] = defaultdict(AnswerCounts)
    for start in range(0, len(narratives), _AT_ONCE):
        some = narratives[start : start + _AT_ONCE]
        classes = _classes(some)
        _count_documents(counts, some, classes)
        _count_conditions(counts, some, classes)
    return dict(counts)


def _classes(narratives: Sequence[int]) -> dict[int, DocumentClass]:
    """Return the documents in the pools of these narratives, by the key of the candidate."""
    queries = InstructionPair.objects.filter(narratives__in=narratives).values("query")
    rows = Candidate.objects.filter(query__in=queries)
    # One object for each class: there are few.
    classes: dict[tuple[int | None, bool], DocumentClass] = {}
    class_of = {}
    for pk, prior, made_for in rows.values_list("pk", "prior_relevance", "made_for"):
        key = (prior, made_for is not None)
        class_of[pk] = classes.setdefault(key, DocumentClass(*key))
    return class_of


def _count_documents(
    of_narratives: dict[int, AnswerCounts],
    narratives: Sequence[int],
    classes: dict[int, DocumentClass],
) -> None:
    """Count the documents of these narratives, and people's answers to them."""
    flagged: dict[tuple[int, int], list[int]] = defaultdict(list)
    for narrative, candidate, person in (
        Flag.objects.current()
        .filter(narrative__in=narratives, annotator__is_machine=False)
        .exclude(flag=Flag.Kind.LATER)
        .values_list("narrative_id", "candidate_id", "annotator_id")
    ):
        flagged[narrative, candidate].append(person)
    decisions = Adjudication.objects.current().filter(narrative__in=narratives)
    settled = decisions.values_by_question()
    alike: dict[int, dict[tuple[Any, ...], tuple[array[int], list[datetime]]]] = defaultdict(dict)
    for narrative, candidate, grades, people, since, milliseconds, timed in _documents(
        narratives, [*flagged, *settled]
    ):
        if (documents := classes.get(candidate)) is None:
            continue
        counts = of_narratives[narrative]
        flags = flagged.get((narrative, candidate), [])
        for person in (*people, *flags):
            counts.people[person, documents] += 1
        counts.milliseconds += milliseconds
        counts.timed += timed
        key = (documents, grades, len(flags), settled.get((narrative, candidate)))
        candidates, times = alike[narrative].setdefault(key, (array("q"), []))
        candidates.append(candidate)
        times += [since] if since else []
    for narrative, patterns in alike.items():
        of_narratives[narrative].patterns = [
            AnswerPattern(
                documents,
                grades,
                flags,
                decided,
                array("q", sorted(candidates)),
                max(times, default=None),
            )
            for (documents, grades, flags, decided), (candidates, times) in patterns.items()
        ]


def _documents(
    narratives: Sequence[int], others: Iterable[tuple[int, int]]
) -> Iterator[tuple[int, int, tuple[int, ...], tuple[int, ...], datetime | None, int, int]]:
    """Yield the judged documents, and the `others` that are not: narrative, candidate, grades,
    people, time of the newest grade, milliseconds, timed judgments.
    """
    rows = (
        Judgment.objects.current()
        .of_people()
        .filter(narrative__in=narratives)
        .with_time()
        .order_by()
        .values_list("narrative_id", "candidate_id")
        .annotate(
            grades=listed_values("relevance", " "),
            people=listed_values("annotator_id", " "),
            since=Max("at"),
            **Judgment.EFFORT,
        )
    )
    judged = set()
    for narrative, candidate, grades, people, since, ms, timed in rows:
        judged.add((narrative, candidate))
        yield narrative, candidate, _numbers(grades), _numbers(people), since, ms or 0, timed
    for narrative, candidate in {*others} - judged:
        yield narrative, candidate, (), (), None, 0, 0


@lru_cache(10_000)
def _numbers(listed: str) -> tuple[int, ...]:
    """Return the numbers of a list in order. Most documents have the same few lists."""
    return tuple(sorted(map(int, listed.split())))


def _count_conditions(
    of_narratives: dict[int, AnswerCounts],
    narratives: Sequence[int],
    classes: dict[int, DocumentClass],
) -> None:
    """Count people's answers to the conditions of these narratives."""
    rows = (
        Verdict.objects.current()
        .of_people()
        .filter(condition__narrative__in=narratives)
        .order_by()
        .values_list("condition__narrative_id", "condition_id", "statement__candidate_id")
        .annotate(answers=listed_values("answer", " "), since=Max("statement__at"))
    )
    decisions = ConditionAdjudication.objects.current().filter(narrative__in=narratives)
    settled = decisions.values_by_question()
    alike: dict[tuple[int, int, str, str | None], list[datetime]] = defaultdict(list)
    for narrative, condition, candidate, answers, since in rows:
        if candidate in classes:
            listed = " ".join(sorted(answers.split()))
            alike[narrative, condition, listed, settled.get((condition, candidate))].append(since)
    for (narrative, condition, listed, decided), times in alike.items():
        of_narratives[narrative].conditions.append(
            ConditionPattern(condition, tuple(listed.split()), decided, len(times), max(times))
        )


_COUNTS = cached_counts.CachedCounts(_count)
