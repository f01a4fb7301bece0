"""Completion: how much of a project's work is wanted, done and left, defined once for every page.

None of it is stored. It is counted from the rows on every request, whether they come from people in
the browser, from files or from programs.

- **Judging.** Each document of the pool of a pair that can be judged now needs `overlap_judge`
  answers. A person *answers* it with a judgment or a final flag ("cannot judge", "problem") under
  the current narrative. Machines do not answer. Answers beyond the overlap on one document do not
  make up for missing ones on another. If the project asks nobody to judge, nothing is wanted and
  every answer counts.
- **A judge's assignment** counts as done when every document of the pool has one more answer: a
  pair has as many done assignments as its document with the fewest answers has answers. So all
  assignments are done exactly when all answers are given.
- **A rewriting** is done when the pair has an altered narrative that was not sent back.
- **A review** is done when a person has submitted one of the current narrative.

For the work left in one person's assignments, see `annotate.judgments.work_left`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

from annotate.judgments import revisions
from annotate.judgments.completion_queries import (
    answers_of_people,
    count_alive,
    count_to_rewrite,
    documents_by_answers,
    documents_of_queries,
    pairs_ready,
    pairs_ready_of,
    pairs_reviewed,
    pairs_to_review,
    run_by_rules,
)
from annotate.pairs.models import Assignment
from annotate.pairs.pool import PoolRules, common_rules
from annotate.projects.models import Project
from base.prepared_queries import Prepared

Task = Assignment.Task


@dataclass(frozen=True)
class PairProgress:
    """The progress of judging one pair."""

    query: int
    documents: int
    overlap: int
    # Numbers of documents by their number of answers, without documents that have no answer.
    answers: Counter[int] = field(default_factory=Counter)

    @property
    def wanted(self) -> int:
        """The number of answers that the project asks for."""
        return self.documents * self.overlap

    @property
    def answered(self) -> int:
        """The number of wanted answers that are given; all answers if none are wanted."""
        most = self.overlap or max(self.answers, default=0)
        return sum(min(count, most) * documents for count, documents in self.answers.items())

    @property
    def done(self) -> int:
        """The number of assignments whose work is done."""
        if not self.documents or self.answers.total() < self.documents:
            return 0
        return min(self.overlap, *self.answers)


class JudgingProgress(NamedTuple):
    """The progress of judging several pairs."""

    wanted: int
    answered: int
    # The numbers of all assignments and of those done.
    total: int
    done: int

    @property
    def left(self) -> int:
        """The number of answers that are still wanted."""
        return max(self.wanted - self.answered, 0)


def judging_by_pair(
    project: Project, queries: Iterable[int] | None = None
) -> dict[int, PairProgress]:
    """Return the progress of each pair that can be judged now, by pair key: four queries.

    `queries`: only the pairs of these queries (by key).
    """
    return _judging_by_pair([project], queries)[project.pk]


def judging_of(projects: Sequence[Project]) -> dict[int, JudgingProgress]:
    """Return the progress of judging in each project, by project key: four queries."""
    found = _judging_by_pair(projects)
    return {project: total(pairs.values()) for project, pairs in found.items()}


def _judging_by_pair(
    projects: Sequence[Project], queries: Iterable[int] | None = None
) -> dict[int, dict[int, PairProgress]]:
    """Return the progress of each pair by project key and pair key."""
    judging: dict[int, dict[int, PairProgress]] = {project.pk: {} for project in projects}
    if not projects:
        return judging
    if queries is None:
        ready = run_by_rules(pairs_ready, projects)
    else:
        ready = run_by_rules(pairs_ready_of, projects, queries=list(queries))
    if not ready:
        return judging
    sizes = pool_sizes(projects, {pair: (query, project) for pair, query, project in ready})
    wanted = {pair for pair, _, _ in ready}
    states = [state for state in revisions.states_in_force(projects) if state.pair in wanted]
    counts = _documents_by_answers.of(states, _rules(projects))
    answers = {state.pair: counts.get(state.narrative) for state in states}
    overlaps = {project.pk: project.overlap_judge for project in projects}
    for pair, query, project in ready:
        judging[project][pair] = PairProgress(
            query, sizes[pair], overlaps[project], answers.get(pair) or Counter()
        )
    return judging


def _rules(projects: Sequence[Project]) -> dict[int, PoolRules]:
    return {project.pk: common_rules([project]) for project in projects}


def _count_by(query: Prepared, rules: PoolRules, narratives: list[int]) -> dict[int, Counter[int]]:
    """Return the counts of a query by narrative and by its second column."""
    found: dict[int, Counter[int]] = defaultdict(Counter)
    for narrative, key, number in query.rows(
        rules.scope, relevant_from=rules.relevant_from, narratives=narratives
    ):
        found[narrative][key] = number
    return found


def _count_pools(rules: PoolRules, queries: list[int]) -> dict[int, list[tuple[int | None, int]]]:
    """Count the documents to judge by query: pairs of the only pair or None, and the number."""
    found: dict[int, list[tuple[int | None, int]]] = defaultdict(list)
    for query, made_for, documents in documents_of_queries.rows(
        rules.scope, relevant_from=rules.relevant_from, queries=queries
    ):
        found[query].append((made_for, documents))
    return found


_pool_sizes = revisions.CachedCounts(_count_pools)
_documents_by_answers = revisions.CachedCounts(partial(_count_by, documents_by_answers))
_answers_of_people = revisions.CachedCounts(partial(_count_by, answers_of_people))


def total(pairs: Iterable[PairProgress]) -> JudgingProgress:
    """Add up the progress of several pairs."""
    wanted = answered = assignments = done = 0
    for one in pairs:
        wanted += one.wanted
        answered += one.answered
        assignments += one.overlap
        done += one.done
    return JudgingProgress(wanted, answered, assignments, done)


def judging(project: Project) -> JudgingProgress:
    """Return the progress of judging in a project: four queries."""
    return total(judging_by_pair(project).values())


def has_judging_begun(project: Project, found: JudgingProgress) -> bool:
    """Return whether anybody has judged in a project, or has taken a judge assignment."""
    return (
        found.answered > 0
        or Assignment.objects.filter(pair__project=project, task=Task.JUDGE).exists()
    )


def review_progress(project: Project) -> JudgingProgress:
    """Return the progress of reviewing in a project, counted in reviews: two queries."""
    overlap = project.overlap_review
    to_review = {pair for (pair,) in pairs_to_review.rows(project=project.pk)}
    counts = Counter(pair for (pair,) in pairs_reviewed.rows(project=project.pk))
    done = sum(min(counts[pair], overlap) for pair in to_review)
    return JudgingProgress(len(to_review) * overlap, done, len(to_review) * overlap, done)


def rewriting_progress(project: Project) -> JudgingProgress:
    """Return the progress of rewriting in a project, counted in pairs: two queries."""
    pairs = count_alive.value(project=project.pk)
    done = pairs - count_to_rewrite.value(project=project.pk)
    return JudgingProgress(pairs, done, pairs, done)


def answers_by_pair(
    *projects: Project, pairs: Container[int] | None = None
) -> dict[tuple[int, int], int]:
    """Return the number of answers by pair and person: two queries.

    `pairs`: only answers on these pairs (by key).
    """
    states = revisions.states_in_force(projects)
    if pairs is not None:
        states = [state for state in states if state.pair in pairs]
    counts = _answers_of_people.of(states, _rules(projects))
    return {
        (state.pair, person): count
        for state in states
        for person, count in counts.get(state.narrative, Counter()).items()
    }


def pool_sizes(projects: Sequence[Project], pairs: Mapping[int, tuple[int, int]]) -> dict[int, int]:
    """Return the number of documents to judge for each of these pairs of projects: one query if no
    pool has changed.

    `pairs`: the query and the project of each pair, all by key.
    """
    states = revisions.states_of_pools(dict(pairs.values()))
    counts = _pool_sizes.of(states, _rules(projects))
    rows = [(query, pair, number) for query, sizes in counts.items() for pair, number in sizes]
    return sizes_of_pools(rows, {pair: query for pair, (query, _project) in pairs.items()})


def sizes_of_pools(rows: Iterable[Sequence[Any]], pairs: Mapping[int, int]) -> dict[int, int]:
    """Return the size of each pair's pool.

    `rows`: query, the pair that documents were made for or None, number of documents.
    """
    found = {(query, made_for): documents for query, made_for, documents in rows}
    return {
        pair: found.get((query, None), 0) + found.get((query, pair), 0)
        for pair, query in pairs.items()
    }
