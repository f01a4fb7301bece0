"""Assignments: who does which task on which pair, and what is left of it.

A task on a pair has at most as many assignments as the project's overlap, each with its own seat.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from django.db import transaction
from django.db.models import Prefetch, QuerySet, prefetch_related_objects
from django.utils import timezone

from annotate.judgments import completion
from annotate.judgments.blindness import hides_figures, must_answer_first
from annotate.judgments.completion import WorkLeft, left_in
from annotate.judgments.in_force import judgments_in_force
from annotate.judgments.open_pairs import Task, is_any_open, open_pairs, with_quota_reached
from annotate.pairs.models import LEASE, Assignment, InstructionPair
from annotate.pairs.pool import workable_pairs
from annotate.projects.access import refuse_if_archived
from annotate.projects.audit_log import record
from annotate.projects.models import Membership, Project
from annotate.projects.schedule import refuse_if_paused
from base.errors import Refused

NOT_YOURS = "This is not your task. Take one from your list, then go on."
RELEASED = (
    "Your task was released before anything of it had arrived, and is not free any more. Ask a "
    "lead to let one more person do it, then try again."
)


class LeadMustConfirm(Refused):
    """A lead would become blind to the project's figures, and has not confirmed it."""


def take_next(
    *, task: str, by: Membership, become_blind: bool = False, now: datetime | None = None
) -> Assignment | None:
    """Give `by` an assignment of `task` on the next pair with a free one; None if there is none.

    If `by` holds an assignment they have not begun, that one is returned, so calling twice takes
    only one. Pairs of urgent queries come first, then those on which others have begun, so that
    overlaps fill up early. A lead who takes a new assignment to judge or review must confirm it
    with `become_blind`, else LeadMustConfirm is raised.
    """
    now = now or timezone.now()
    project = by.project
    refuse_if_archived(project)
    refuse_if_paused(project)
    with transaction.atomic():
        give_back_untouched(project=project, task=task, now=now)
        if held := _untouched_with_work(task, by):
            return held
        _refuse_above_quota(by)
        if hides_figures(task=task, by=by) and is_any_open(task=task, by=by):
            _refuse_unconfirmed(task, by, become_blind)
        # Skip pairs that others are taking right now; wait for their locks only if none is left.
        for skip_locked in (True, False):
            tried: list[int] = []
            while pair := _first_locked(
                open_pairs(task=task, by=by).exclude(pk__in=tried), skip_locked
            ):
                tried.append(pair.pk)
                seat = _lowest_free_seat(pair, task, project.overlap(task))
                if seat is not None:
                    return Assignment.objects.create(
                        pair=pair, task=task, seat=seat, member=by, taken_at=now
                    )
    return None


def take(
    *,
    pair: InstructionPair,
    task: str,
    by: Membership,
    become_blind: bool = False,
    unrestricted: bool = False,
    now: datetime | None = None,
) -> Assignment:
    """Give `by` an assignment of `task` on this pair, or return the one they hold.

    Refused if none is free. `become_blind`: as in `take_next`. `unrestricted`: ignore a paused
    project, named people and quotas, for work that is already done or that a lead asks for.
    """
    now = now or timezone.now()
    refuse_if_archived(by.project)
    with transaction.atomic():
        locked = InstructionPair.objects.select_for_update().get(pk=pair.pk, project=by.project_id)
        held = by.assignments.filter(pair=locked, task=task).first()
        if held is not None:
            return held
        if not unrestricted:
            refuse_if_paused(by.project)
            _refuse_above_quota(by)
        give_back_untouched(project=by.project, task=task, now=now)
        if not (
            open_pairs(task=task, by=by, unrestricted=unrestricted).filter(pk=locked.pk).exists()
            or _has_answered(locked, task, by)
        ):
            raise Refused("Every task on this one is taken, or there is nothing to do here now.")
        _refuse_unconfirmed(task, by, become_blind)
        seat = _lowest_free_seat(locked, task, by.project.overlap(task))
        if seat is None:
            raise Refused("Every task on this one is taken. Take another from your list.")
        return Assignment.objects.create(pair=locked, task=task, seat=seat, member=by, taken_at=now)


