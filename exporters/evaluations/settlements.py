"""What systems get if disputed documents are settled one way or another.

A settlement gives disputed documents of one topic a grade that somebody gave them. The topic is
measured again with it, under an id of its own, by everything that the evaluation measures by.
docs/measures.md defines the figures.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from exporters.evaluations.system_measures import (
    Collection,
    Options,
    Prepared,
    Ranked,
    measure_system,
)

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

# Disputed documents whose settlement is tried: those on which relevance hangs come first.
MOST_DOCUMENTS = 1_000
# Settlements of all disputed documents of one topic that are tried, and rankings that are measured
# again for that, of all systems together.
MOST_SETTLEMENTS, MOST_RANKINGS = 64, 40_000
# Documents that are kept of each measure: those that move it most.
MOST_KEPT = 100
# Topics measured at a time.
BATCH = 500

# Sides of disputed.tsv on which systems are measured, as `Collection` calls them.
_SIDES = {"altered": "changed", "reversed": "reversed"}

By = Mapping[str, Mapping[str, Mapping[str, float | None]]]


class Dispute(NamedTuple):
    """A document that people gave different grades, which nobody has settled."""

    side: str
    topic: str
    document: str
    grades: tuple[int, ...]

    @property
    def shares(self) -> dict[int, float]:
        """The share of people who gave each grade."""
        return {
            grade: self.grades.count(grade) / len(self.grades) for grade in sorted({*self.grades})
        }


Settlement = tuple[tuple[Dispute, int], ...]


class Weighted(NamedTuple):
    """A settlement of all disputed documents of a topic, and how probable it is."""

    settlement: Settlement
    weight: float


class Together(NamedTuple):
    """Settlements of all disputed documents of a topic.

    Attributes:
        disputes: The documents.
        every: The settlements; of all combinations of grades where `complete`, else of some.
    """

    disputes: Sequence[Dispute]
    every: Sequence[Weighted]
    complete: bool


def read_disputes(path: Path) -> list[Dispute]:
    """Read disputed.tsv of an export: what people differ on, on the sides that are measured."""
    _heading, *rows = path.read_text(encoding="utf-8").split("\n")
    found = []
    for row in rows:
        if row:
            _query, pair, side, document, grades = row.split("\t")
            if side in _SIDES:
                given = tuple(map(int, grades.split(",")))
                found.append(Dispute(_SIDES[side], pair, document, given))
    return found


def chosen(disputes: Iterable[Dispute], collection: Collection) -> list[Dispute]:
    """The disputes that are tried: of topics that are measured, those on which relevance hangs
    first, and no more than MOST_DOCUMENTS.
    """

    def place(one: Dispute) -> tuple[Any, ...]:
        decides = min(one.grades) < collection.relevant <= max(one.grades)
        was = collection.original.get(one.topic, {}).get(one.document, 0) >= collection.relevant
        return not decides, not was, one

    return sorted((one for one in disputes if one.topic in collection.changed), key=place)[
        :MOST_DOCUMENTS
    ]


def single(disputes: Iterable[Dispute]) -> list[Settlement]:
    """Each document settled as each grade that somebody gave it, the others left as they are."""
    return [((one, grade),) for one in disputes for grade in one.shares]


def together(disputes: Iterable[Dispute], systems: int, seed: int) -> dict[str, Together]:
    """Settlements of all disputed documents of each topic.

    Every combination of grades with its probability, where there are few enough; of more, some are
    drawn. Documents are settled independently, each as one of the people who judged it said.
    """
    import numpy as np

    by_topic: dict[str, list[Dispute]] = {}
    for one in disputes:
        by_topic.setdefault(one.topic, []).append(one)
    room = MOST_RANKINGS // max(1, systems * len(by_topic))
    most = max(4, min(MOST_SETTLEMENTS, room))
    rng = np.random.default_rng(seed)
    found: dict[str, Together] = {}
    for topic in sorted(by_topic):
        its = sorted(by_topic[topic])
        shares = [list(one.shares.items()) for one in its]
        complete = math.prod(map(len, shares)) <= most
        if complete:
            every = [
                Weighted(
                    tuple((one, grade) for one, (grade, _) in zip(its, choice, strict=True)),
                    math.prod(share for _, share in choice),
                )
                for choice in product(*shares)
            ]
        else:
            every = [
                Weighted(
                    tuple((one, one.grades[int(rng.integers(len(one.grades)))]) for one in its),
                    1 / most,
                )
                for _ in range(most)
            ]
        found[topic] = Together(its, every, complete)
    return found


class Settled:
    """Values of systems on topics under settlements.

    Attributes:
        measures: The measures that settling can move.
        at: Where each settlement stands in the arrays.
    """

    def __init__(
        self,
        collection: Collection,
        options: Options,
        systems: Sequence[Ranked],
        settlements: Iterable[Settlement],
        by_query: By,
        check: Callable[[], None] = lambda: None,
    ) -> None:
        """Measure every system under every settlement; `by_query` are the values as they are.

        `check` is called now and then, and raises where the work must stop.
        """
        self.systems = [system.name for system in systems]
        self._collection, self._options, self._ranked = collection, options, systems
        self._by_query, self._check = by_query, check
        self.at = {one: number for number, one in enumerate(dict.fromkeys(settlements))}
        self._values = self._measure(self.at)
        self.measures = [key for key in by_query if key in self._values]
        self._again: dict[str, dict[Settlement, npt.NDArray[np.float64]]] = {}

    def values(self, measure: str) -> npt.NDArray[np.float64]:
        """Values of a measure, shape (systems, settlements); nan where there is none."""
        return self._values[measure]

    def measured_again(
        self, measure: str, settlements: Sequence[Settlement]
    ) -> npt.NDArray[np.float64]:
        """Values of a measure under other settlements, shape (systems, settlements)."""
        import numpy as np

        known = self._again.setdefault(measure, {})
        new = dict.fromkeys(one for one in settlements if one not in known)
        if new:
            empty = np.full((len(self.systems), len(new)), np.nan)
            values = self._measure(new).get(measure, empty)
            known |= {one: values[:, number] for number, one in enumerate(new)}
        return np.array([known[one] for one in settlements]).T

    def _measure(self, settlements: Iterable[Settlement]) -> dict[str, npt.NDArray[np.float64]]:
        import numpy as np

        wanted = list(settlements)
        found: dict[str, npt.NDArray[np.float64]] = {}
        for start in range(0, len(wanted), BATCH):
            self._check()
            batch = wanted[start : start + BATCH]
            settled = _collection_of(self._collection, batch)
            prepared = Prepared(settled, self._options, values_only=True)
            ids = {str(number): _topic_of(one) for number, one in enumerate(batch)}
            for place, system in enumerate(self._ranked):
                runs = {side: scores.under(ids) for side, scores in system.scores.items()}
                for key, measurement in measure_system(prepared, runs).items():
                    if key not in self._by_query or key == "nfr":
                        continue
                    if key not in found:
                        found[key] = np.full((len(self.systems), len(wanted)), np.nan)
                    for number, value in measurement.by_query.items():
                        if value is not None:
                            found[key][place, start + int(number)] = value
        for key in [key for key in found if key.endswith(" after")]:
            # Settling moves none of the values before the change.
            name = key.removesuffix(" after")
            if f"{name} change" in self._by_query:
                before = self._by_query[f"{name} before"]
                known = [
                    [before.get(system, {}).get(_topic_of(one)) for one in wanted]
                    for system in self.systems
                ]
                found[f"{name} change"] = found[key] - np.array(known, dtype=np.float64)
        return found


def _topic_of(settlement: Settlement) -> str:
    return settlement[0][0].topic


def _collection_of(collection: Collection, settlements: Sequence[Settlement]) -> Collection:
    """The topics of settlements as they would be, each under the number of its settlement."""
    sides: dict[str, dict[str, dict[str, int]]] = {
        "original": {},
        "changed": {},
        "reversed": {},
        "claimed": {},
    }
    given = {
        "original": collection.original,
        "changed": collection.changed,
        "reversed": collection.reverse,
        "claimed": collection.claimed,
    }
    for number, settlement in enumerate(settlements):
        topic = _topic_of(settlement)
        for side, qrels in given.items():
            # What people settle is what is claimed no more.
            decided = {
                dispute.document: grade
                for dispute, grade in settlement
                if dispute.side == ("changed" if side == "claimed" else side)
            }
            if topic in qrels or (decided and side == "reversed"):
                sides[side][str(number)] = {**qrels.get(topic, {}), **decided}
    return collection._replace(
        original=sides["original"],
        changed=sides["changed"],
        reverse=sides["reversed"],
        claimed=sides["claimed"],
    )


def effects(
    disputes: Sequence[Dispute], settled: Settled, by_query: By
) -> dict[str, list[dict[str, Any]]]:
    """How far settling each document alone would move each measure, by measure, farthest first.

    Of each document: `figure`, the largest change of a system's value that one of its grades makes;
    the `system`; and what each grade would change of that system's value.
    """
    import numpy as np

    found: dict[str, list[dict[str, Any]]] = {}
    places = [[settled.at[((one, grade),)] for grade in one.shares] for one in disputes]
    for measure in settled.measures:
        values = settled.values(measure)
        changes = np.full(values.shape, np.nan)
        for row, system in enumerate(settled.systems):
            its = by_query[measure].get(system)
            if its is not None:
                changes[row] = _changes(its, settled.at, values[row])
        rows: list[dict[str, Any]] = []
        for one, columns in zip(disputes, places, strict=True):
            block = np.nan_to_num(changes[:, columns])
            most = int(np.abs(block).max(axis=1).argmax())
            rows.append(
                {
                    "topic": one.topic,
                    "document": one.document,
                    "side": one.side,
                    "grades": list(one.grades),
                    "figure": float(np.abs(block[most]).max()),
                    "system": settled.systems[most],
                    "changes": {
                        str(grade): float(change)
                        for grade, change in zip(one.shares, block[most], strict=True)
                    },
                }
            )
        rows.sort(key=lambda row: (-row["figure"], row["topic"], row["document"], row["side"]))
        found[measure] = rows
    return found


def _changes(
    now: Mapping[str, float | None],
    settlements: Iterable[Settlement],
    values: npt.NDArray[np.float64],
) -> npt.NDArray[np.float64]:
    """What each settlement changes of a mean over topics; nan where either has no value."""
    import numpy as np

    known = {topic: value for topic, value in now.items() if value is not None}
    total, count = math.fsum(known.values()), len(known)
    if not count:
        return np.full(len(values), np.nan)
    old = np.array([known.get(_topic_of(one), np.nan) for one in settlements])
    others = total - np.nan_to_num(old)
    counted = count - ~np.isnan(old) + ~np.isnan(values)
    with np.errstate(invalid="ignore", divide="ignore"):
        changed = (others + np.nan_to_num(values)) / counted - total / count
    changed[counted == 0] = np.nan
    return np.asarray(changed)
