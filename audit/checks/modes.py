"""Checking labels in modes: original, instructed, reversed. Each mode is a separate sample.

In InfoSearch a gold document is relevant to the original and to the instructed query, and not to
the reversed one; so it is checked once in each mode, with the narrative of that mode.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from django.db import transaction
from django.db.models import Count, Exists, Min, OuterRef, Q, QuerySet

from annotate.judgments.in_force import in_pools
from annotate.pairs.models import Narrative
from annotate.projects.kinds import kind_of
from annotate.projects.models import Membership, Project
from audit.checks.claims import ClaimSelection, build_frame
from audit.checks.models import Check, Sample, SampleItem
from audit.checks.queue import to_check, with_checks
from base.errors import Refused

# The modes in the paper's words, by the sides of the narratives.
MODES: Mapping[str, str] = {
    Narrative.Side.ORIGINAL: "Original",
    Narrative.Side.ALTERED: "Instructed",
    Narrative.Side.REVERSED: "Reversed",
}


def selection_in_mode(project: Project, selection: ClaimSelection, mode: str) -> ClaimSelection:
    """Return the request for claims of one mode.

    In the original mode the qrels are the source if the machine has no claims there.
    """
    in_mode = selection._replace(side=mode)
    of_machines = selection.source in (Sample.Source.MACHINE, Sample.Source.CLAIMS)
    if mode != Narrative.Side.ORIGINAL or not of_machines:
        return in_mode
    if build_frame(project, in_mode).claims:
        return in_mode
    return in_mode._replace(source=Sample.Source.PRIOR, rater=None)


def mode_samples(
    project: Project, selection: ClaimSelection, name: str, modes: Sequence[str]
) -> Iterator[tuple[str, ClaimSelection]]:
    """Yield for each mode the name of its sample and its request for claims."""
    for mode in modes:
        yield (
            f"{name} ({MODES[mode].lower()})",
            selection_in_mode(project, selection, mode),
        )


def make_mode_samples(
    make: Callable[[str, ClaimSelection], Sample],
    *,
    project: Project,
    selection: ClaimSelection,
    name: str,
    modes: Sequence[str],
) -> list[Sample]:
    """Make a sample for each mode, or one of all modes if `modes` is empty; all or none.

    Refused: as by `make` (`draw_sample` or `pick_suspects`), and if no mode has any claims.
    """
    if not modes:
        return [make(name, selection)]
    with transaction.atomic():
        made = [
            make(of_mode, in_mode)
            for of_mode, in_mode in mode_samples(project, selection, name, modes)
            if build_frame(project, in_mode).claims
        ]
    if not made:
        raise Refused("Nothing is claimed in these modes.")
    return made


class ModeProgress(NamedTuple):
    """Progress on the labels of one mode: overall, by one member, and left for that member."""

    mode: str
    labels: int = 0
    checked: int = 0
    mine: int = 0
    to_check: int = 0
    # The first label that the member could check.
    next: int | None = None


def checks_in_modes(project: Project) -> bool:
    """Return whether the kind of project checks labels in modes."""
    return any(step.startswith("check_") for step in kind_of(project.kind).steps)


def has_modes(project: Project) -> bool:
    """Return whether labels can be checked in several modes: the kind has modes, or some
    instruction is reversed.
    """
    reversed_ones = Narrative.objects.filter(pair__project=project, side=Narrative.Side.REVERSED)
    return checks_in_modes(project) or reversed_ones.exists()


def progress_by_mode(member: Membership) -> list[ModeProgress]:
    """Return the passes of the member's project in the order of the modes; an empty list if its
    kind has no modes. Three queries.

    A label belongs to the mode of its narrative, also in a sample of all modes.
    """
    if not checks_in_modes(member.project):
        return []
    items = SampleItem.objects.filter(
        in_pools(), sample__project=member.project, narrative__pair__removed_at__isnull=True
    )
    done = Q(outcome__isnull=False) | Q(unjudgeable=True)
    mine = Exists(Check.objects.current().filter(item=OuterRef("pk"), checker=member))
    counted = _by_mode(
        with_checks(items).annotate(mine=mine),
        labels=Count("pk"),
        checked=Count("pk", filter=done),
        mine_all=Count("pk", filter=Q(mine=True)),
    )
    waiting = waiting_by_mode(member)
    return [
        ModeProgress(mode, *counted.get(mode, (0, 0, 0)), *waiting.get(mode, (0, None)))
        for mode in MODES
    ]


def waiting_by_mode(member: Membership) -> dict[str, tuple[int, int]]:
    """Return by mode how many labels the member could check, and the first of them."""
    counts = _by_mode(to_check(member), waiting=Count("pk"), first=Min("pk"))
    return {mode: (waiting, first) for mode, (waiting, first) in counts.items()}


def _by_mode(items: QuerySet[Any, Any], **counts: Any) -> dict[str, tuple[Any, ...]]:
    rows = items.order_by().values("narrative__side").annotate(**counts)
    return {row["narrative__side"]: tuple(row[name] for name in counts) for row in rows}
