"""Estimate measures over all pairs that a machine labelled, from the pairs that people judged.

Each system is measured twice: on people's qrels of the judged pairs, and on the machine's labels of
all pairs. `agreement.prediction_powered` combines both; docs/llm.md says when this holds.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from agreement.prediction_powered import Estimate, Population, PredictionPowered, prediction_powered
from annotate.pairs.models import Narrative
from annotate.projects.models import Membership, Project
from base.errors import Refused
from base.texts import amount
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
    """The labels of a machine as it claims them, by pair: nobody's checks or judgments.

    Documents that are not put before judges keep their earlier relevance, as in people's qrels.
    `lacking`: how many documents of these pairs it should label and has not.
    """

    machine: str
    changed: Qrels
    reverse: Qrels
    lacking: int
    rewritten: int


def machine_labels(
    project: Project, name: str, pairs: Container[str], since: datetime | None
) -> MachineLabels:
    """Read the labels of a machine under these pairs.

    `since`: when the release was requested whose qrels are measured; pairs with a newer instruction
    are counted as `rewritten`. Refused: the project has no machine of this name.
    """
    machine = Membership.objects.filter(project=project, is_machine=True, name=name).first()
    if machine is None:
        raise Refused(f"This project has no machine called {name}.")
    written = [pair for pair in selection.pairs(project) if pair.pair_id in pairs]
    lacking = 0
    by_side: dict[str, Qrels] = {Narrative.Side.ALTERED: {}, Narrative.Side.REVERSED: {}}
    for side, qrels in by_side.items():
        of_side = selection.claimed(written, side)
        for pair, pool in claimed.labelled_pools(project, of_side, side, rater=machine):
            claims = {its.doc_id: label.claim for its, label in pool if label is not None}
            if not claims:
                continue
            qrels[pair.pair_id] = grades = {}
            for document, _label in pool:
                grade = claims.get(document.doc_id)
                keeps_prior = side == Narrative.Side.ALTERED and not document.in_scope
                if keeps_prior and document.prior is not None:
                    grade = document.prior
                if grade is not None:
                    grades[document.doc_id] = grade
                elif document.in_scope and side == Narrative.Side.ALTERED:
                    lacking += 1
    return MachineLabels(
        machine.name,
        changed=by_side[Narrative.Side.ALTERED],
        reverse=by_side[Narrative.Side.REVERSED],
        lacking=lacking,
        rewritten=0 if since is None else _count_newer(project, pairs, since),
    )


def _count_newer(project: Project, pairs: Container[str], since: datetime) -> int:
    newer = Narrative.objects.in_force([project.pk]).filter(
        side=Narrative.Side.ALTERED, created_at__gt=since
    )
    return sum(pair in pairs for pair in newer.values_list("pair__pair_id", flat=True))


def estimate_measures(
    labels: MachineLabels,
    collection: Collection,
    before: Qrels,
    of_pairs: Mapping[str, str],
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
        of_pairs: The query of each pair.
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
        "note": _why_none(labels, judged, folder),
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
    left_out = set()
    queries = [of_pairs[pair] for pair in labels.changed]
    if len(set(queries)) < len(queries) or collection.cores:
        # How many documents are relevant to a core query depends on which pairs were drawn.
        left_out.add("wise")
    if _count_open(judged, Narrative.Side.REVERSED, folder):
        left_out |= {"wise", "sicr"}
    for system in ranked:
        for key, measured in measure_system(prepared, system.scores).items():
            if key in left_out:
                continue
            by_people = by_query.get(key, {}).get(system.name, {})
            estimated = prediction_powered(
                {pair: measured.by_query.get(pair) for pair in labels.changed},
                {pair: by_people.get(pair) for pair in judged},
                population=POPULATIONS[population],
            )
            results["measures"].setdefault(key, {})[system.name] = _as_json(estimated)
    return results


def _why_none(labels: MachineLabels, judged: Iterable[str], folder: Path) -> str:
    """Return why nothing is estimated, or ""."""
    sample = set(judged)
    if not sample:
        return NO_PAIRS
    if labels.rewritten:
        return (
            f"{amount(labels.rewritten, 'instruction was', 'instructions were')} rewritten after "
            "the release, so that its labels are about other texts"
        )
    if labels.lacking:
        return f"it has not labelled {amount(labels.lacking, 'document')} of its pairs"
    # What people have not settled are the difficult documents.
    left = _count_open(sample, Narrative.Side.ALTERED, folder)
    if left:
        of_pairs = amount(left, "document of these pairs is", "documents of these pairs are")
        return f"{of_pairs} not judged or settled yet"
    return ""


def _count_open(pairs: Container[str], side: str, folder: Path) -> int:
    """Return how many documents of these pairs people have not judged or settled on a side."""
    return sum(
        pair in pairs and of == side
        for name in OPEN
        for _query, pair, of, *_rest in read_rows(folder / name)
    )


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
