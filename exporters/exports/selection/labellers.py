"""Who gave the labels of the qrels: people, by judging and by checking claims, and each machine."""

from __future__ import annotations

from collections import Counter
from typing import Annotated, TypedDict

from annotate.pairs.models import Narrative
from annotate.projects.models import Membership, Project
from audit.machines.certificates import certificates_of
from audit.machines.origin import circularity_of, origin_of
from base.snapshot import once_in_snapshot
from exporters.exports.selection import claimed, selection


class MachineLabels(TypedDict):
    """What a machine is, and how far its labels may be trusted, in sentences."""

    labels: Annotated[int, "Its labels in all qrels that nobody checked."]
    machine: str
    model: Annotated[str | None, "null: its labels were loaded from a file."]
    prompt_version: int | None
    prompt_sha256: str | None
    certificates: list[str]
    circularity: Annotated[str, "A warning that names runs of the same family; or empty."]


class Labellers(TypedDict):
    """How many labels of all qrels are people's and each machine's."""

    people: Annotated[int, "What their judgments and leads' decisions come to."]
    checked: Annotated[int, "What people's checks of claimed labels come to."]
    machines: list[MachineLabels]


NO_CERTIFICATE = "There is no certificate: no labels of this machine were drawn to be checked."


@once_in_snapshot
def labellers(project: Project) -> Labellers:
    """Return who gave the labels of all qrels: how many are people's and each machine's."""
    pairs = selection.pairs(project)
    people = sum(
        document.outcome.relevance is not None
        for side in Narrative.Side.values
        for _pair, pool in selection.pooled_documents(
            project, selection.written_pairs(pairs, side), side
        )
        for document in pool
    )
    labels = Counter(
        "checked" if label.counts_as == "claims_checked" else label.machine
        for side in claimed.SIDES
        for label in claimed.labels(project, selection.claimed(pairs, side), side)
        if label.counts_as != "claims_judged" and label.relevance is not None
    )
    return Labellers(
        people=people,
        checked=labels["checked"],
        machines=[_describe(machine, labels[machine.pk]) for machine in claimed.raters(project)],
    )


def _describe(machine: Membership, labels: int) -> MachineLabels:
    origin = origin_of(machine)
    certificates = [certificate.sentence for certificate in certificates_of(machine)]
    return MachineLabels(
        labels=labels,
        machine=machine.name,
        model=origin.endpoint.model if origin else None,
        prompt_version=origin.prompt.version if origin else None,
        prompt_sha256=origin.prompt.sha256 if origin else None,
        certificates=certificates or [NO_CERTIFICATE],
        circularity=circularity_of(machine).sentence,
    )
