"""A settling session: the disagreements that a lead settles one after the other."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db.models import QuerySet
from django.utils import timezone

from annotate.judgments.models import Adjudication, ConditionAdjudication
from annotate.projects.models import Membership
from audit.checks.models import Check
from audit.reviews.models import Decision
from audit.settling.queue import position_of, positions_after
from audit.settling.queue_filters import DisagreementKey, Kind, QueueFilter

# For how long one key undoes a decision; later it is withdrawn on its own page.
UNDO_OFFERED = timedelta(hours=1)
# How many disagreements the page knows ahead.
AHEAD = 50


@dataclass(frozen=True)
class SettlingSession:
    """The disagreements of a session in order, and the decision on each that has one."""

    order: list[DisagreementKey]
    decisions: dict[DisagreementKey, Any]
    # Those that the reader settled last and can undo by a key, the latest at the end.
    history: list[DisagreementKey]
    # The reader's latest decision that one key undoes: with others, if they were made together.
    last: Any

    def beside(self, key: DisagreementKey, step: int) -> DisagreementKey | None:
        """Return the disagreement before (-1) or after (1) this one, settled or not."""
        at = self.order.index(key) + step
        return self.order[at] if 0 <= at < len(self.order) else None


def read_session(member: Membership, filters: QueueFilter, key: DisagreementKey) -> SettlingSession:
    """Return the session that opens with `key`: what the reader has just settled, `key`, and the
    disagreements that follow it in the filtered list.
    """
    recent = recent_decisions(member)
    alone = {key_of(row): row for row in recent if getattr(row, "batch", None) is None}
    onward = positions_after(member, filters, position_of(member, filters, key), AHEAD)
    following = [position.disagreement_key for position in onward]
    order = [*(other for other in alone if other not in {key, *following}), key, *following]
    decisions = current_decisions(member, order)
    history = [key for key in alone if key in decisions]
    return SettlingSession(
        list(dict.fromkeys(order)), decisions, history, recent[-1] if recent else None
    )


def recent_decisions(member: Membership) -> list[Any]:
    """Return the reader's current decisions of the last hour, the latest at the end: four
    queries.
    """
    since = timezone.now() - UNDO_OFFERED
    decisions: list[Any] = []
    for rows in _current(member).values():
        by = "checker" if rows.model is Check else "by"
        decisions += rows.filter(**{by: member}, at__gt=since).order_by("-at", "-pk")[:AHEAD]
    return sorted(decisions, key=lambda row: row.at)


def current_decisions(
    member: Membership, keys: Iterable[DisagreementKey]
) -> dict[DisagreementKey, Any]:
    """Return the current decision on each of these disagreements that has one: a query for each
    kind.
    """
    wanted = set(keys)
    decisions = {}
    for kind, rows in _current(member).items():
        of_kind = [key for key in wanted if key.kind is kind]
        if not of_kind:
            continue
        about = {
            Kind.JUDGMENT: {"narrative__in": {key.narrative for key in of_kind}},
            Kind.VERDICT: {"condition__in": {key.part for key in of_kind}},
            Kind.REVIEW: {"narrative__in": {key.narrative for key in of_kind}},
            Kind.CHECK: {"item__in": {key.part for key in of_kind}},
        }[kind]
        if kind in {Kind.JUDGMENT, Kind.VERDICT}:
            about["candidate__in"] = {key.candidate for key in of_kind}
        decisions.update({key_of(row): row for row in rows.filter(**about)})
    return {key: row for key, row in decisions.items() if key in wanted}


def key_of(decision: Any) -> DisagreementKey:
    """Return the disagreement that a decision settles."""
    if isinstance(decision, Adjudication):
        narrative, candidate = decision.narrative_id, decision.candidate_id
        return DisagreementKey(Kind.JUDGMENT, narrative, candidate, 0)
    if isinstance(decision, ConditionAdjudication):
        narrative, part = decision.condition.narrative_id, decision.condition_id
        return DisagreementKey(Kind.VERDICT, narrative, decision.candidate_id, part)
    if isinstance(decision, Check):
        item = decision.item
        return DisagreementKey(Kind.CHECK, item.narrative_id, item.candidate_id, item.pk)
    return DisagreementKey(Kind.REVIEW, decision.narrative_id, 0, 0)


def value_of(decision: Any) -> int | str:
    """Return the value of a decision: a grade, an answer to a condition, or an outcome."""
    if isinstance(decision, Adjudication | Check):
        return "cannot_judge" if decision.relevance is None else decision.relevance
    return str(decision.answer if isinstance(decision, ConditionAdjudication) else decision.outcome)


def _current(member: Membership) -> dict[Kind, QuerySet[Any]]:
    """Return the current decisions of the reader's project by kind."""
    project = member.project_id
    checks = Check.objects.current().filter(place=Check.SETTLES, checker__project=project)
    return {
        Kind.JUDGMENT: Adjudication.objects.current().filter(by__project=project),
        Kind.VERDICT: ConditionAdjudication.objects.current()
        .filter(by__project=project)
        .select_related("condition"),
        Kind.REVIEW: Decision.objects.current().filter(by__project=project),
        Kind.CHECK: checks.select_related("item"),
    }
