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

from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from annotate.collection.models import Candidate
from annotate.judgments.in_force import final_flags, judgments_in_force
from annotate.judgments.models import Judgment, RejudgeRequest, Repeat
from annotate.judgments.repeats import chance, number
from annotate.pairs.models import Assignment, InstructionPair, Narrative
from annotate.pairs.pool import in_scope, narratives_in_force, pairs_with_pool, repeat_words
from annotate.projects.models import Membership, Project
from base.prepared import Built, Prepared, counted, prepared

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
    only = None if queries is None else {"queries": list(queries)}
    found = dict(_ask(_ready if only is None else _ready_of, project, **only or {}))
    if not found:
        return {}
    sizes = pool_sizes(project, set(found.values()))
    answers: dict[int, Counter[int]] = defaultdict(Counter)
    counts = (
        _ask(_counts, project) if only is None else _ask(_counts_of, project, pairs=list(found))
    )
    for pair, given, documents in counts:
        answers[pair][given] = documents
    return {
        pair: PairJudging(query, sizes.get(query, 0), project.overlap_judge, answers[pair])
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
    to_review = {pair for (pair,) in _to_review.rows(project=project.pk)}
    counts = Counter(pair for (pair,) in _reviewed.rows(project=project.pk))
    done = sum(min(counts[pair], overlap) for pair in to_review)
    return Judging(len(to_review) * overlap, done, len(to_review) * overlap, done)


def rewritten(project: Project) -> Judging:
    """Return how far the rewriting of a project is, in pairs: two queries."""
    pairs = _alive.value(project=project.pk)
    done = pairs - _to_rewrite.value(project=project.pk)
    return Judging(pairs, done, pairs, done)


def answers_by_pair(project: Project) -> dict[tuple[int, int], int]:
    """Return how many answers each person has given on each pair, by pair and person: one query."""
    found = _ask(_answers_by_pair, project)
    return {(pair, person): count for pair, person, count in found}


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
    project: Project,
    assignments: Iterable[Assignment],
    answers: Mapping[tuple[int, int], int] | None = None,
) -> dict[int, Left]:
    """Return how far their holders are in these assignments of one project, by key. `answers`:
    the `answers_by_pair`, where they are known.

    At most ten queries, however many assignments there are, and two more for each person where
    the project has repeats, which count as documents.
    """
    by_task: dict[str, list[Assignment]] = defaultdict(list)
    for assignment in assignments:
        by_task[assignment.task].append(assignment)
    found: dict[int, Left] = {}
    if rewriting := by_task[Task.REWRITE]:
        pairs = [assignment.pair_id for assignment in rewriting]
        wanted = {pair for (pair,) in _to_rewrite_of.rows(project=project.pk, pairs=pairs)}
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
        found |= _left_to_judge(project, judges, answers)
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
    left = left_in(member.project, held)
    return [assignment for assignment in held if left[assignment.pk].is_open]


def pool_sizes(project: Project, queries: Iterable[int]) -> dict[int, int]:
    """Return how many documents are to be judged for each of these queries (by key)."""
    return dict(_ask(_sizes, project, queries=list(queries)))


def _left_to_judge(
    project: Project,
    assignments: Sequence[Assignment],
    answers: Mapping[tuple[int, int], int] | None,
) -> dict[int, Left]:
    pairs = {assignment.pair_id for assignment in assignments}
    people = {assignment.member_id for assignment in assignments}
    in_force = {
        pair: InForce(*narrative)
        for pair, *narrative in _in_force.rows(
            project.judge_scope, project=project.pk, pairs=list(pairs)
        )
    }
    by_query = pool_sizes(project, {one.query for one in in_force.values()})
    sizes = {pair: by_query.get(one.query, 0) for pair, one in in_force.items()}
    here = {"pairs": list(in_force), "people": list(people)}
    again = {(pair, person): many for pair, person, many in _ask(_asked_again, project, **here)}
    if answers is None:
        found_on = _ask(_answers_on, project, **here)
        answers = {(pair, person): many for pair, person, many in found_on}
    repeats = _repeats(project, assignments, in_force, sizes)
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
    project: Project,
    assignments: Sequence[Assignment],
    in_force: Mapping[int, InForce],
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


# --- the queries, put together once ---------------------------------------------------------------


def _ask(query: Prepared, project: Project, **values: Any) -> list[tuple[Any, ...]]:
    """Ask a query that follows the rules of a project (`_Rules`)."""
    if project.judge_scope == Project.Scope.RELEVANT:
        values["relevant_from"] = project.relevant_from
    return query.rows(project.judge_scope, project=project.pk, **values)


def _under(scope: str, project: int, relevant_from: int) -> Project:
    """A project of which only its rules are known."""
    return Project(pk=project, judge_scope=scope, relevant_from=relevant_from)


def _statements(project: Project, **only: Any) -> tuple[str, list[Any]]:
    """Return the SQL of `WITH said (narrative, candidate, annotator)` and its parameters.

    A person who has both a judgment and a flag there is one row.
    """
    columns = ("narrative_id", "candidate_id", "annotator_id")
    same = {name: OuterRef(name) for name in columns}
    judged = Judgment.objects.current().filter(**same)
    parts: list[str] = []
    parameters: list[Any] = []
    # Told apart here, where there are few flags: to find what two long lists have in common, a
    # database sorts them.
    for rows in (judgments_in_force(project), final_flags(project).filter(~Exists(judged))):
        sql, more = rows.filter(**only).order_by().values_list(*columns).query.sql_with_params()
        parts.append(sql)
        parameters += more
    said = " UNION ALL ".join(parts)
    return f"WITH said (narrative, candidate, annotator) AS ({said})", parameters


