"""Who may see what others said: nobody sees it before they answered themselves."""

from __future__ import annotations

from annotate.judgments import completion
from annotate.judgments.completion import open_seats
from annotate.pairs.models import Assignment
from annotate.pairs.pool import workable_pairs
from annotate.projects.models import Membership

Task = Assignment.Task

# Whoever holds one of these with work left sees no agreement, no export and no release.
BLIND_TASKS = frozenset({Task.JUDGE, Task.REVIEW})


def must_answer_first(member: Membership) -> bool:
    """Tell whether `member` sits before something others may have answered, and has yet to.

    Blind means blind: until then no figure and no file over the whole project tells them what the
    others said.
    """
    held = open_seats(member, *BLIND_TASKS)
    return any(
        workable_pairs(member.project, task)
        .filter(pk__in=[seat.pair_id for seat in held if seat.task == task])
        .exists()
        for task in {seat.task for seat in held}
    )


def hides_figures(*, task: str, by: Membership) -> bool:
    """Tell whether a seat of `task` hides agreement, exports and releases from a lead."""
    return by.leads and task in BLIND_TASKS


def blind_pairs(reader: Membership) -> set[int]:
    """The pairs (by key) that the reader still judges: what others say there is not for them."""
    return {seat.pair_id for seat in completion.open_seats(reader, Assignment.Task.JUDGE)}
