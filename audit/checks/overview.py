"""Label checks on the home and project pages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db.models import Count, Exists, OuterRef, Q
from django.urls import reverse

from annotate.overview.contributions import Contribution, Todo
from annotate.projects.kinds import kind_of
from annotate.projects.models import Membership
from audit.checks.models import Check, SampleItem
from audit.checks.queue import Waiting, waiting_to_check, waiting_to_settle


def contribution(members: Sequence[Membership]) -> dict[int, Contribution]:
    """Return how many labels each member could check or settle, and the way to the next one; leads
    settle in the queue of disagreements instead. Two queries.
    """
    to_check = waiting_to_check(members)
    to_settle = waiting_to_settle([member for member in members if not member.leads])
    return {
        member.pk: _contribution(member, to_check[member.pk], to_settle.get(member.pk))
        for member in members
    }


def _contribution(member: Membership, to_check: Waiting, to_settle: Waiting | None) -> Contribution:
    waiting = (
        ("Labels to check", "audit:check", to_check),
        ("Checked labels to settle", "audit:settlement", to_settle),
    )
    todo = tuple(
        Todo(text, left.number, reverse(route, args=[left.first]))
        for text, route, left in waiting
        if left is not None and left.first is not None
    )
    return Contribution(todo, details=lambda: _count_sampled(member) if member.leads else {})


def _count_sampled(member: Membership) -> dict[str, Any]:
    """Return how many labels are sampled and how many of them two people checked, in total and by
    the side of their narratives; empty if the kind of project has no such step. One query.
    """
    if not any(step.startswith("check") for step in kind_of(member.project.kind).steps):
        return {}
    checks = Check.objects.current().filter(item=OuterRef("pk"))
    both = Exists(checks.filter(place=1)) & Exists(checks.filter(place=2))
    rows: list[tuple[str, int, int]] = list(
        SampleItem.objects.filter(
            sample__project=member.project_id, narrative__pair__removed_at__isnull=True
        )
        .order_by()
        .values_list("narrative__side")
        .annotate(sampled=Count("pk"), checked=Count("pk", filter=Q(both)))
    )
    return {
        "sampled": sum(sampled for _side, sampled, _checked in rows),
        "checked": sum(checked for *_, checked in rows),
        "checked_in": {side: (checked, sampled) for side, sampled, checked in rows},
    }