@prepared("project", "relevant_from")
def _ready(scope: str, project: int, relevant_from: int) -> Built:
    """Pairs that can be judged: pair, query."""
    ready = pairs_with_pool(_under(scope, project, relevant_from))
    return ready.order_by("pk").values_list("pk", "query_id")


@prepared("project", "relevant_from", "queries")
def _ready_of(scope: str, project: int, relevant_from: int, queries: int) -> Built:
    """Pairs of these queries that can be judged: pair, query."""
    ready = pairs_with_pool(_under(scope, project, relevant_from)).filter(query__in=[queries])
    return ready.order_by("pk").values_list("pk", "query_id")


@prepared("project", "relevant_from", "queries")
def _sizes(scope: str, project: int, relevant_from: int, queries: int) -> Built:
    """How many documents are to be judged: query, documents."""
    candidates = Candidate.objects.filter(query__in=[queries])
    found = in_scope(_under(scope, project, relevant_from), candidates)
    return found.order_by().values_list("query_id").annotate(n=Count("pk"))


def _by_answers(said: tuple[str, list[Any]]) -> Built:
    with_said, parameters = said
    sql = f"""
        {with_said}, counted (narrative, candidate, answers) AS (
            SELECT narrative, candidate, COUNT(*) FROM said GROUP BY narrative, candidate
        )
        SELECT v.pair_id, c.answers, COUNT(*) FROM counted c
        JOIN annotate_narrative v ON v.id = c.narrative GROUP BY v.pair_id, c.answers
    """  # noqa: S608 (Django's own query)
    return sql, parameters


@prepared("project", "relevant_from")
def _counts(scope: str, project: int, relevant_from: int) -> Built:
    """How many documents of each pair have how many answers: pair, answers, documents."""
    return _by_answers(_statements(_under(scope, project, relevant_from)))


@prepared("project", "relevant_from", "pairs")
def _counts_of(scope: str, project: int, relevant_from: int, pairs: int) -> Built:
    """The same of these pairs alone."""
    rules = _under(scope, project, relevant_from)
    return _by_answers(_statements(rules, narrative__pair__in=[pairs]))


@prepared("project", "relevant_from")
def _answers_by_pair(scope: str, project: int, relevant_from: int) -> Built:
    """How many answers people have given on each pair: pair, person, answers."""
    return _by_pair(_statements(_under(scope, project, relevant_from)))


@prepared("project", "relevant_from", "pairs", "people")
def _answers_on(scope: str, project: int, relevant_from: int, pairs: int, people: int) -> Built:
    """The same of these pairs and people alone."""
    rules = _under(scope, project, relevant_from)
    return _by_pair(_statements(rules, narrative__pair__in=[pairs], annotator__in=[people]))


def _by_pair(said: tuple[str, list[Any]]) -> Built:
    with_said, parameters = said
    sql = f"""
        {with_said} SELECT v.pair_id, s.annotator, COUNT(*) FROM said s
        JOIN annotate_narrative v ON v.id = s.narrative GROUP BY v.pair_id, s.annotator
    """  # noqa: S608 (Django's own query)
    return sql, parameters


@prepared("project")
def _alive(project: int) -> Built:
    """How many pairs were not removed."""
    return counted(InstructionPair.objects.filter(project=project).alive())


@prepared("project")
def _to_rewrite(project: int) -> Built:
    """How many pairs are to be rewritten."""
    return counted(InstructionPair.objects.filter(project=project).to_rewrite())


@prepared("project", "pairs")
def _to_rewrite_of(project: int, pairs: int) -> Built:
    """Those of these pairs that are to be rewritten."""
    found = InstructionPair.objects.filter(project=project).to_rewrite()
    return found.filter(pk__in=[pairs]).values_list("pk")


@prepared("project", "pairs")
def _in_force(scope: str, project: int, pairs: int) -> Built:
    """The narratives in force of these pairs: pair, then as in `InForce`."""
    found = narratives_in_force(Project(pk=project, judge_scope=scope)).filter(pair__in=[pairs])
    return found.values_list("pair_id", "pk", "side", "version", "pair__query_id")


@prepared("project", "relevant_from", "pairs", "people")
def _asked_again(scope: str, project: int, relevant_from: int, pairs: int, people: int) -> Built:
    """How many documents these people are asked to look at again: pair, person, documents."""
    said = judgments_in_force(_under(scope, project, relevant_from))
    requests = RejudgeRequest.objects.open().filter(
        Exists(said.filter(pk=OuterRef("judgment_id"))),
        judgment__narrative__pair__in=[pairs],
        judgment__annotator__in=[people],
    )
    by = ("judgment__narrative__pair_id", "judgment__annotator_id")
    return requests.order_by().values_list(*by).annotate(n=Count("pk"))


@prepared("project")
def _to_review(project: int) -> Built:
    """Pairs that can be reviewed."""
    return InstructionPair.objects.filter(project=project).to_review().values_list("pk")


@prepared("project")
def _reviewed(project: int) -> Built:
    """The pair of each review that is there."""
    return reviews_in_force(Project(pk=project)).values_list("of_pair")
