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

Work is left in a person's assignment while they can still add something that it asks for, whatever
`Assignment.done_at` says: that column only dates the end of the work.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import Count, Q, QuerySet

from annotate.collection.models import Candidate
from annotate.collection.shown_documents import shown_to_judges
from annotate.judgments import cached_counts
from annotate.judgments.answer_counts import counts_of
from annotate.judgments.in_force import answers_in_force
from annotate.judgments.models import RejudgeRequest, Repeat
from annotate.judgments.repeats import chance, count_repeats
from annotate.pairs.models import TO_REWRITE, Assignment, InstructionPair, Narrative
from annotate.pairs.pool import pairs_with_pool, repeat_seed
from annotate.projects.models import Membership, Project
from base.requests import read_once

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
    """Return the progress of rewriting in a project, counted in pairs: one query."""
    counts = (
        InstructionPair.objects.filter(project=project)
        .alive()
        .with_narratives()
        .aggregate(pairs=Count("pk"), left=Count("pk", filter=TO_REWRITE))
    )
    pairs, done = counts["pairs"], counts["pairs"] - counts["left"]
    return JudgingProgress(pairs, done, pairs, done)


def answers_by_pair(*projects: Project) -> dict[tuple[int, int], int]:
    """Return the number of answers by pair and person: eight queries, two if no answer is new."""
    return _count_answers(projects, cached_counts.states_in_force(projects))


def _count_answers(
    projects: Sequence[Project], states: Collection[cached_counts.NarrativeState]
) -> dict[tuple[int, int], int]:
    by_key, counts = {project.pk: project for project in projects}, counts_of(states)
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


# --- the work left in a person's assignments ------------------------------------------------------


class WorkLeft(NamedTuple):
    """One person's progress in one assignment."""

    assignment: Assignment
    done: int = 0
    total: int = 0
    # Documents with a rejudge request, and the newest one's time; they are not counted as done.
    again: int = 0
    asked_at: datetime | None = None
    # Whether it is to rewrite a narrative that was sent back.
    is_sent_back: bool = False

    @property
    def is_open(self) -> bool:
        """Whether work is left."""
        return self.done < self.total


def left_in(
    project: Project | Sequence[Project],
    assignments: Iterable[Assignment],
) -> dict[int, WorkLeft]:
    """Return the progress in these assignments of one or several projects, by assignment key.

    At most nine queries, however many assignments there are, and three more if projects have
    repeats, which count as documents.
    """
    projects = [project] if isinstance(project, Project) else project
    by_task: dict[str, list[Assignment]] = defaultdict(list)
    for assignment in assignments:
        by_task[assignment.task].append(assignment)
    left: dict[int, WorkLeft] = {}
    if rewriting := by_task[Task.REWRITE]:
        pairs = [assignment.pair_id for assignment in rewriting]
        to_rewrite: Any = InstructionPair.objects.filter(pk__in=pairs).to_rewrite()
        wanted = dict(to_rewrite.values_list("pk", "sent_back_at"))
        left |= {
            assignment.pk: WorkLeft(
                assignment,
                int(assignment.pair_id not in wanted),
                1,
                is_sent_back=wanted.get(assignment.pair_id) is not None,
            )
            for assignment in rewriting
        }
    if reviewing := by_task[Task.REVIEW]:
        owed = _reviews_owed(projects, reviewing)
        left |= {
            assignment.pk: WorkLeft(assignment, int(assignment.pk not in owed), 1)
            for assignment in reviewing
        }
    if judges := by_task[Task.JUDGE]:
        left |= _left_to_judge(projects, judges)
    return left


def open_assignments(member: Membership, *tasks: str) -> list[Assignment]:
    """Return a member's assignments with work left, of these tasks or, for none, of all."""
    held = [work.assignment for work in left_of(member).values() if work.is_open]
    held.sort(key=lambda assignment: assignment.pk)
    return [assignment for assignment in held if not tasks or assignment.task in tasks]


# The attribute of a member in which a page prefetches their assignments. An attribute of its own:
# Django builds a query for each member if it prefetches `assignments` itself.
HELD = "held_assignments"


def held_by(member: Membership) -> list[Assignment]:
    """Return a member's assignments, prefetched as `HELD` or read now."""
    held: list[Assignment] | None = getattr(member, HELD, None)
    return list(member.assignments.all()) if held is None else held


# The attribute of a member in which `prefetch_left` stores its result.
_LEFT = "_left_in_assignments"


def prefetch_left(members: Sequence[Membership]) -> None:
    """Prefetch the progress of members in all their assignments onto these rows.

    At most twelve queries, however many members there are. Prefetch their assignments first.
    Members who have it already are left out.
    """
    members = [member for member in members if not hasattr(member, _LEFT)]
    holders = [member for member in members if held_by(member)]
    held = [assignment for member in holders for assignment in held_by(member)]
    left = left_in([member.project for member in holders], held)
    for member in members:
        setattr(member, _LEFT, left)


