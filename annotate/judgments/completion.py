"""How much of a project's work is wanted, there and left: the one definition, for every page.

Nothing of it is stored. It is counted from the rows at every look, whoever brought them: people in
the browser, files or programs.

- **Judging.** Each document of the pool of a pair that can be judged now is wanted `overlap_judge`
  times. A person *answers* it with a judgment or a final flag ("cannot judge", "problem") under the
  narrative in force. A machine answers nothing. Answers beyond the overlap on one document stand
  for none on another. Where nobody is asked to judge, nothing is wanted and every answer counts.
- **A judge's assignment** counts as done when every document of the pool has one answer more: as
  many of a pair are done as the document with the fewest answers has. So all assignments are done
  exactly when all answers are there.
- **A rewriting** is done when the pair has an altered narrative that is not sent back.
- **A review** is there when a person submitted one of the narrative in force.
- **Work is left in one person's assignment** while they can still add what it asks for, whenever
  that changed and whatever `Assignment.done_at` says: that column only dates the end of the work.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from django.db.models import Count, Q, QuerySet

from annotate.judgments import revisions
from annotate.judgments.completion_queries import (
    answers_of_people,
    ask_by_rules,
    asked_again,
    count_alive,
    count_to_rewrite,
    documents_by_answers,
    documents_of_queries,
    narratives_of_pairs,
    pairs_ready,
    pairs_ready_of,
    pairs_reviewed,
    pairs_to_review,
    pairs_to_rewrite_of,
    reviews_in_force,
)
from annotate.judgments.models import Repeat
from annotate.judgments.repeats import chance, number
from annotate.pairs.models import Assignment, InstructionPair, Narrative
from annotate.pairs.pool import PoolRules, common_rules, repeat_words
from annotate.projects.models import Membership, Project

Task = Assignment.Task


@dataclass(frozen=True)
class PairJudging:
    """How far the judging of one pair is."""

    query: int
    documents: int
    overlap: int
    # How many documents have how many answers; documents without an answer are not in it.
    answers: Counter[int] = field(default_factory=Counter)

    @property
    def wanted(self) -> int:
        """Answers that the project asks for."""
        return self.documents * self.overlap

    @property
    def answered(self) -> int:
        """Answers that are there, of those wanted; all where none are wanted."""
        most = self.overlap or max(self.answers, default=0)
        return sum(min(count, most) * documents for count, documents in self.answers.items())

    @property
    def done(self) -> int:
        """Assignments whose work is there."""
        if not self.documents or self.answers.total() < self.documents:
            return 0
        return min(self.overlap, *self.answers)


class Judging(NamedTuple):
    """How far the judging of several pairs is."""

    wanted: int
    answered: int
    # Assignments, in all and done.
    total: int
    done: int

    @property
    def left(self) -> int:
        """Answers that are still wanted."""
        return max(self.wanted - self.answered, 0)


def judging_by_pair(
    project: Project, queries: Iterable[int] | None = None
) -> dict[int, PairJudging]:
    """Return how far each pair is that can be judged now, by its key: four queries.

    `queries`: only the pairs of these (by key).
    """
    return _judging_by_pair([project], queries)[project.pk]


def judging_of(projects: Sequence[Project]) -> dict[int, Judging]:
    """Return how far the judging of each project is, by its key: four queries."""
    found = _judging_by_pair(projects)
    return {project: total(pairs.values()) for project, pairs in found.items()}


def _judging_by_pair(
    projects: Sequence[Project], queries: Iterable[int] | None = None
) -> dict[int, dict[int, PairJudging]]:
    """Return how far each pair of each project is, by their keys."""
    judging: dict[int, dict[int, PairJudging]] = {project.pk: {} for project in projects}
    if not projects:
        return judging
    if queries is None:
        ready = ask_by_rules(pairs_ready, projects)
    else:
        ready = ask_by_rules(pairs_ready_of, projects, queries=list(queries))
    if not ready:
        return judging
    sizes = pool_sizes(projects, {pair: query for pair, query, _ in ready})
    wanted = {pair for pair, _, _ in ready}
    states = [state for state in revisions.states_in_force(projects) if state.pair in wanted]
    counts = _documents_by_answers.of(states, _rules(projects))
    answers = {state.pair: counts.get(state.narrative) for state in states}
    overlaps = {project.pk: project.overlap_judge for project in projects}
    for pair, query, project in ready:
        judging[project][pair] = PairJudging(
            query, sizes[pair], overlaps[project], answers.get(pair) or Counter()
        )
    return judging


def _rules(projects: Sequence[Project]) -> dict[int, PoolRules]:
    return {project.pk: common_rules([project]) for project in projects}


def _count_documents(rules: PoolRules, narratives: list[int]) -> dict[int, Counter[int]]:
    found: dict[int, Counter[int]] = defaultdict(Counter)
    for narrative, answers, documents in documents_by_answers.rows(
        rules.scope, relevant_from=rules.relevant_from, narratives=narratives
    ):
        found[narrative][answers] = documents
    return found


def _count_answers(rules: PoolRules, narratives: list[int]) -> dict[int, Counter[int]]:
    found: dict[int, Counter[int]] = defaultdict(Counter)
    for narrative, person, answers in answers_of_people.rows(
        rules.scope, relevant_from=rules.relevant_from, narratives=narratives
    ):
        found[narrative][person] = answers
    return found


_documents_by_answers = revisions.Counts(_count_documents)
_answers_of_people = revisions.Counts(_count_answers)


def total(pairs: Iterable[PairJudging]) -> Judging:
    """Add several pairs up."""
    wanted = answered = assignments = done = 0
    for one in pairs:
        wanted += one.wanted
        answered += one.answered
        assignments += one.overlap
        done += one.done
    return Judging(wanted, answered, assignments, done)


def judging(project: Project) -> Judging:
    """Return how far the judging of a project is: four queries."""
    return total(judging_by_pair(project).values())


def has_judging_begun(project: Project, found: Judging) -> bool:
    """Tell whether somebody has judged in a project, or has taken an assignment to do so."""
    return (
        found.answered > 0
        or Assignment.objects.filter(pair__project=project, task=Task.JUDGE).exists()
    )


def reviewed(project: Project) -> Judging:
    """Return how far the reviewing of a project is, in reviews: two queries."""
    overlap = project.overlap_review
    to_review = {pair for (pair,) in pairs_to_review.rows(project=project.pk)}
    counts = Counter(pair for (pair,) in pairs_reviewed.rows(project=project.pk))
    done = sum(min(counts[pair], overlap) for pair in to_review)
    return Judging(len(to_review) * overlap, done, len(to_review) * overlap, done)


def rewritten(project: Project) -> Judging:
    """Return how far the rewriting of a project is, in pairs: two queries."""
    pairs = count_alive.value(project=project.pk)
    done = pairs - count_to_rewrite.value(project=project.pk)
    return Judging(pairs, done, pairs, done)


def answers_by_pair(
    *projects: Project, pairs: Container[int] | None = None
) -> dict[tuple[int, int], int]:
    """Return how many answers each person has given on each pair, by pair and person: two queries.

    `pairs`: only on these (by key).
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


