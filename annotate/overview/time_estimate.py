"""Estimate how much time the judgments left will take, at the pace measured in the project."""

from __future__ import annotations

from typing import Annotated, Final, NamedTuple

from django.db.models import F

from annotate.collection.models import Candidate
from annotate.collection.shown_documents import shown_to_judges
from annotate.judgments import revisions
from annotate.judgments.answer_counts import counts_of
from annotate.judgments.blindness import blind_pairs
from annotate.judgments.completion import JudgingProgress
from annotate.pairs.pool import in_pool_of
from annotate.projects.models import Membership, Project

# Seconds for one judgment if no time is known.
ASSUMED: Final = 60.0


class TimeEstimate(NamedTuple):
    """How much time the judgments left will take, and what it was computed from."""

    judgments: Annotated[int, "Judgments left; if `planned`, wanted later."]
    each: Annotated[float, "Seconds for one judgment."]
    measured: Annotated[int, "The number of judgments it is the mean of; 0: it is assumed."]
    planned: Annotated[
        bool, "Whether the narratives are still to be written: then the whole pool is counted."
    ]

    @property
    def seconds(self) -> float:
        """Seconds for all of them together."""
        return self.judgments * self.each


def time_estimate(reader: Membership, judging: JudgingProgress) -> TimeEstimate | None:
    """Estimate the time for the judgments left in the reader's project; None if none are left.

    `judging` is the progress of its judging. Times on pairs that the reader still judges are left
    out.
    """
    project = reader.project
    planned = not judging.wanted
    judgments = _wanted_later(project) if planned else judging.left
    if not judgments:
        return None
    seconds, measured = _measured(reader)
    each = seconds / measured if measured else ASSUMED
    return TimeEstimate(judgments, each, measured, planned)


def _wanted_later(project: Project) -> int:
    """Count the judgments wanted of the whole pool once every narrative is written."""
    if not project.overlap_judge:
        return 0
    documents = Candidate.objects.filter(
        shown_to_judges(project),
        in_pool_of(F("query__pairs")),
        query__project=project,
        query__removed_at__isnull=True,
        query__pairs__isnull=False,
        query__pairs__removed_at__isnull=True,
    )
    # A document counts once for each instruction of its query.
    return documents.values_list("pk", "query__pairs").count() * project.overlap_judge


def _measured(reader: Membership) -> tuple[float, int]:
    """Return the seconds of the judgments whose time is known, and their number."""
    project, blind = reader.project, blind_pairs(reader)
    states = [state for state in revisions.states_in_force([project]) if state.pair not in blind]
    counts = counts_of(states).values()
    return sum(count.active_ms for count in counts) / 1_000, sum(count.timed for count in counts)