def left_of(member: Membership) -> Mapping[int, WorkLeft]:
    """Return a member's progress in each assignment, by key, read once in a request;
    `prefetch_left` prefetches it.
    """
    prefetched: Mapping[int, WorkLeft] | None = getattr(member, _LEFT, None)
    if prefetched is not None:
        return prefetched
    return read_once((left_of, member.pk), lambda: left_in(member.project, held_by(member)))


def _left_to_judge(
    projects: Sequence[Project], assignments: Sequence[Assignment]
) -> dict[int, WorkLeft]:
    pairs = {assignment.pair_id for assignment in assignments}
    states = {
        state.pair: state
        for state in cached_counts.states_in_force(projects)
        if state.pair in pairs
    }
    sizes = pool_sizes(projects, {pair: state.query for pair, state in states.items()})
    requests = RejudgeRequest.objects.open().filter(
        by__project__in=[project.pk for project in projects]
    )
    asked_at = dict(requests.values_list("statement", "at"))
    again: dict[tuple[int, int], list[datetime]] = defaultdict(list)
    if asked_at:
        asked: QuerySet[Any, Any] = answers_in_force(*projects).filter(pk__in=asked_at)
        for pk, pair, person in asked.values_list("pk", "narrative__pair_id", "annotator_id"):
            again[pair, person].append(asked_at[pk])
    answers = _count_answers(projects, states.values())
    repeats = _repeat_progress(projects, assignments, states, sizes)
    left = {}
    for assignment in assignments:
        if assignment.pair_id not in states:
            left[assignment.pk] = WorkLeft(assignment)
            continue
        key = (assignment.pair_id, assignment.member_id)
        times = again[key]
        repeated, planned = repeats.get(assignment.pk, (0, 0))
        left[assignment.pk] = WorkLeft(
            assignment,
            answers.get(key, 0) - len(times) + repeated,
            sizes[assignment.pair_id] + planned,
            len(times),
            max(times, default=None),
        )
    return left


def _repeat_progress(
    projects: Sequence[Project],
    assignments: Sequence[Assignment],
    states: Mapping[int, cached_counts.NarrativeState],
    sizes: Mapping[int, int],
) -> dict[int, tuple[int, int]]:
    """Return how many repeats of each assignment are answered and planned, by assignment key."""
    if not any(project.repeat_percent for project in projects):
        return {}
    in_force = {
        narrative.pair_id: narrative
        for narrative in Narrative.objects.filter(
            pk__in=[state.narrative for state in states.values()]
        )
        .select_related("pair")
        .only("side", "version", "pair")
    }
    answered = {
        (narrative, person): (count, final)
        for narrative, person, count, final in Repeat.objects.current()
        .filter(
            narrative__in=[narrative.pk for narrative in in_force.values()],
            annotator__in={assignment.member_id for assignment in assignments},
        )
        .values_list("narrative_id", "annotator_id")
        .annotate(count=Count("pk"), final=Count("pk", filter=~Q(flag="later")))
    }
    people = Membership.objects.select_related("project").in_bulk(
        {assignment.member_id for assignment in assignments}
    )
    left = {}
    for assignment in assignments:
        narrative = in_force.get(assignment.pair_id)
        person = people[assignment.member_id]
        percent = person.project.repeat_percent
        if narrative is None or not percent:
            continue
        words = repeat_seed(narrative.pair, narrative.side, narrative.version, person)
        planned = count_repeats(sizes[assignment.pair_id], percent, chance(words))
        count, final = answered.get((narrative.pk, assignment.member_id), (0, 0))
        # Answered repeats still count if fewer are planned by now.
        left[assignment.pk] = final, max(planned, count)
    return left


def _reviews_owed(projects: Sequence[Project], assignments: Sequence[Assignment]) -> set[int]:
    """Return the assignments (by key) whose holder can review the current version and has not."""
    pairs = {assignment.pair_id for assignment in assignments}
    to_review: QuerySet[Any] = InstructionPair.objects.filter(pk__in=pairs).to_review()
    waiting = dict(to_review.values_list("pk", "altered_id"))
    people = {assignment.member_id for assignment in assignments}
    written = Narrative.objects.written_by(*people).filter(pk__in=waiting.values())
    own = set(written.values_list("pair_id", "author_id"))
    there = set(
        reviews_in_force([project.pk for project in projects])
        .filter(of_pair__in=pairs, of_member__in=people)
        .values_list("of_pair", "of_member")
    )
    return {
        assignment.pk
        for assignment in assignments
        if assignment.pair_id in waiting
        and (assignment.pair_id, assignment.member_id) not in there | own
    }
