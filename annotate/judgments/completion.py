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
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from django.db import connection
from django.db.models import Count, Q, QuerySet

from annotate.collection.models import Candidate
from annotate.judgments.in_force import final_flags, judgments_in_force
from annotate.judgments.models import RejudgeRequest, Repeat
from annotate.judgments.repeats import chance, number
from annotate.pairs.models import Assignment, InstructionPair, Narrative
from annotate.pairs.pool import in_scope, narratives_in_force, pairs_with_pool, repeat_words
from annotate.projects.models import Membership, Project

Task = Assignment.Task

# The submitted reviews of a project's narratives in force, by people: a query whose rows have
# `of_pair` and `of_member`. Reviews are rows of an upper app, which registers it.
Reviews = Callable[[Project], QuerySet[Any]]
_reviews: list[Reviews] = []


def register_reviews(provider: Reviews) -> None:
    """Count these reviews; called once, when the app that has them starts."""
    if provider not in _reviews:
        _reviews.append(provider)


def reviews_in_force(project: Project) -> QuerySet[Any]:
    """Return the submitted reviews of narratives in force, with `of_pair` and `of_member`."""
    return _reviews[0](project)


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
    """Return how far each pair is that can be judged now, by its key: three queries.

    `queries`: only the pairs of these (by key).
    """
    ready = pairs_with_pool(project)
    if queries is not None:
        ready = ready.filter(query__in=list(queries))
    found = dict(ready.order_by("pk").values_list("pk", "query_id"))
    if not found:
        return {}
    sizes = pool_sizes(project, set(found.values()))
    only = None if queries is None else list(found)
    counted: dict[int, Counter[int]] = defaultdict(Counter)
    for pair, answers, documents in _counts(project, only):
        counted[pair][answers] = documents
    return {
        pair: PairJudging(query, sizes.get(query, 0), project.overlap_judge, counted[pair])
        for pair, query in found.items()
    }


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
    """Return how far the judging of a project is: three queries."""
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
    to_review = set(project.pairs.to_review().values_list("pk", flat=True))
    counts = Counter(reviews_in_force(project).values_list("of_pair", flat=True))
    done = sum(min(counts[pair], overlap) for pair in to_review)
    return Judging(len(to_review) * overlap, done, len(to_review) * overlap, done)


def rewritten(project: Project) -> Judging:
    """Return how far the rewriting of a project is, in pairs: two queries."""
    pairs = project.pairs.alive().count()
    done = pairs - project.pairs.to_rewrite().count()
    return Judging(pairs, done, pairs, done)


def answers_of_people(project: Project) -> dict[int, int]:
    """Return how many answers each person has given under the narratives in force: one query."""
    with_answers, parameters = _answers(project)
    return dict(
        _rows(
            f"{with_answers} SELECT annotator, COUNT(*) FROM said GROUP BY annotator",  # noqa: S608
            parameters,
        )
    )


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


def left_in(project: Project, assignments: Iterable[Assignment]) -> dict[int, Left]:
    """Return how far their holders are in these assignments of one project, by key.

    At most ten queries, however many assignments there are, and two more for each person where
    the project has repeats, which count as documents.
    """
    by_task: dict[str, list[Assignment]] = defaultdict(list)
    for assignment in assignments:
        by_task[assignment.task].append(assignment)
    found: dict[int, Left] = {}
    if rewriting := by_task[Task.REWRITE]:
        pairs = [assignment.pair_id for assignment in rewriting]
        wanted = set(project.pairs.to_rewrite().filter(pk__in=pairs).values_list("pk", flat=True))
        found |= {
            assignment.pk: Left(int(assignment.pair_id not in wanted), 1)
            for assignment in rewriting
        }
    if reviewing := by_task[Task.REVIEW]:
        owed = _reviews_owed(project, reviewing)
        found |= {
            assignment.pk: Left(int(assignment.pk not in owed), 1) for assignment in reviewing
        }
    if judges := by_task[Task.JUDGE]:
        found |= _left_to_judge(project, judges)
    return found


def open_assignments(member: Membership, *tasks: str) -> list[Assignment]:
    """Return the assignments of a member in which work is left (of these tasks; none: of all)."""
    held = list(member.assignments.filter(task__in=tasks or Task.values).order_by("pk"))
    left = left_in(member.project, held)
    return [assignment for assignment in held if left[assignment.pk].is_open]


def pool_sizes(project: Project, queries: Iterable[int]) -> dict[int, int]:
    """Return how many documents are to be judged for each of these queries (by key)."""
    candidates = in_scope(project, Candidate.objects.filter(query__in=list(queries)))
    return dict(candidates.order_by().values_list("query_id").annotate(n=Count("pk")))


