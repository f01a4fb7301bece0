"""The work left in one person's assignments.

Work is left while the person can still add something that the assignment asks for, whatever
`Assignment.done_at` says: that column only dates the end of the work. `annotate.judgments.
completion` has the one definition of what is wanted and what is done.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from django.db.models import Count, Q, QuerySet

from annotate.judgments.completion import answers_by_pair, pool_sizes, reviews_in_force
from annotate.judgments.in_force import judgments_in_force
from annotate.judgments.models import RejudgeRequest, Repeat
from annotate.judgments.repeats import chance, count_repeats
from annotate.pairs.models import Assignment, InstructionPair, Narrative
from annotate.pairs.pool import judged_narratives, repeat_seed
from annotate.projects.models import Membership, Project

Task = Assignment.Task


class WorkLeft(NamedTuple):
    """One person's progress in one assignment."""

    done: int
    total: int
    # Documents with a rejudge request; they are not counted as done.
    again: int = 0

    @property
    def is_open(self) -> bool:
        """Whether work is left."""
        return self.done < self.total


_NOTHING = WorkLeft(0, 0)


def left_in(
    project: Project | Sequence[Project],
    assignments: Iterable[Assignment],
    answers: Mapping[tuple[int, int], int] | None = None,
) -> dict[int, WorkLeft]:
    """Return the progress in these assignments of one or several projects, by assignment key.

    `answers`: the result of `answers_by_pair`, if the caller has it. At most ten queries, however
    many assignments there are, and three more if projects have repeats, which count as documents.
    """
    projects = [project] if isinstance(project, Project) else project
    by_task: dict[str, list[Assignment]] = defaultdict(list)
    for assignment in assignments:
        by_task[assignment.task].append(assignment)
    left: dict[int, WorkLeft] = {}
    if rewriting := by_task[Task.REWRITE]:
        pairs = [assignment.pair_id for assignment in rewriting]
        to_rewrite = InstructionPair.objects.filter(pk__in=pairs).to_rewrite()
        wanted = set(to_rewrite.values_list("pk", flat=True))
        left |= {
            assignment.pk: WorkLeft(int(assignment.pair_id not in wanted), 1)
            for assignment in rewriting
        }
    if reviewing := by_task[Task.REVIEW]:
        owed = _reviews_owed(projects, reviewing)
        left |= {
            assignment.pk: WorkLeft(int(assignment.pk not in owed), 1) for assignment in reviewing
        }
    if judges := by_task[Task.JUDGE]:
        left |= _left_to_judge(projects, judges, answers)
    return left


def open_assignments(member: Membership, *tasks: str) -> list[Assignment]:
    """Return a member's assignments with work left, of these tasks or, for none, of all."""
    # Filtered in Python: pages prefetch their reader's assignments.
    held = [assignment for assignment in held_by(member) if not tasks or assignment.task in tasks]
    held.sort(key=lambda assignment: assignment.pk)
    left: Mapping[int, WorkLeft] | None = getattr(member, _LEFT, None)
    if left is None:
        left = left_in(member.project, held)
    return [assignment for assignment in held if left[assignment.pk].is_open]


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

    At most thirteen queries, however many members there are. Prefetch their assignments first.
    Members who have it already are left out.
    """
    members = [member for member in members if not hasattr(member, _LEFT)]
    if not members:
        return
    held = [assignment for member in members for assignment in held_by(member)]
    judges = {assignment.member_id for assignment in held if assignment.task == Task.JUDGE}
    answers = answers_by_pair(*(member.project for member in members if member.pk in judges))
    left = left_in([member.project for member in members], held, answers)
    for member in members:
        setattr(member, _LEFT, left)


def left_of(member: Membership) -> Mapping[int, WorkLeft]:
    """Return a member's progress in each assignment, by key; `prefetch_left` prefetches it."""
    prefetched: Mapping[int, WorkLeft] | None = getattr(member, _LEFT, None)
    return left_in(member.project, held_by(member)) if prefetched is None else prefetched


def _left_to_judge(
    projects: Sequence[Project],
    assignments: Sequence[Assignment],
    answers: Mapping[tuple[int, int], int] | None,
) -> dict[int, WorkLeft]:
    pairs = {assignment.pair_id for assignment in assignments}
    people = {assignment.member_id for assignment in assignments}
    in_force = {
        narrative.pair_id: narrative
        for narrative in judged_narratives(*projects)
        .filter(pair__in=pairs)
        .select_related("pair")
        .only("side", "version", "pair")
    }
    sizes = pool_sizes(
        projects, {pair: narrative.pair.query_id for pair, narrative in in_force.items()}
    )
    # A judgment has at most one request that is not withdrawn. Requests are few: filter by them
    # first.
    requested = judgments_in_force(*projects).filter(
        pk__in=RejudgeRequest.objects.not_withdrawn().values("judgment"),
        narrative__pair__in=pairs,
        annotator__in=people,
    )
    again = {
        (pair, person): many
        for pair, person, many in requested.order_by()
        .values_list("narrative__pair_id", "annotator_id")
        .annotate(n=Count("pk"))
    }
    if answers is None:
        answers = answers_by_pair(*projects, pairs=pairs)
    repeats = _repeat_progress(projects, assignments, in_force, sizes)
    left = {}
    for assignment in assignments:
        if assignment.pair_id not in in_force:
            left[assignment.pk] = _NOTHING
            continue
        key = (assignment.pair_id, assignment.member_id)
        asked, come_again = again.get(key, 0), repeats.get(assignment.pk, _NOTHING)
        left[assignment.pk] = WorkLeft(
            answers.get(key, 0) - asked + come_again.done,
            sizes[assignment.pair_id] + come_again.total,
            asked,
        )
    return left


def _repeat_progress(
    projects: Sequence[Project],
    assignments: Sequence[Assignment],
    in_force: Mapping[int, Narrative],
    sizes: Mapping[int, int],
) -> dict[int, WorkLeft]:
    """Return each assignment's progress in repeats, by assignment key."""
    if not any(project.repeat_percent for project in projects):
        return {}
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
        left[assignment.pk] = WorkLeft(final, max(planned, count))
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