class Left(NamedTuple):
    """How far one person is in one assignment."""

    done: int
    total: int
    # Documents that a lead asks them to look at again; they are not done.
    again: int = 0

    @property
    def is_open(self) -> bool:
        """Whether work is left."""
        return self.done < self.total


_NOTHING = Left(0, 0)


class InForce(NamedTuple):
    """The narrative under which a pair is judged, by its key, and the query of the pair."""

    pk: int
    side: str
    version: int
    query: int


def left_in(
    project: Project | Sequence[Project],
    assignments: Iterable[Assignment],
    answers: Mapping[tuple[int, int], int] | None = None,
) -> dict[int, Left]:
    """Return how far their holders are in these assignments of a project, or of several, by key.
    `answers`: the `answers_by_pair`, where they are known.

    At most ten queries, however many assignments there are, and three more where projects have
    repeats, which count as documents.
    """
    projects = [project] if isinstance(project, Project) else project
    by_task: dict[str, list[Assignment]] = defaultdict(list)
    for assignment in assignments:
        by_task[assignment.task].append(assignment)
    found: dict[int, Left] = {}
    if rewriting := by_task[Task.REWRITE]:
        pairs = [assignment.pair_id for assignment in rewriting]
        wanted = {pair for (pair,) in pairs_to_rewrite_of.rows(pairs=pairs)}
        found |= {
            assignment.pk: Left(int(assignment.pair_id not in wanted), 1)
            for assignment in rewriting
        }
    if reviewing := by_task[Task.REVIEW]:
        owed = _reviews_owed(projects, reviewing)
        found |= {
            assignment.pk: Left(int(assignment.pk not in owed), 1) for assignment in reviewing
        }
    if judges := by_task[Task.JUDGE]:
        found |= _left_to_judge(projects, judges, answers)
    return found


def open_assignments(member: Membership, *tasks: str) -> list[Assignment]:
    """Return the assignments of a member in which work is left (of these tasks; none: of all)."""
    # Filtered here: pages read the assignments of their reader once, ahead.
    held = [
        assignment
        for assignment in member.assignments.all()
        if not tasks or assignment.task in tasks
    ]
    held.sort(key=lambda assignment: assignment.pk)
    left: Mapping[int, Left] | None = getattr(member, _LEFT, None)
    if left is None:
        left = left_in(member.project, held)
    return [assignment for assignment in held if left[assignment.pk].is_open]


# Where `read_left` puts what it reads, on the member.
_LEFT = "_left_in_assignments"


def read_left(members: Sequence[Membership]) -> None:
    """Read once how far members are in all their assignments, for all that a page asks of these
    rows of them: at most thirteen queries, however many members there are. Read their assignments
    first.
    """
    held = [assignment for member in members for assignment in member.assignments.all()]
    judges = {one.member_id for one in held if one.task == Task.JUDGE}
    answers = answers_by_pair(*(one.project for one in members if one.pk in judges))
    left = left_in([member.project for member in members], held, answers)
    for member in members:
        setattr(member, _LEFT, left)