def _left_to_judge(project: Project, assignments: Sequence[Assignment]) -> dict[int, Left]:
    pairs = {assignment.pair_id for assignment in assignments}
    in_force = {
        narrative.pair_id: narrative
        for narrative in narratives_in_force(project).filter(pair__in=pairs).defer("text")
    }
    queries = dict(InstructionPair.objects.filter(pk__in=pairs).values_list("pk", "query_id"))
    sizes = pool_sizes(project, set(queries.values()))
    people = {assignment.member_id for assignment in assignments}
    said: dict[tuple[int, int], int] = {}
    if in_force:
        with_answers, parameters = _answers(project, pairs=list(in_force), people=list(people))
        said = {
            (pair, person): count
            for pair, person, count in _rows(
                f"{with_answers} SELECT v.pair_id, s.annotator, COUNT(*) FROM said s "  # noqa: S608
                "JOIN annotate_narrative v ON v.id = s.narrative GROUP BY v.pair_id, s.annotator",
                parameters,
            )
        }
    requests = RejudgeRequest.objects.open().filter(
        judgment__in=judgments_in_force(project).filter(
            annotator__in=people, narrative__in=[one.pk for one in in_force.values()]
        )
    )
    again = {
        (pair, person): count
        for pair, person, count in requests.values_list(
            "judgment__narrative__pair_id", "judgment__annotator_id"
        ).annotate(n=Count("pk"))
    }
    repeats = _repeats(
        project, assignments, in_force, {pair: sizes.get(queries[pair], 0) for pair in pairs}
    )
    found = {}
    for assignment in assignments:
        if assignment.pair_id not in in_force:
            found[assignment.pk] = _NOTHING
            continue
        key = (assignment.pair_id, assignment.member_id)
        asked, come_again = again.get(key, 0), repeats.get(assignment.pk, _NOTHING)
        found[assignment.pk] = Left(
            said.get(key, 0) - asked + come_again.done,
            sizes.get(queries[assignment.pair_id], 0) + come_again.total,
            asked,
        )
    return found


def _repeats(
    project: Project,
    assignments: Sequence[Assignment],
    in_force: Mapping[int, Narrative],
    sizes: Mapping[int, int],
) -> dict[int, Left]:
    """Return how many repeats the holder of each assignment has, and has answered."""
    percent = project.repeat_percent
    if not percent:
        return {}
    answered = {
        (narrative, person): (count, final)
        for narrative, person, count, final in Repeat.objects.current()
        .filter(
            narrative__in=in_force.values(),
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
        if narrative is None:
            continue
        words = repeat_words(
            pairs[assignment.pair_id],
            narrative.side,
            narrative.version,
            people[assignment.member_id],
        )
        planned = number(sizes[assignment.pair_id], percent, chance(words))
        count, final = answered.get((narrative.pk, assignment.member_id), (0, 0))
        # What was answered stays, also where fewer are planned by now.
        found[assignment.pk] = Left(final, max(planned, count))
    return found


def _reviews_owed(project: Project, assignments: Sequence[Assignment]) -> set[int]:
    """Return the assignments (by key) whose holder can review the version in force and has not."""
    pairs = {assignment.pair_id for assignment in assignments}
    to_review: QuerySet[Any] = project.pairs.to_review().filter(pk__in=pairs)
    waiting = dict(to_review.values_list("pk", "altered_id"))
    # Nobody reviews their own words.
    authors = dict(
        Narrative.objects.filter(pk__in=waiting.values()).values_list("pair_id", "author_id")
    )
    there = set(
        reviews_in_force(project)
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


def _counts(project: Project, pairs: Sequence[int] | None) -> list[tuple[int, int, int]]:
    """Return how many documents of each pair (by key) have how many answers: one query."""
    with_answers, parameters = _answers(project, pairs=pairs)
    return _rows(
        f"""
        {with_answers}, counted (narrative, candidate, answers) AS (
            SELECT narrative, candidate, COUNT(*) FROM said GROUP BY narrative, candidate
        )
        SELECT v.pair_id, c.answers, COUNT(*) FROM counted c
        JOIN annotate_narrative v ON v.id = c.narrative GROUP BY v.pair_id, c.answers
        """,  # noqa: S608 (Django's own query)
        parameters,
    )


def _answers(
    project: Project,
    *,
    pairs: Sequence[int] | None = None,
    people: Sequence[int] | None = None,
) -> tuple[str, list[Any]]:
    """Return the SQL of `WITH said (narrative, candidate, annotator)` and its parameters.

    A person who has both a judgment and a flag there is one row.
    """
    only: dict[str, Any] = {}
    if pairs is not None:
        only["narrative__pair__in"] = pairs
    if people is not None:
        only["annotator__in"] = people
    columns = ("narrative_id", "candidate_id", "annotator_id")
    parts: list[str] = []
    parameters: list[Any] = []
    for rows in (judgments_in_force(project), final_flags(project)):
        sql, more = rows.filter(**only).order_by().values_list(*columns).query.sql_with_params()
        parts.append(sql)
        parameters += more
    return f"WITH said (narrative, candidate, annotator) AS ({' UNION '.join(parts)})", parameters


def _rows(sql: str, parameters: Sequence[Any]) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)
        found: list[Any] = cursor.fetchall()
    return found
