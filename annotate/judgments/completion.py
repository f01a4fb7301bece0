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

from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from django.db.models import Count, QuerySet

from annotate.collection.models import Candidate
from annotate.collection.shown_documents import shown_to_judges
from annotate.judgments import cached_counts
from annotate.judgments.answer_counts import counts_of
from annotate.pairs.models import Assignment, InstructionPair
from annotate.pairs.pool import pairs_with_pool
from annotate.projects.models import Project
from base.current_request import read_once

Task = Assignment.Task

# Returns a query of submitted reviews, whose rows have `of_pair` and `of_member`: those of the
# current altered narratives of projects (by key), or for None of any narrative. Reviews belong to
# an app above this one, which registers the function.
ReviewSource = Callable[[Sequence[int] | None], QuerySet[Any]]
_reviews: list[ReviewSource] = []


def register_reviews(provider: ReviewSource) -> None:
    """Register the source of reviews; called once, when the app that has them starts."""
    if provider not in _reviews:
        _reviews.append(provider)


def reviews_in_force(projects: Sequence[int]) -> QuerySet[Any]:
    """Return the submitted reviews of current narratives, with `of_pair` and `of_member`."""
    return _reviews[0](projects)


def submitted_reviews() -> QuerySet[Any]:
    """Return the submitted reviews of any narrative, with `of_pair` and `of_member`."""
    return _reviews[0](None)


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
    """Return the progress of each pair that can be judged now, by pair key: at most six queries if
    no answer is new.

    `queries`: only the pairs of these queries (by key).
    """
    return _judging_by_pair([project], queries)[project.pk]


def judging_of(projects: Sequence[Project]) -> dict[int, JudgingProgress]:
    """Return the progress of judging in each project, by project key."""
    by_project = _judging_by_pair(projects)
    return {project: total(pairs.values()) for project, pairs in by_project.items()}


def _judging_by_pair(
    projects: Sequence[Project], queries: Iterable[int] | None = None
) -> dict[int, dict[int, PairProgress]]:
    """Return the progress of each pair by project key and pair key."""
    judging: dict[int, dict[int, PairProgress]] = {project.pk: {} for project in projects}
    if not projects:
        return judging
    ready = pairs_with_pool(*projects)
    if queries is not None:
        ready = ready.filter(query__in=queries)
    rows = list(ready.order_by("pk").values_list("pk", "query_id", "project_id"))
    sizes = pool_sizes(projects, {pair: query for pair, query, _project in rows})
    states = [state for state in cached_counts.states_in_force(projects) if state.pair in sizes]
    counts = counts_of(states)
    narratives = {state.pair: state.narrative for state in states}
    by_key = {project.pk: project for project in projects}
    for pair, query, key in rows:
        project, counted = by_key[key], counts.get(narratives[pair])
        judging[key][pair] = PairProgress(
            query,
            sizes[pair],
            project.overlap_judge,
            counted.by_number(project) if counted else Counter(),
        )
    return judging


def total(pairs: Iterable[PairProgress]) -> JudgingProgress:
    """Add up the progress of several pairs."""
    wanted = answered = assignments = done = 0
    for pair in pairs:
        wanted += pair.wanted
        answered += pair.answered
        assignments += pair.overlap
        done += pair.done
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
    pairs = InstructionPair.objects.filter(project=project)
    to_review = set(pairs.to_review().values_list("pk", flat=True))
    counts = Counter(reviews_in_force([project.pk]).values_list("of_pair", flat=True))
    done = sum(min(counts[pair], overlap) for pair in to_review)
    return JudgingProgress(len(to_review) * overlap, done, len(to_review) * overlap, done)


def rewriting_progress(project: Project) -> JudgingProgress:
    """Return the progress of rewriting in a project, counted in pairs: two queries."""
    every = InstructionPair.objects.filter(project=project)
    pairs = every.alive().count()
    done = pairs - every.to_rewrite().count()
    return JudgingProgress(pairs, done, pairs, done)


def answers_by_pair(
    *projects: Project, pairs: Container[int] | None = None
) -> dict[tuple[int, int], int]:
    """Return the number of answers by pair and person: five queries if no answer is new.

    `pairs`: only answers on these pairs (by key).
    """
    by_key = {project.pk: project for project in projects}
    states = cached_counts.states_in_force(projects)
    if pairs is not None:
        states = [state for state in states if state.pair in pairs]
    counts = counts_of(states)
    return {
        (state.pair, person): answers
        for state in states
        if state.narrative in counts
        for person, answers in counts[state.narrative].by_person(by_key[state.project]).items()
    }


def pool_sizes(projects: Sequence[Project], pairs: Mapping[int, int]) -> dict[int, int]:
    """Return the number of documents to judge for each of these pairs of projects: one query, once
    in a request.

    `pairs`: the query of each pair, both by key.
    """
    queries = frozenset(pairs.values())

    def read() -> dict[tuple[int, int | None], int]:
        rows = (
            Candidate.objects.filter(shown_to_judges(*projects), query__in=queries)
            .order_by()
            .values_list("query_id", "made_for_id")
            .annotate(n=Count("pk"))
        )
        return {(query, made_for): documents for query, made_for, documents in rows}

    sizes = read_once((pool_sizes, queries), read)
    return {
        pair: sizes.get((query, None), 0) + sizes.get((query, pair), 0)
        for pair, query in pairs.items()
    }
