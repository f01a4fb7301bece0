"""The assignments that somebody holds, with what is left in each."""

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
from base.raw_sql import every


@dataclass(frozen=True)
class MyAssignment:
    """An assignment of mine, and how far I am in it."""

    assignment: Assignment
    done: int
    total: int
    # Documents that a lead asks me to look at again; they are not done.
    again: int = 0


def read_assignments(members: Sequence[Membership]) -> None:
    """Read the assignments of members ahead, with their pairs, for all that a page asks of them."""
    members = [member for member in members if "assignments" not in prefetched(member)]
    if not members:
        return
    held: dict[int, list[Assignment]] = {member.pk: [] for member in members}
    for assignment, pair, query in every(
        *_with_pairs.sql(members=list(held)), Assignment, InstructionPair, Query
    ):
        pair.query, assignment.pair = query, pair
        held[assignment.member_id].append(assignment)
    nothing = Assignment.objects.all().query
    for member in members:
        for assignment in held[member.pk]:
            assignment.member = member
            assignment.pair.project = member.project
        # As `prefetch_related_objects` does, which puts a query together for each member.
        read: QuerySet[Assignment] = QuerySet(Assignment, nothing)
        read._result_cache = held[member.pk]
        member.__dict__.setdefault("_prefetched_objects_cache", {})["assignments"] = read


@prepared("members")
def _with_pairs(members: int) -> Built:
    return Assignment.objects.filter(member__in=[members]).select_related("pair__query")


def prefetched(member: Membership) -> Mapping[str, Any]:
    """Return what was read ahead of a member, by name."""
    found: Mapping[str, Any] = getattr(member, "_prefetched_objects_cache", {})
    return found


def my_assignments(member: Membership) -> list[MyAssignment]:
    """The member's assignments with work left in them: first where they are asked to look again,
    then begun ones.
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
    # In their order, as sorting keeps it.
    return sorted(assignments_of_mine, key=lambda mine: not mine.again)


def pair_assignments(pair: InstructionPair) -> list[tuple[Assignment, bool]]:
    """Who sits on a pair, and whether their work is done."""
    held = list(pair.assignments.select_related("member").order_by("task", "seat"))
    left = work_left.left_in(pair.project, held)
    return [(assignment, not left[assignment.pk].is_open) for assignment in held]
