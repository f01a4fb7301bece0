"""Labels that machines claim differently: which they are, and the lead's choice of what counts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, NamedTuple

from django.db import transaction
from django.db.models import Count, Q
from django.utils import timezone

from annotate.judgments.blindness import blind_pairs
from annotate.judgments.document_names import hidden_from, name_of
from annotate.judgments.machine_claims import (
    chosen_machines,
    count_undecided,
    counting_claims,
    current_claims,
    is_contradicted,
    machine_that_counts,
)
from annotate.judgments.models import Judgment
from annotate.pairs.models import Narrative
from annotate.projects.access import refuse_if_archived
from annotate.projects.audit_log import record
from annotate.projects.models import Membership, Project
from audit.checks.queue import IS_OPEN, blind_labels
from base.errors import Refused
from base.texts import amount


class ClaimingMachine(NamedTuple):
    """A machine with the number of its claims, and of those that another machine contradicts."""

    machine: Membership
    claims: int
    contradicted: int


class Effect(NamedTuple):
    """What a choice does to the labels that the machine claims and another contradicts."""

    labels: Annotated[int, "Labels whose claim counts now."]
    decided: Annotated[int, "Of these, labels without a claim before."]
    changed: Annotated[int, "Of these, labels with another claim before."]


class MachineGrade(NamedTuple):
    """The grade that one machine claims."""

    machine: str
    relevance: int


class ContradictedLabel(NamedTuple):
    """A label that machines claim differently."""

    id: int
    query: int
    pair: int
    pair_id: str
    side: Narrative.Side
    narrative: int
    candidate: int
    document: Annotated[str, "The name on pages: the document's title, or a neutral name."]
    doc_id: Annotated[str | None, "null until you have answered."]
    claims: Annotated[
        list[MachineGrade] | None,
        "null while you judge the document or people check the label.",
    ]
    counts: Annotated[str | None, "The machine whose claim counts; null until a lead chooses."]


def claiming_machines(project: Project) -> list[ClaimingMachine]:
    """Return the machines with claims under current narratives, by name: two queries."""
    counted = dict[int, tuple[int, int]]()
    rows = current_claims(project).annotate(contradicted=is_contradicted()).order_by()
    for machine, claims, contradicted in rows.values_list("annotator").annotate(
        claims=Count("pk"), n=Count("pk", filter=Q(contradicted=True))
    ):
        counted[machine] = (claims, contradicted)
    machines = Membership.objects.filter(pk__in=counted).order_by("name")
    return [ClaimingMachine(machine, *counted[machine.pk]) for machine in machines]


def undecided_sentence(project: Project) -> str:
    """Return a warning about labels that are claimed differently and undecided; "" without any."""
    number = count_undecided(project)
    if not number:
        return ""
    labels = amount(number, "label")
    return (
        f"Machines claim {labels} differently: what nobody judged or checked would be left out. "
        "Choose whose claims count under Checks."
    )


def effect_of_choosing(machine: Membership) -> Effect:
    """Return what `choose_machine` would do now."""
    claims = current_claims(machine.project).filter(is_contradicted())
    own = {
        (narrative, candidate): relevance
        for narrative, candidate, relevance in claims.filter(annotator=machine).values_list(
            "narrative", "candidate", "relevance"
        )
    }
    now = {
        (claim.narrative, claim.candidate): claim.relevance
        for claim in counting_claims(machine.project, claims)
    }
    return Effect(
        len(own),
        sum(now[label] is None for label in own),
        sum(now[label] not in (None, relevance) for label, relevance in own.items()),
    )


def choose_machine(*, machine: Membership, by: Membership, now: datetime | None = None) -> None:
    """Let the claims of a machine count wherever others claim the same label differently.

    Where it claims nothing, the machine that was chosen before it counts. Choosing the same machine
    twice changes nothing. Refused: not a lead, not a machine of the project, an archived project.
    """
    if not by.leads or by.project_id != machine.project_id:
        raise Refused("Only leads of this project choose whose claims count.")
    if not machine.is_machine:
        raise Refused("Choose a machine: only machines claim labels.")
    with transaction.atomic():
        project = Project.objects.select_for_update(no_key=True).get(pk=by.project_id)
        refuse_if_archived(project)
        chosen = chosen_machines(project)
        if chosen and chosen[0] == machine:
            return
        machine.claims_chosen_at = now or timezone.now()
        machine.save(update_fields=["claims_chosen_at"])
        before = chosen[0].name if chosen else None
        record(
            project=project,
            what="claims.chosen",
            about=machine,
            by=by,
            changes={"machine": (before, machine.name)},
            now=now,
        )


def describe_labels(reader: Membership, firsts: Sequence[Judgment]) -> list[ContradictedLabel]:
    """Return the labels of these judgments of `contradicted_labels` as the reader may see them."""
    project = reader.project
    candidates = {first.candidate_id: first.candidate for first in firsts}
    narratives = {first.narrative_id for first in firsts}
    claims: dict[tuple[int, int], dict[int, Judgment]] = defaultdict(dict)
    of_machines = current_claims(project).filter(narrative__in=narratives, candidate__in=candidates)
    for judgment in of_machines.select_related("annotator").order_by("annotator__name"):
        claims[judgment.narrative_id, judgment.candidate_id][judgment.annotator_id] = judgment
    chosen = [machine.pk for machine in chosen_machines(project)]
    hidden_ids = hidden_from(reader, list(candidates.values()))
    blind = blind_pairs(reader)
    # Labels that people still check without seeing the claim.
    unsettled = blind_labels().filter(IS_OPEN, narrative__in=narratives, candidate__in=candidates)
    in_checks = set(unsettled.values_list("narrative", "candidate"))
    labels = []
    for first in firsts:
        key = (first.narrative_id, first.candidate_id)
        grades = {machine: claim.relevance for machine, claim in claims[key].items()}
        counts = machine_that_counts(grades, chosen)
        hidden = first.narrative.pair_id in blind or key in in_checks
        name = name_of(first.candidate.document, project, hidden=first.candidate_id in hidden_ids)
        shown = [MachineGrade(one.annotator.name, one.relevance) for one in claims[key].values()]
        pair = first.narrative.pair
        labels.append(
            ContradictedLabel(
                id=first.pk,
                query=pair.query_id,
                pair=pair.pk,
                pair_id=pair.pair_id,
                side=Narrative.Side(first.narrative.side),
                narrative=first.narrative_id,
                candidate=first.candidate_id,
                document=name.label,
                doc_id=name.doc_id,
                claims=None if hidden else shown,
                counts=None if counts is None else claims[key][counts].annotator.name,
            )
        )
    return labels
