"""Measure systems on original and changed qrels: values with intervals, and differences.

Works on records and numbers, without the database: `exporters.evaluations.measuring` reads the runs
and saves the results.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

from exporters.evaluations.options import NAMES, name_of
from exporters.evaluations.system_measures import (
    Collection,
    PreparedCollection,
    RankedSystem,
    measure_system,
)
from measures import Measurement, compare, holm
from measures.followir import changed_documents, moves_of
from measures.significance import Test

# How many moves of documents an evaluation stores for each system.
MOST_MOVES = 20_000
# Measures where lower is better.
LOWER = {"nfr"}


def evaluate(
    prepared: PreparedCollection,
    systems: Sequence[RankedSystem],
    baseline: str,
    report: Callable[[int], None] = lambda _: None,
) -> dict[str, Any]:
    """Measure every system, compare each with the baseline, and return the results to store.

    `report` is called after each system. The keys: `measures` (key, name, whether lower is better),
    `systems` (values by measure, and the moves of documents), `by_query` (values by measure, system
    and topic), `differences` (by measure and system), `baseline`.
    """
    measurements: dict[str, dict[str, Measurement]] = {}
    by_system = []
    for system in systems:
        for key, measurement in measure_system(prepared, system.scores).items():
            measurements.setdefault(key, {})[system.name] = measurement
        moved = moves(prepared.collection, system, prepared.options["p-mrr"])
        by_system.append({"name": system.name, "moves": moved})
        report(1)
    return {
        "measures": [
            {"key": key, "name": name_of(key), "lower": key in LOWER}
            for key in _in_order(measurements)
        ],
        "systems": [
            {
                **system,
                "values": {
                    key: _value_of(its[system["name"]])
                    for key, its in measurements.items()
                    if system["name"] in its
                },
            }
            for system in by_system
        ],
        "by_query": {
            key: {name: dict(measurement.by_query) for name, measurement in its.items()}
            for key, its in measurements.items()
        },
        "baseline": baseline,
        "differences": differences(
            measurements,
            baseline,
            prepared.clusters,
            prepared.options["differences"].get("test", "randomization"),
        )
        if baseline
        else {},
    }


def _in_order(measured: Iterable[str]) -> list[str]:
    keys = list(measured)
    return [key for key in NAMES if key in keys] + [key for key in keys if key not in NAMES]


def moves(
    collection: Collection, system: RankedSystem, options: Mapping[str, Any]
) -> list[list[Any]]:
    """Return the ranks of every document that p-MRR counts: [topic, document, old, new]."""
    if not {"original", "changed"} <= system.runs.keys():
        return []
    wanted, _warnings = changed_documents(
        collection.original,
        collection.changed,
        options.get("documents", "newly_irrelevant"),
        unjudged=options.get("unjudged", "left_out"),
        relevant=collection.relevant,
    )
    moved, _warnings = moves_of(
        system.scores["original"],
        system.scores["changed"],
        wanted,
        missing=options.get("missing", "after_last"),
        ties=options.get("ties", "id_descending"),
    )
    every = (
        [topic, document, old, new]
        for topic, its in moved.items()
        for document, old, new in zip(*its, strict=True)
    )
    return list(islice(every, MOST_MOVES))


def differences(
    measurements: Mapping[str, Mapping[str, Measurement]],
    baseline: str,
    clusters: Mapping[str, str] | None = None,
    test: Test = "randomization",
) -> dict[str, dict[str, Any]]:
    """Compare every system with the baseline by measure; Holm over the systems of a measure."""
    compared_by: dict[str, dict[str, Any]] = {}
    for key, its in measurements.items():
        if baseline not in its:
            continue
        compared = {
            name: compare(measurement, its[baseline], test=test, clusters=clusters)
            for name, measurement in its.items()
            if name != baseline
        }
        adjusted = holm({name: comparison.p for name, comparison in compared.items()})
        compared_by[key] = {
            name: {
                "difference": comparison.difference,
                "low": comparison.interval.low if comparison.interval else None,
                "high": comparison.interval.high if comparison.interval else None,
                "note": comparison.interval_note,
                "n": comparison.n,
                "p": comparison.p,
                "p_holm": adjusted[name],
                "reason": comparison.reason,
                "warnings": list(comparison.warnings),
            }
            for name, comparison in compared.items()
        }
    return compared_by


def _value_of(measurement: Measurement) -> dict[str, Any]:
    interval = measurement.interval
    return {
        "value": measurement.value,
        "low": interval.low if interval else None,
        "high": interval.high if interval else None,
        "n": measurement.n,
        "reason": measurement.reason,
        "note": measurement.interval_note,
        "options": dict(measurement.options),
        "warnings": list(measurement.warnings),
    }