def holds(*, pair: InstructionPair, task: str, by: Membership) -> bool:
    """Return whether `by` has an assignment of `task` on this pair."""
    return Assignment.objects.filter(pair=pair, member=by, task=task).exists()


def lock(*, pair: InstructionPair, task: str, by: Membership) -> Assignment:
    """Return the assignment of `by`, locked for this transaction; refuse if they have none."""
    assignment = (
        Assignment.objects.select_for_update().filter(pair=pair, task=task, member=by).first()
    )
    if assignment is None:
        raise Refused(NOT_YOURS)
    return assignment


def lock_or_take(*, pair: InstructionPair, task: str, by: Membership, now: datetime) -> Assignment:
    """Return the assignment of `by`, locked for this transaction; give them one if they have none.

    For work that is already done or that a lead asks for: limits on who takes tasks are ignored.
    """
    try:
        return lock(pair=pair, task=task, by=by)
    except Refused:
        refuse_if_archived(by.project)
        try:
            take(pair=pair, task=task, by=by, become_blind=True, unrestricted=True, now=now)
        except Refused as taken:
            raise Refused(RELEASED) from taken
        return lock(pair=pair, task=task, by=by)


def begin_work(*, pair: InstructionPair, task: str, by: Membership, now: datetime) -> None:
    """Mark the assignment of `by` as begun, if they have one."""
    held = Assignment.objects.filter(pair=pair, task=task, member=by, touched_at=None)
    held.update(touched_at=now)


def end_rewriting(*, pair: InstructionPair, by: Membership, now: datetime) -> None:
    """Record that `by` wrote a pair's altered narrative, with a rewrite assignment or without.

    Assignments that others had begun are done as well; those nobody began are given back later.
    """
    begin_work(pair=pair, task=Task.REWRITE, by=by, now=now)
    # A further version by the same author ends their work later.
    by.assignments.filter(pair=pair, task=Task.REWRITE).update(done_at=now)
    pair.assignments.filter(
        task=Task.REWRITE, touched_at__isnull=False, done_at__isnull=True
    ).update(done_at=now)


def touch(assignment: Assignment, *, done: bool, now: datetime) -> None:
    """Record that work was done in an assignment, and whether the assignment is done."""
    assignment.touched_at = assignment.touched_at or now
    assignment.done_at = (assignment.done_at or now) if done else None
    assignment.save(update_fields=["touched_at", "done_at"])


def reopen(*, pair: InstructionPair, tasks: tuple[str, ...]) -> None:
    """Mark the pair's assignments of these tasks as not done, because their object changed."""
    Assignment.objects.filter(pair=pair, task__in=tasks).update(done_at=None)


def update_ends(*, project: Project, held: QuerySet[Assignment], now: datetime) -> None:
    """Record whether these assignments of a project are done, because their object changed.

    Those with work left are not done; those without, that were begun, are.
    """
    left = left_in(project, held)
    unfinished = [assignment for assignment, work in left.items() if work.is_open]
    held.filter(pk__in=unfinished).update(done_at=None)
    held.exclude(pk__in=unfinished).filter(touched_at__isnull=False, done_at__isnull=True).update(
        done_at=now
    )


def give_back(*, assignment: Assignment, by: Membership) -> None:
    """Give back an assignment that was not begun. A lead may give back anyone's."""
    refuse_if_archived(by.project)
    with transaction.atomic():
        locked = Assignment.objects.select_for_update().filter(pk=assignment.pk).first()
        if locked is None:
            return
        if locked.member_id != by.pk and not by.leads:
            raise Refused("Only its holder or a lead can release a task.")
        if locked.touched_at is not None:
            raise Refused("Work was done in this task, so it cannot be released.")
        if locked.member_id != by.pk:
            record(
                project=by.project,
                what="assignment.freed",
                about=locked,
                named=f"{locked.pair} · {locked} · {locked.member}",
                by=by,
            )
        locked.delete()


def give_back_untouched(*, project: Project, task: str, now: datetime) -> int:
    """Delete assignments taken longer than a lease ago and never begun; return how many."""
    freed, _ = Assignment.objects.filter(
        pair__project=project, task=task, touched_at__isnull=True, taken_at__lt=now - LEASE
    ).delete()
    return freed


