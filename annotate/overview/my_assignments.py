"""The assignments that a member holds, with the work left in each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet

from annotate.collection.models import Query
from annotate.judgments import work_left
from annotate.pairs.models import Assignment, InstructionPair
from annotate.projects.models import Membership
from base.prepared_queries import Built, prepared
from base.raw_sql import all_rows


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
    members = [member for member in members if "assignments" not in prefetched(member)]
    if not members:
        return
    held: dict[int, list[Assignment]] = {member.pk: [] for member in members}
    for assignment, pair, query in all_rows(
        *_with_pairs.sql(members=list(held)), Assignment, InstructionPair, Query
    ):
        pair.query, assignment.pair = query, pair
        held[assignment.member_id].append(assignment)
    nothing = Assignment.objects.all().query
    for member in members:
        for assignment in held[member.pk]:
            assignment.member = member
            assignment.pair.project = member.project
        # As `prefetch_related_objects` does, but without building a query for each member.
        read: QuerySet[Assignment] = QuerySet(Assignment, nothing)
        read._result_cache = held[member.pk]
        member.__dict__.setdefault("_prefetched_objects_cache", {})["assignments"] = read


@prepared("members")
def _with_pairs(members: int) -> Built:
    return Assignment.objects.filter(member__in=[members]).select_related("pair__query")


def prefetched(member: Membership) -> Mapping[str, Any]:
    """Return the prefetched relations of a member, by name."""
    found: Mapping[str, Any] = getattr(member, "_prefetched_objects_cache", {})
    return found


def my_assignments(member: Membership) -> list[MyAssignment]:
    """Return the member's assignments with work left.

    Those with documents to look at again come first, then those begun, the latest first.
    """
    read_assignments([member])
    left = work_left.left_of(member)
    held = [
        assignment for assignment in member.assignments.all() if assignment.pair.removed_at is None
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
    left = work_left.left_in(pair.project, held)
    return [(assignment, not left[assignment.pk].is_open) for assignment in held]
