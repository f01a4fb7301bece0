"""Measure systems with disputed documents settled one way or another.

A settlement gives disputed documents of one topic a grade that one of their annotators gave. The
topic is measured again with these grades, under a separate id, by every measure of the evaluation.
docs/measures.md defines the figures.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from exporters.evaluations.system_measures import (
    Collection,
    Options,
    PreparedCollection,
    Qrels,
    RankedSystem,
    measure_system,
)
from exporters.exports.files import read_rows

# How many disputed documents are tried: those whose relevance is disputed come first.
MOST_DOCUMENTS = 1_000
# How many rankings are measured again for joint settlements of topics, over all systems.
MOST_RANKINGS = 40_000
# How many documents are stored for each measure: those that move it most.
MOST_STORED = 100
# How many topics are measured at a time.
BATCH = 500

# Sides of disputed.tsv on which systems are measured, with their names in `Collection`.
_SIDES = {"altered": "changed", "reversed": "reversed"}

ValuesByMeasure = Mapping[str, Mapping[str, Mapping[str, float | None]]]


class Dispute(NamedTuple):
    """A document with different grades and no adjudication."""

    side: str
    topic: str
    document: str
    grades: tuple[int, ...]

    @property
    def shares(self) -> dict[int, float]:
        """Return the share of annotators who gave each grade."""
        return {
            grade: self.grades.count(grade) / len(self.grades) for grade in sorted({*self.grades})
        }


Settlement = tuple[tuple[Dispute, int], ...]


class JointSettlements(NamedTuple):
    """Settlements of all disputed documents of a topic.

    Attributes:
        disputes: The documents.
        every: The settlements, each with its probability: one for each combination of grades if
            `complete`, else a sample.
    """

    disputes: Sequence[Dispute]
    every: Sequence[tuple[Settlement, float]]
    complete: bool


def read_disputes(path: Path) -> list[Dispute]:
    """Read disputed.tsv of an export: the disputes on the sides that are measured."""
    return [
        Dispute(_SIDES[side], pair, document, tuple(map(int, grades.split(","))))
        for _query, pair, side, document, grades in read_rows(path)
        if side in _SIDES
    ]


def choose_disputes(disputes: Iterable[Dispute], collection: Collection) -> list[Dispute]:
    """Return the disputes to try, at most MOST_DOCUMENTS, of measured topics only.

    Those that decide whether a document is relevant come first.
    """

    def sort_key(dispute: Dispute) -> tuple[Any, ...]:
        decides_relevance = min(dispute.grades) < collection.relevant <= max(dispute.grades)
        was_relevant = (
            collection.original.get(dispute.topic, {}).get(dispute.document, 0)
            >= collection.relevant
        )
        return not decides_relevance, not was_relevant, dispute

    return sorted(
        (dispute for dispute in disputes if dispute.topic in collection.changed), key=sort_key
    )[:MOST_DOCUMENTS]


def single_settlements(disputes: Iterable[Dispute]) -> list[Settlement]:
    """Return one settlement per document and grade it was given, leaving the others unsettled."""
    return [((dispute, grade),) for dispute in disputes for grade in dispute.shares]


def joint_settlements(
    disputes: Iterable[Dispute], systems: int, seed: int, resamples: int
) -> dict[str, JointSettlements]:
    """Return joint settlements of all disputed documents of each topic.

    These are all combinations of grades with their probabilities, or if there are too many, a
    random one for each of the `resamples`, fewer if MOST_RANKINGS allows no more. Documents are
    settled independently, each with the grade of one of its annotators.
    """
    by_topic: dict[str, list[Dispute]] = {}
    for dispute in disputes:
        by_topic.setdefault(dispute.topic, []).append(dispute)
    room = MOST_RANKINGS // max(1, systems * len(by_topic))
    most = max(4, min(resamples, room))
    rng = np.random.default_rng(seed)
    joint: dict[str, JointSettlements] = {}
    for topic in sorted(by_topic):
        its = sorted(by_topic[topic])
        shares = [list(dispute.shares.items()) for dispute in its]
        complete = math.prod(map(len, shares)) <= most
        if complete:
            every = [
                (
                    tuple(
                        (dispute, grade) for dispute, (grade, _) in zip(its, choice, strict=True)
                    ),
                    math.prod(share for _, share in choice),
                )
                for choice in product(*shares)
            ]
        else:
            every = [
                (
                    tuple(
                        (dispute, dispute.grades[int(rng.integers(len(dispute.grades)))])
                        for dispute in its
                    ),
                    1 / most,
                )
                for _ in range(most)
            ]
        joint[topic] = JointSettlements(its, every, complete)
    return joint


class SettledValues:
    """Values of systems on topics under settlements.

    Attributes:
        measures: The measures that settling can move.
        columns: The column of each settlement in the arrays.
    """

    def __init__(
        self,
        collection: Collection,
        options: Options,
        systems: Sequence[RankedSystem],
        settlements: Iterable[Settlement],
        by_query: ValuesByMeasure,
        check: Callable[[], None] = lambda: None,
    ) -> None:
        """Measure every system under every settlement; `by_query` holds the current values.

        `check` is called regularly, and raises an exception when the work must stop.
        """
        self.systems = [system.name for system in systems]
        self._collection, self._options, self._ranked = collection, options, systems
        self._by_query, self._check = by_query, check
        self.columns = {
            settlement: number for number, settlement in enumerate(dict.fromkeys(settlements))
        }
        self._values = self._measure(self.columns)
        self.measures = [key for key in by_query if key in self._values]
        self._again: dict[str, dict[Settlement, npt.NDArray[np.float64]]] = {}

    def values(self, measure: str) -> npt.NDArray[np.float64]:
        """Return values of a measure, shape (systems, settlements); nan if undefined."""
        return self._values[measure]

    def measure_again(
        self, measure: str, settlements: Sequence[Settlement]
    ) -> npt.NDArray[np.float64]:
        """Return values of a measure under other settlements, shape (systems, settlements)."""
        measured = self._again.setdefault(measure, {})
        new = dict.fromkeys(settlement for settlement in settlements if settlement not in measured)
        if new:
            empty = np.full((len(self.systems), len(new)), np.nan)
            values = self._measure(new).get(measure, empty)
            measured |= {settlement: values[:, number] for number, settlement in enumerate(new)}
        return np.array([measured[settlement] for settlement in settlements]).T

    def _measure(self, settlements: Iterable[Settlement]) -> dict[str, npt.NDArray[np.float64]]:
        wanted = list(settlements)
        by_measure: dict[str, npt.NDArray[np.float64]] = {}
        for start in range(0, len(wanted), BATCH):
            self._check()
            batch = wanted[start : start + BATCH]
            settled = _settled_collection(self._collection, batch)
            prepared = PreparedCollection(settled, self._options, values_only=True)
            ids = {str(number): _topic_of(settlement) for number, settlement in enumerate(batch)}
            for place, system in enumerate(self._ranked):
                runs = {side: scores.with_ids(ids) for side, scores in system.scores.items()}
                for key, measurement in measure_system(prepared, runs).items():
                    if key not in self._by_query or key == "nfr":
                        continue
                    if key not in by_measure:
                        by_measure[key] = np.full((len(self.systems), len(wanted)), np.nan)
                    for number, value in measurement.by_query.items():
                        if value is not None:
                            by_measure[key][place, start + int(number)] = value
        for key in [key for key in by_measure if key.endswith(" after")]:
            # Settling does not move the values before the change.
            name = key.removesuffix(" after")
            if f"{name} change" in self._by_query:
                before = self._by_query[f"{name} before"]
                current = [
                    [before.get(system, {}).get(_topic_of(settlement)) for settlement in wanted]
                    for system in self.systems
                ]
                by_measure[f"{name} change"] = by_measure[key] - np.array(current, dtype=np.float64)
        return by_measure


def _topic_of(settlement: Settlement) -> str:
    return settlement[0][0].topic


def _settled_collection(collection: Collection, settlements: Sequence[Settlement]) -> Collection:
    """Return the settled topics as a collection, each under the number of its settlement."""
    # Each of the qrels with the side whose disputes change it. A settled document no longer counts
    # with its claimed label.
    sides = {
        "original": "original",
        "changed": "changed",
        "reverse": "reversed",
        "claimed": "changed",
    }
    settled: dict[str, Any] = {name: {} for name in sides}
    for number, settlement in enumerate(settlements):
        topic = _topic_of(settlement)
        for name, side in sides.items():
            qrels: Qrels = getattr(collection, name)
            decided = {
                dispute.document: grade for dispute, grade in settlement if dispute.side == side
            }
            if topic in qrels or (decided and name == "reverse"):
                settled[name][str(number)] = {**qrels.get(topic, {}), **decided}
    return collection._replace(**settled)


def effects_of_settling(
    disputes: Sequence[Dispute], settled: SettledValues, by_query: ValuesByMeasure
) -> dict[str, list[dict[str, Any]]]:
    """Return how far settling each document alone would move each measure, farthest first.

    For each document: `figure`, the largest change of a system's value by one of its grades; the
    `system`; and `changes`, the change of that system's value by each grade.
    """
    effects: dict[str, list[dict[str, Any]]] = {}
    places = [
        [settled.columns[((dispute, grade),)] for grade in dispute.shares] for dispute in disputes
    ]
    for measure in settled.measures:
        values = settled.values(measure)
        changes = np.full(values.shape, np.nan)
        for row, system in enumerate(settled.systems):
            its = by_query[measure].get(system)
            if its is not None:
                changes[row] = _changes_of_mean(its, settled.columns, values[row])
        rows: list[dict[str, Any]] = []
        for dispute, columns in zip(disputes, places, strict=True):
            block = np.nan_to_num(changes[:, columns])
            most = int(np.abs(block).max(axis=1).argmax())
            rows.append(
                {
                    "topic": dispute.topic,
                    "document": dispute.document,
                    "side": dispute.side,
                    "grades": list(dispute.grades),
                    "figure": float(np.abs(block[most]).max()),
                    "system": settled.systems[most],
                    "changes": {
                        str(grade): float(change)
                        for grade, change in zip(dispute.shares, block[most], strict=True)
                    },
                }
            )
        rows.sort(key=lambda row: (-row["figure"], row["topic"], row["document"], row["side"]))
        effects[measure] = rows
    return effects


def _changes_of_mean(
    now: Mapping[str, float | None],
    settlements: Iterable[Settlement],
    values: npt.NDArray[np.float64],
) -> npt.NDArray[np.float64]:
    """Return each settlement's change of the mean over topics; nan if either mean is undefined."""
    defined = {topic: value for topic, value in now.items() if value is not None}
    total, count = math.fsum(defined.values()), len(defined)
    if not count:
        return np.full(len(values), np.nan)
    old = np.array([defined.get(_topic_of(settlement), np.nan) for settlement in settlements])
    others = total - np.nan_to_num(old)
    counted = count - ~np.isnan(old) + ~np.isnan(values)
    with np.errstate(invalid="ignore", divide="ignore"):
        changed = (others + np.nan_to_num(values)) / counted - total / count
    changed[counted == 0] = np.nan
    return np.asarray(changed)