def _untouched_with_work(task: str, by: Membership) -> Assignment | None:
    """Return the first assignment that `by` has not begun and that has work now."""
    held = list(by.assignments.filter(task=task, touched_at__isnull=True).order_by("pk"))
    if not held:
        return None
    left = left_in(by.project, held)
    pairs = open_pairs(task=task, by=by, held=True).filter(
        pk__in=[assignment.pair_id for assignment in held]
    )
    workable = set(pairs.values_list("pk", flat=True))
    return next(
        (
            assignment
            for assignment in held
            if left[assignment.pk].is_open and assignment.pair_id in workable
        ),
        None,
    )


def _has_answered(pair: InstructionPair, task: str, by: Membership) -> bool:
    """Return whether `by` judged documents of the pair without an assignment.

    Such a person may take an assignment, to judge again.
    """
    return (
        task == Task.JUDGE
        and judgments_in_force(by.project).filter(annotator=by, narrative__pair=pair).exists()
        and workable_pairs(task, by.project).filter(pk=pair.pk).exists()
    )


def _refuse_above_quota(by: Membership) -> None:
    """Refuse a task to a member whose quota is reached, under a lock on the membership."""
    if by.most_tasks is None:
        return
    Membership.objects.select_for_update(no_key=True).get(pk=by.pk)
    if with_quota_reached([by]):
        tasks, them = ("task", "it") if by.most_tasks == 1 else ("tasks", "them")
        raise Refused(
            f"A lead gives you at most {by.most_tasks} {tasks} in this project, and you have "
            f"taken {them}."
        )


def _refuse_unconfirmed(task: str, by: Membership, become_blind: bool) -> None:
    if not become_blind and hides_figures(task=task, by=by) and not must_answer_first(by):
        raise LeadMustConfirm(
            "You lead this project. With a task here you see no agreement, export or "
            "release until you have answered everything in it. Send “become_blind” as true "
            "if you want that; else give the work to an annotator."
        )


def _first_locked(pairs: QuerySet[InstructionPair], skip_locked: bool) -> InstructionPair | None:
    return pairs.select_for_update(skip_locked=skip_locked, of=("self",)).first()


def _lowest_free_seat(pair: InstructionPair, task: str, overlap: int) -> int | None:
    """Return the lowest free seat, read again under the pair's lock; None if all are taken.

    An assignment that does not keep its seat is deleted.
    """
    held = pair.assignments.filter(task=task)
    taken = set(held.keeping_their_places().values_list("seat", flat=True))
    seat = next((seat for seat in range(1, overlap + 1) if seat not in taken), None)
    if seat is not None:
        held.filter(seat=seat).delete()
    return seat


def read_assignments(members: Sequence[Membership]) -> None:
    """Prefetch the assignments of these members, with their pairs, for a whole page."""
    members = [member for member in members if not hasattr(member, completion.HELD)]
    if not members:
        return
    with_pairs = Assignment.objects.select_related("pair__query")
    prefetch_related_objects(members, Prefetch("assignments", with_pairs, to_attr=completion.HELD))
    for member in members:
        for assignment in completion.held_by(member):
            assignment.pair.project = member.project


def my_assignments(member: Membership) -> list[WorkLeft]:
    """Return the member's assignments with work left.

    Those with documents to look at again come first, then those begun, the latest first.
    """
    read_assignments([member])
    left = completion.left_of(member)
    held = [
        assignment
        for assignment in completion.held_by(member)
        if assignment.pair.removed_at is None
    ]
    held.sort(
        key=lambda assignment: (
            -assignment.touched_at.timestamp() if assignment.touched_at else 0,
            assignment.pk,
        )
    )
    work = [left[assignment.pk] for assignment in held if left[assignment.pk].is_open]
    # Sorting is stable: otherwise they stay in their order.
    return sorted(work, key=lambda mine: not mine.again)


def pair_assignments(pair: InstructionPair) -> list[WorkLeft]:
    """Return the assignments on a pair, with the work left in each."""
    held = list(pair.assignments.select_related("member").order_by("task", "seat"))
    left = completion.left_in(pair.project, held)
    return [left[assignment.pk] for assignment in held]