def left_of(member: Membership) -> Mapping[int, Left]:
    """Return how far a member is in each of their assignments, by key; `read_left` reads ahead."""
    found: Mapping[int, Left] | None = getattr(member, _LEFT, None)
    return left_in(member.project, member.assignments.all()) if found is None else found


def pool_sizes(projects: Sequence[Project], pairs: Mapping[int, int]) -> dict[int, int]:
    """Return how many documents are to be judged of each of these pairs of projects. `pairs`: the
    query of each, all by their keys.
    """
    rows = ask_by_rules(documents_of_queries, projects, queries=list(set(pairs.values())))
    return sizes_of_pools(rows, pairs)


def sizes_of_pools(rows: Iterable[Sequence[Any]], pairs: Mapping[int, int]) -> dict[int, int]:
    """Add up the documents of each pair's pool. `rows`: query, the only pair or None, documents."""
    found = {(query, made_for): documents for query, made_for, documents in rows}
    return {
        pair: found.get((query, None), 0) + found.get((query, pair), 0)
        for pair, query in pairs.items()
    }


def _left_to_judge(
    projects: Sequence[Project],
    assignments: Sequence[Assignment],
    answers: Mapping[tuple[int, int], int] | None,
) -> dict[int, Left]:
    pairs = {assignment.pair_id for assignment in assignments}
    people = {assignment.member_id for assignment in assignments}
    in_force = {
        pair: InForce(*narrative)
        for pair, *narrative in ask_by_rules(narratives_of_pairs, projects, pairs=list(pairs))
    }
    sizes = pool_sizes(projects, {pair: one.query for pair, one in in_force.items()})
    here = {"pairs": list(in_force), "people": list(people)}
    again = {
        (pair, person): many for pair, person, many in ask_by_rules(asked_again, projects, **here)
    }
    if answers is None:
        answers = answers_by_pair(*projects, pairs=pairs)
    repeats = _repeats(projects, assignments, in_force, sizes)
    found = {}
    for assignment in assignments:
        if assignment.pair_id not in in_force:
            found[assignment.pk] = _NOTHING
            continue
        key = (assignment.pair_id, assignment.member_id)
        asked, come_again = again.get(key, 0), repeats.get(assignment.pk, _NOTHING)
        found[assignment.pk] = Left(
            answers.get(key, 0) - asked + come_again.done,
            sizes[assignment.pair_id] + come_again.total,
            asked,
        )
    return found


def _repeats(
    projects: Sequence[Project],
    assignments: Sequence[Assignment],
    in_force: Mapping[int, InForce],
    sizes: Mapping[int, int],
) -> dict[int, Left]:
    """Return how many repeats the holder of each assignment has, and has answered."""
    if not any(project.repeat_percent for project in projects):
        return {}
    answered = {
        (narrative, person): (count, final)
        for narrative, person, count, final in Repeat.objects.current()
        .filter(
            narrative__in=[one.pk for one in in_force.values()],
            annotator__in={assignment.member_id for assignment in assignments},
        )
        .values_list("narrative_id", "annotator_id")
        .annotate(count=Count("pk"), final=Count("pk", filter=~Q(flag="later")))
    }
    people = Membership.objects.select_related("project").in_bulk(
        {one.member_id for one in assignments}
    )
    pairs = InstructionPair.objects.in_bulk(list(in_force))
    found = {}
    for assignment in assignments:
        narrative = in_force.get(assignment.pair_id)
        person = people[assignment.member_id]
        percent = person.project.repeat_percent
        if narrative is None or not percent:
            continue
        words = repeat_words(pairs[assignment.pair_id], narrative.side, narrative.version, person)
        planned = number(sizes[assignment.pair_id], percent, chance(words))
        count, final = answered.get((narrative.pk, assignment.member_id), (0, 0))
        # What was answered stays, also where fewer are planned by now.
        found[assignment.pk] = Left(final, max(planned, count))
    return found


def _reviews_owed(projects: Sequence[Project], assignments: Sequence[Assignment]) -> set[int]:
    """Return the assignments (by key) whose holder can review the version in force and has not."""
    pairs = {assignment.pair_id for assignment in assignments}
    to_review: QuerySet[Any] = InstructionPair.objects.filter(pk__in=pairs).to_review()
    waiting = dict(to_review.values_list("pk", "altered_id"))
    # Nobody reviews their own words.
    authors = dict(
        Narrative.objects.filter(pk__in=waiting.values()).values_list("pair_id", "author_id")
    )
    there = set(
        reviews_in_force([project.pk for project in projects])
        .filter(
            of_pair__in=pairs, of_member__in={assignment.member_id for assignment in assignments}
        )
        .values_list("of_pair", "of_member")
    )
    return {
        assignment.pk
        for assignment in assignments
        if assignment.pair_id in waiting
        and authors.get(assignment.pair_id) != assignment.member_id
        and (assignment.pair_id, assignment.member_id) not in there
    }
