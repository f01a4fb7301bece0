"""The systems whose non-relevant documents a release lists as hard negatives."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from django.db import transaction

from annotate.collection.models import Run
from annotate.pools.actions import MAX_DEPTH, runs_named
from annotate.pools.models import HardNegativeRun, HardNegatives
from annotate.projects.access import lock_project
from annotate.projects.audit_log import record
from annotate.projects.models import Membership, Project
from base.errors import Refused


class Systems(NamedTuple):
    """The runs whose first documents are considered, and to which depth; without runs, no file."""

    runs: list[Run]
    depth: int

    @property
    def names(self) -> list[str]:
        """The names of the runs."""
        return [run.name for run in self.runs]


DEPTH = 10


def hard_negative_systems(project: Project) -> Systems:
    """Return the systems whose non-relevant documents a release lists; by default none."""
    rule = HardNegatives.objects.filter(project=project).first()
    if rule is None:
        return Systems([], DEPTH)
    runs = Run.objects.filter(pk__in=rule.of_runs.values("run")).order_by("name")
    return Systems(list(runs), rule.depth)


def choose_hard_negatives(
    *,
    project: Project,
    runs: Sequence[str],
    depth: int,
    by: Membership | None,
    now: datetime | None = None,
) -> Systems:
    """Set the systems, by the names of their runs, and the depth; without runs there is no file.

    Refused: a member who is not a lead, an archived project, an unknown run, too many runs, an
    invalid depth.
    """
    if not 1 <= depth <= MAX_DEPTH:
        raise Refused(f"The depth of hard negatives is a number from 1 to {MAX_DEPTH:,}.")
    with transaction.atomic():
        locked = lock_project(
            project.pk, by, "Only leads of this project can change what a release contains."
        )
        chosen = runs_named(locked, runs)
        before = hard_negative_systems(locked)
        row, _made = HardNegatives.objects.update_or_create(
            project=locked, defaults={"depth": depth}
        )
        row.of_runs.all().delete()
        HardNegativeRun.objects.bulk_create(HardNegativeRun(of=row, run=run) for run in chosen)
        after = hard_negative_systems(locked)
        if before != after:
            record(
                project=locked,
                what="hard_negatives.chosen",
                about=locked,
                by=by,
                changes={"runs": (_names(before), _names(after)), "depth": (before.depth, depth)},
                now=now,
            )
    return after


def _names(systems: Systems) -> str:
    return ", ".join(run.name for run in systems.runs)
