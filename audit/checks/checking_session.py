"""A checking session: the labels that one person checks or settles, and their answers so far."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db.models import Q, QuerySet
from django.urls import reverse
from django.utils import timezone

from annotate.projects.models import Grade, Membership
from audit.checks.models import Check, SampleItem
from audit.checks.modes import checks_in_modes
from audit.checks.queue import to_check, to_settle

# How long the page offers to undo a check with one key.
UNDO_OFFERED = timedelta(hours=1)


@dataclass(frozen=True)
class CheckingSession:
    """The labels of one person in the order in which they are checked, and their answers."""

    # Every label the person has answered or can answer, in the order of its key.
    order: list[int]
    answers: dict[int, Check]
    settles: bool

    @property
    def left(self) -> int:
        """How many labels the person can still answer."""
        return len(self.order) - len(self.answers)

    @property
    def history(self) -> list[int]:
        """The labels whose answer can be undone, the latest answer last."""
        since = timezone.now() - UNDO_OFFERED
        undoable = [
            check
            for check in self.answers.values()
            if check.at > since and check.reason_read_at is None
        ]
        return [check.item_id for check in sorted(undoable, key=lambda check: (check.at, check.pk))]

    @property
    def last(self) -> Check | None:
        """The person's latest answer, if undo is offered for it."""
        return self.answers[self.history[-1]] if self.history else None

    def position(self, item: int) -> int:
        """Return the position of a label, from 1."""
        return self.order.index(item) + 1

    def beside(self, item: int, step: int) -> int | None:
        """Return the label before (-1) or after (1) this one, answered or not."""
        at = self.order.index(item) + step
        return self.order[at] if 0 <= at < len(self.order) else None


def read_session(member: Membership, item: SampleItem, *, settles: bool) -> CheckingSession:
    """Return the session in which `member` answers `item`: the labels of its sample or, if the
    project's kind checks in modes, all labels of its mode. Two queries.
    """
    mine = Check.objects.current().filter(_place(settles), checker=member)
    waiting: QuerySet[SampleItem] = to_settle(member, item.sample)
    if settles or not checks_in_modes(member.project):
        mine = mine.filter(item__sample=item.sample_id)
    else:
        side = item.narrative.side
        mine = mine.filter(item__sample__project=member.project_id, item__narrative__side=side)
    if not settles:
        waiting = waiting_labels(member, item)
    # A paused project still shows what was answered.
    open_labels = [] if member.project.paused_at else list(waiting.values_list("pk", flat=True))
    answers = {check.item_id: check for check in mine}
    return CheckingSession(sorted({*open_labels, *answers}), answers, settles)


def waiting_labels(member: Membership, item: SampleItem) -> QuerySet[SampleItem]:
    """Return the labels that `member` can check in the session of `item`."""
    if checks_in_modes(member.project):
        return to_check(member).filter(narrative__side=item.narrative.side)
    return to_check(member, item.sample)


def session_data(
    member: Membership,
    item: SampleItem,
    session: CheckingSession,
    grades: list[Grade],
    grade_keys: dict[int, str],
) -> dict[str, Any]:
    """Return the data on a checking session for the page's script, to be written as JSON."""
    page, start = (
        ("audit:settlement", "audit:settling")
        if session.settles
        else ("audit:check", "audit:checking")
    )
    return {
        "user": member.user_id,
        "task": "settle" if session.settles else "check",
        "candidate": item.pk,
        "order": session.order,
        "answers": {
            label: ["check", check.relevance, str(check.uuid)]
            for label, check in session.answers.items()
        },
        "history": session.history,
        "grades": [
            {"value": grade.value, "name": grade.name, "key": grade_keys[grade.value]}
            for grade in grades
        ],
        "urls": {
            "documents": reverse("audit:labels", args=[item.sample_id])
            + ("?settles=1" if session.settles else ""),
            "judging": reverse(start, args=[item.sample_id]),
            "candidate": reverse(page, args=[0]),
        },
    }


def _place(settles: bool) -> Q:
    return Q(place=Check.SETTLES) if settles else ~Q(place=Check.SETTLES)
