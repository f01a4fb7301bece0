"""The assignments that a member holds, with the work left in each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Prefetch, prefetch_related_objects

from annotate.judgments import completion
from annotate.pairs.models import Assignment, InstructionPair
from annotate.projects.models import Membership


@dataclass(frozen=True)
class MyAssignment:
    """An assignment of a member, and how much of it is done."""

    assignment: Assignment
    done: int
    total: int
    # Documents that a lead asks them to look at again; they are not counted as done.
    again: int = 0

    @property
    def is_sent_back(self) -> bool:
        """Whether it is to rewrite a narrative that was sent back; given that work is left."""
        task, pair = self.assignment.task, self.assignment.pair
        return task == Assignment.Task.REWRITE and pair.sent_back_at is not None


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


def my_assignments(member: Membership) -> list[MyAssignment]:
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
    assignments_of_mine = [
        MyAssignment(assignment, *left[assignment.pk])
        for assignment in held
        if left[assignment.pk].is_open
    ]
    # Sorting is stable: otherwise they stay in their order.
    return sorted(assignments_of_mine, key=lambda mine: not mine.again)


def pair_assignments(pair: InstructionPair) -> list[tuple[Assignment, bool]]:
    """Return the assignments on a pair, each with whether its work is done."""
    held = list(pair.assignments.select_related("member").order_by("task", "seat"))
    left = completion.left_in(pair.project, held)
    return [(assignment, not left[assignment.pk].is_open) for assignment in held]
