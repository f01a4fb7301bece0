"""A settling session: the disagreements that a lead settles one after the other."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.utils import timezone

from annotate.projects.models import Membership
from audit.settling.kinds import KINDS, current_decisions, kind_of
from audit.settling.queue import position_of, positions_after
from audit.settling.queue_filters import DisagreementKey, QueueFilter

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
    decisions = current_decisions(member.project_id, order)
    history = [key for key in alone if key in decisions]
    return SettlingSession(
        list(dict.fromkeys(order)), decisions, history, recent[-1] if recent else None
    )


def recent_decisions(member: Membership) -> list[Any]:
    """Return the reader's current decisions of the last hour that can be undone, the latest at the
    end: four queries.
    """
    since = timezone.now() - UNDO_OFFERED
    decisions: list[Any] = []
    for kind in KINDS.values():
        rows = kind.current_decisions(member.project_id).filter(kind.undoable)
        rows = rows.filter(**{kind.decided_by: member})
        decisions += rows.filter(at__gt=since).order_by("-at", "-pk")[:AHEAD]
    return sorted(decisions, key=lambda row: row.at)


def key_of(decision: Any) -> DisagreementKey:
    """Return the disagreement that a decision settles."""
    return kind_of(decision).key_of(decision)
