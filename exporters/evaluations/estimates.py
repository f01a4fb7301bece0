"""Estimate measures over all pairs that a machine labelled, from the pairs that people judged.

Each system is measured twice: on people's qrels of the judged pairs, and on the machine's labels of
all pairs. `agreement.prediction_powered` combines both; docs/llm.md says when this holds.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from agreement.prediction_powered import Estimate, Population, PredictionPowered, prediction_powered
from annotate.pairs.models import Narrative
from annotate.projects.models import Membership, Project
from base.errors import Refused
from exporters.evaluations.system_measures import (
    Collection,
    Options,
    PreparedCollection,
    Qrels,
    RankedSystem,
    measure_system,
)
from exporters.exports.files import read_rows
from exporters.exports.selection import claimed, selection

POPULATIONS: dict[str, Population] = {"these": "these units", "like": "units like these"}
# Files of an export that list the documents without a relevance: query, pair, side, document.
OPEN = ("unjudged.tsv", "disputed.tsv")
NO_PAIRS = "people have judged none of the pairs that it labelled"


class MachineLabels(NamedTuple):
    """The labels of a machine as it claims them, by pair: nobody's checks or judgments."""

    machine: str
    changed: Qrels
    reverse: Qrels

    def only(self, pairs: Container[str]) -> MachineLabels:
        """Return the labels of these pairs."""
        changed, reverse = (
            {pair: grades for pair, grades in qrels.items() if pair in pairs}
            for qrels in (self.changed, self.reverse)
        )
        return MachineLabels(self.machine, changed, reverse)


def machine_labels(project: Project, name: str) -> MachineLabels:
    """Read the labels of a machine. Refused: the project has no machine of this name."""
    machines = Membership.objects.filter(project=project, is_machine=True, name=name)
    machine = machines.first()
    if machine is None:
        raise Refused(f"This project has no machine called {name}.")
    pairs = selection.pairs(project)
    changed, reverse = (
        _labels_on(side, project, pairs, machine)
        for side in (Narrative.Side.ALTERED, Narrative.Side.REVERSED)
    )
    return MachineLabels(machine.name, changed, reverse)


def _labels_on(
    side: str, project: Project, pairs: Sequence[selection.Pair], machine: Membership
) -> Qrels:
    qrels: Qrels = {}
    of_side = selection.claimed(pairs, side)
    for label in claimed.labels(project, of_side, side, rater=machine):
        if label.claim is not None:
            qrels.setdefault(label.pair.pair_id, {})[label.doc_id] = label.claim
    return qrels


def estimate_measures(
    labels: MachineLabels,
    collection: Collection,
    before: Qrels,
    ranked: Sequence[RankedSystem],
    by_query: Mapping[str, Mapping[str, Mapping[str, float | None]]],
    options: Options,
    folder: Path,
) -> dict[str, Any]:
    """Estimate each measure of each system, as an evaluation stores it.

    Args:
        labels: Of the machine.
        collection: With people's labels.
        before: The earlier relevance under each pair that the machine labelled.
        ranked: The systems, with their runs for the pairs of both.
        by_query: People's values by measure, system and pair.
        options: As `read_options` returns them.
        folder: The export that `collection` was read from.

    The keys: `machine`, `population`, `pairs` and `judged` (how many), `note` (why nothing is
    estimated, or ""), and `measures`: by measure and system `machine`, `people`, `combined`,
    `power` and `width_ratio`.
    """
    # Without judgments of people, claimed labels take their place.
    of_people = () if collection.changed is collection.claimed else collection.changed
    judged = [pair for pair in of_people if pair in labels.changed]
    population = str(options["machine"].get("population", "these"))
    results: dict[str, Any] = {
        "machine": labels.machine,
        "population": population,
        "pairs": len(labels.changed),
        "judged": len(judged),
        "note": _why_none(judged, folder),
        "measures": {},
    }
    if results["note"]:
        return results
    prepared = PreparedCollection(
        collection._replace(
            original=before,
            changed=labels.changed,
            reverse=labels.reverse,
            claimed={},
            verdicts={},
            conditions={},
        ),
        options,
        values_only=True,
    )
    for system in ranked:
        for key, measured in measure_system(prepared, system.scores).items():
            by_people = by_query.get(key, {}).get(system.name, {})
            estimated = prediction_powered(
                {pair: measured.by_query.get(pair) for pair in labels.changed},
                {pair: by_people.get(pair) for pair in judged},
                population=POPULATIONS[population],
            )
            results["measures"].setdefault(key, {})[system.name] = _as_json(estimated)
    return results


def _why_none(judged: Iterable[str], folder: Path) -> str:
    """Return why nothing is estimated, or ""."""
    sample = set(judged)
    if not sample:
        return NO_PAIRS
    # What people have not settled are the difficult documents.
    left = sum(
        pair in sample and side in (Narrative.Side.ALTERED, Narrative.Side.REVERSED)
        for name in OPEN
        for _query, pair, side, *_rest in read_rows(folder / name)
    )
    if left:
        several = "s of these pairs are" if left > 1 else " of these pairs is"
        return f"{left:,} document{several} not judged or settled yet"
    return ""


def _as_json(estimated: PredictionPowered) -> dict[str, Any]:
    return {
        "machine": estimated.machine,
        "people": _estimate(estimated.people),
        "combined": _estimate(estimated.combined),
        "power": estimated.power,
        "width_ratio": estimated.width_ratio,
    }


def _estimate(estimate: Estimate) -> dict[str, Any]:
    interval = estimate.interval
    return {
        "value": estimate.value,
        "low": interval.low if interval else None,
        "high": interval.high if interval else None,
        "note": estimate.note,
    }
