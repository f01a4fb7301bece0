"""Labels that machines claim: which claim counts where several machines claim the same label.

Each label (a document under a narrative version) counts once, whichever machine claims it. Where
machines claim different grades, a lead chooses the machine whose claims count.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple, TypeVar

from django.db.models import Exists, OuterRef

from annotate.judgments.in_force import in_pools
from annotate.judgments.models import Judgment, StatementQuerySet
from annotate.pairs.models import Narrative
from annotate.projects.models import Membership, Project

_AT_ONCE = 5_000
Machine = TypeVar("Machine", int, str)


class Claim(NamedTuple):
    """The claim that counts for a label: a candidate under a narrative.

    `relevance` is None while machines claim different grades and no lead has chosen one of them.
    `columns`: the columns that were asked for, of the judgment that counts, else of the first one.
    """

    narrative: int
    candidate: int
    relevance: int | None
    columns: tuple[Any, ...]


def counting_claims(
    project: Project, judgments: StatementQuerySet[Judgment], *columns: str
) -> Iterator[Claim]:
    """Yield the claim that counts for each label that machines claim: two queries.

    `judgments`: some of this project's; only current ones of machines are read.
    """
    chosen = [machine.pk for machine in chosen_machines(project)]
    rows: Iterable[Any] = (
        judgments.current()
        .filter(in_pools(), annotator__is_machine=True)
        .order_by("narrative_id", "candidate_id", "annotator_id")
        .values_list("narrative_id", "candidate_id", "annotator_id", "relevance", *columns)
        .iterator(_AT_ONCE)
    )
    for (narrative, candidate), group in groupby(rows, itemgetter(0, 1)):
        claims = {row[2]: row[3:] for row in group}
        grades = {machine: claim[0] for machine, claim in claims.items()}
        machine = machine_that_counts(grades, chosen)
        relevance, *more = claims[machine if machine is not None else next(iter(claims))]
        yield Claim(
            narrative, candidate, None if machine is None else relevance, columns=tuple(more)
        )


def chosen_machines(project: Project) -> list[Membership]:
    """Return the machines whose claims a lead chose to count, the newest choice first."""
    chosen = Membership.objects.filter(project=project, claims_chosen_at__isnull=False)
    return list(chosen.order_by("-claims_chosen_at"))


def machine_that_counts(
    claims: Mapping[Machine, object], chosen: Iterable[Machine]
) -> Machine | None:
    """Return the machine whose claim counts, of those that claim one label, by key or by name.

    It is the first of the `chosen` machines, else any if all claim the same; None if they differ.
    """
    for machine in chosen:
        if machine in claims:
            return machine
    return next(iter(claims)) if len(set(claims.values())) == 1 else None


def counting_machines(
    project: Project, claims: Mapping[tuple[int, int], Mapping[int, int]]
) -> dict[tuple[int, int], int | None]:
    """Return the machine (by key) whose claim counts for each label, None if none does.

    `claims`: the grades by machine of each narrative and candidate. One query, or none where each
    label has one machine.
    """
    several = any(len(of_label) > 1 for of_label in claims.values())
    chosen = [machine.pk for machine in chosen_machines(project)] if several else []
    return {label: machine_that_counts(of_label, chosen) for label, of_label in claims.items()}


def current_claims(project: Project) -> StatementQuerySet[Judgment]:
    """Return machines' current judgments under current narratives."""
    return Judgment.objects.current().filter(
        in_pools(),
        annotator__project=project,
        annotator__is_machine=True,
        narrative__in=Narrative.objects.in_force([project.pk]),
    )


def is_contradicted() -> Exists:
    """Return the condition that another machine claims another grade for the same label."""
    return Exists(_claims_of_same_label().exclude(relevance=OuterRef("relevance")))


def contradicted_labels(project: Project) -> StatementQuerySet[Judgment]:
    """Return one judgment, of the first machine, of each label that machines claim differently."""
    earlier = _claims_of_same_label().filter(annotator__lt=OuterRef("annotator"))
    return current_claims(project).filter(is_contradicted(), ~Exists(earlier))


def count_undecided(project: Project) -> int:
    """Return how many labels machines claim differently without a lead's choice that decides."""
    if Membership.objects.filter(project=project, is_machine=True).count() < 2:
        return 0
    chosen = _claims_of_same_label().filter(annotator__claims_chosen_at__isnull=False)
    return contradicted_labels(project).filter(~Exists(chosen)).count()


def _claims_of_same_label() -> StatementQuerySet[Judgment]:
    return Judgment.objects.current().filter(
        annotator__is_machine=True,
        narrative=OuterRef("narrative"),
        candidate=OuterRef("candidate"),
    )
