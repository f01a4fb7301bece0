"""The assignments that a member holds, with the work left in each."""

from __future__ import annotations

from collections.abc import Sequence

from django.db.models import Prefetch, prefetch_related_objects

from annotate.judgments import completion
from annotate.judgments.completion import WorkLeft
from annotate.pairs.models import Assignment, InstructionPair
from annotate.projects.models import Membership


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
