"""The part of an evaluation's results that says how settling disagreements would change them."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import combinations, pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from base.errors import Refused
from exporters.evaluations.settlements import (
    MOST_STORED,
    Dispute,
    JointSettlements,
    SettledValues,
    Settlement,
    ValuesByMeasure,
    choose_disputes,
    effects_of_settling,
    joint_settlements,
    single_settlements,
)
from exporters.evaluations.system_measures import LOWER, PreparedCollection, RankedSystem

RESAMPLES = 1_000
# Neighbours are stable when two settlements of the remaining documents agree on their order in this
# share of draws.
STABLE = 0.95
# For topics with too many combinations of grades: how many rankings are measured at a time for
# pairs of settlements, over all systems.
MOST_AGAIN = 40_000
# Means that differ by less count as equal.
_EQUAL_WITHIN = 1e-12


Drawn = Sequence[tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]]


class Draws:
    """Joint draws of settlements of all topics, and second draws that keep some of the grades.

    If the settlements of a topic do not cover every combination of grades, a second draw cannot be
    picked from them. For such topics, `pairs` pairs of settlements are generated instead.

    Args:
        together: Settlements of each topic.
        resamples: How many draws.
        seed: Seed of numpy's default_rng.
        pairs: How many pairs of settlements to generate for a topic that is not complete.

    Attributes:
        drawn: For each topic, the index of its settlement in every draw.
        which: For each topic, the index of its pair in every draw.
    """

    def __init__(
        self, joint: Mapping[str, JointSettlements], resamples: int, seed: int, pairs: int
    ) -> None:
        rng = np.random.default_rng(seed)
        self._joint = list(joint.values())
        self._weights = [np.array([weight for _, weight in its.every]) for its in self._joint]
        # A sample with a settlement for each draw is used as it is: to draw from it again would
        # only add error.
        self.drawn = [
            np.arange(resamples)
            if len(weights) == resamples and not its.complete
            else _pick(weights, rng.random(resamples))
            for weights, its in zip(self._weights, self._joint, strict=True)
        ]
        self._again = [rng.random(resamples) for _ in self._joint]
        self.which = [
            np.arange(resamples) if pairs == resamples else rng.integers(pairs, size=resamples)
            for _ in self._joint
        ]
        self._pairs = [
            []
            if its.complete
            else [
                tuple(
                    tuple(
                        dispute.grades[int(rng.integers(len(dispute.grades)))]
                        for dispute in its.disputes
                    )
                    for _ in range(2)
                )
                for _ in range(pairs)
            ]
            for its in self._joint
        ]

    def redraw(self, place: int, settled: Collection[Dispute]) -> npt.NDArray[np.int64]:
        """Draw a topic a second time; `settled` documents keep the grade of the first draw."""
        its = self._joint[place]
        kept = [column for column, dispute in enumerate(its.disputes) if dispute in settled]
        if len(kept) == len(its.disputes):
            return self.drawn[place]
        grades = np.array([[grade for _, grade in settlement] for settlement, _ in its.every])
        _, group = np.unique(grades[:, kept], axis=0, return_inverse=True)
        group = group.reshape(-1)
        wanted = group[self.drawn[place]]
        return _draw(self._weights[place], group, wanted, self._again[place])

    def pairs(
        self, place: int, settled: Collection[Dispute]
    ) -> tuple[list[Settlement], list[Settlement]]:
        """Return the pairs of a topic; `settled` documents have the first's grade in both."""
        disputes = self._joint[place].disputes
        firsts: list[Settlement] = []
        seconds: list[Settlement] = []
        for first, second in self._pairs[place]:
            firsts.append(tuple(zip(disputes, first, strict=True)))
            grades = zip(disputes, first, second, strict=True)
            seconds.append(
                tuple(
                    (dispute, kept if dispute in settled else new) for dispute, kept, new in grades
                )
            )
        return firsts, seconds


def _pick(
    weights: npt.NDArray[np.float64], random: npt.NDArray[np.float64]
) -> npt.NDArray[np.int64]:
    """Draw by weight; `random` is between 0 and 1."""
    at = np.searchsorted(np.cumsum(weights), random * weights.sum(), side="right")
    return np.asarray(np.minimum(at, len(weights) - 1))


def _draw(
    weights: npt.NDArray[np.float64],
    group: npt.NDArray[np.int64],
    wanted: npt.NDArray[np.int64],
    random: npt.NDArray[np.float64],
) -> npt.NDArray[np.int64]:
    """Draw by weight, each from its wanted group; `random` is between 0 and 1."""
    order = np.argsort(group, kind="stable")
    ends = np.cumsum(weights[order])
    of_group = np.bincount(group, weights=weights)
    below = np.concatenate([[0.0], np.cumsum(of_group)[:-1]])
    at = np.searchsorted(ends, below[wanted] + random * of_group[wanted], side="right")
    last = np.cumsum(np.bincount(group)) - 1
    return np.asarray(order[np.minimum(at, last[wanted])])


class _SystemValues:
    """Values of systems under draws of settlements, for one measure.

    Attributes:
        order: Systems in their current order, the best first.
        rows: The row of each system in the arrays of values of settlements.
    """

    def __init__(
        self,
        key: str,
        settled: SettledValues,
        joint: Mapping[str, JointSettlements],
        now: Mapping[str, Mapping[str, float | None]],
        *,
        lower: bool,
    ) -> None:
        defined = {
            name: {topic: value for topic, value in its.items() if value is not None}
            for name, its in now.items()
        }
        means = {name: math.fsum(its.values()) / len(its) for name, its in defined.items() if its}
        self._sign = -1 if lower else 1
        self.order = sorted(means, key=lambda name: (-self._sign * means[name], name))
        self.rows = [settled.systems.index(name) for name in self.order]
        values = settled.values(key)[self.rows]
        self.settled = [
            values[:, [settled.columns[settlement] for settlement, _ in its.every]]
            for its in joint.values()
        ]
        others = [
            [value for topic, value in defined[name].items() if topic not in joint]
            for name in self.order
        ]
        self._sums = np.array([math.fsum(its) for its in others])
        self._counts = np.array([len(its) for its in others])

    def values_under(self, drawn: Drawn) -> npt.NDArray[np.float64]:
        """Return values of the systems, shape (systems, draws); higher is better, nan if undefined.

        `drawn`: for each topic, the values of its settlements and the index of one in every draw.
        """
        shape = len(self.order), len(drawn[0][1])
        sums = np.zeros(shape) + self._sums[:, np.newaxis]
        counts = np.zeros(shape) + self._counts[:, np.newaxis]
        for values, which in drawn:
            picked = values[:, which]
            counts += ~np.isnan(picked)
            sums += np.nan_to_num(picked)
        counts[counts == 0] = np.nan
        return np.asarray(self._sign * sums / counts)


def compute_places(
    joint: Mapping[str, JointSettlements],
    settled: SettledValues,
    effects: Mapping[str, Sequence[Mapping[str, Any]]],
    by_query: ValuesByMeasure,
    *,
    chosen: str,
    lower: Collection[str] = (),
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> dict[str, dict[str, Any]]:
    """Return how sure the ranking of systems is, by measure.

    For each measure: `order`, the systems in their current order, the best first; `before`, by
    system and system, the probability that the one stays before the other; `judgments`, how many
    documents have to be settled, those that move the measure most first, until the order of all
    neighbours is stable; `documents`, how many are disputed. If a topic has too many combinations
    of grades to measure them all, `judgments` is computed for the `chosen` measure only, and is
    None for the others.
    """
    many = [its for its in joint.values() if not its.complete]
    room = MOST_AGAIN // max(1, 2 * len(settled.systems) * len(many))
    draws = Draws(joint, resamples, seed, pairs=max(4, min(resamples, room)))
    disputes = [dispute for its in joint.values() for dispute in its.disputes]
    by_document = {(dispute.topic, dispute.document, dispute.side): dispute for dispute in disputes}
    places: dict[str, dict[str, Any]] = {}
    for key in settled.measures:
        measure = _SystemValues(key, settled, joint, by_query[key], lower=key in lower)
        if len(measure.order) < 2:
            continue
        documents = [
            by_document[row["topic"], row["document"], row["side"]] for row in effects[key]
        ]
        judgments = None
        if not many or key == chosen:
            judgments = _judgments_until_stable(key, measure, draws, joint, settled, documents)
        drawn = list(zip(measure.settled, draws.drawn, strict=True))
        places[key] = {
            "order": measure.order,
            "before": _probabilities_before(measure.order, measure.values_under(drawn)),
            "judgments": judgments,
            "documents": len(documents),
        }
    return places


def largest_error(joint: Mapping[str, JointSettlements], resamples: int) -> float:
    """Return the largest standard error that a probability of `compute_places` can have.

    It is that of a share of 1/2 in the draws, and if these choose among fewer settlements of a
    topic, in the settlements too.
    """
    fewest = min((len(its.every) for its in joint.values() if not its.complete), default=resamples)
    among_fewer = 1 / fewest if fewest < resamples else 0.0
    return math.sqrt(1 / resamples + among_fewer) / 2


def _judgments_until_stable(
    key: str,
    measure: _SystemValues,
    draws: Draws,
    joint: Mapping[str, JointSettlements],
    settled: SettledValues,
    documents: Sequence[Dispute],
) -> int:
    """Return how many of the documents have to be settled until the order is stable.

    Binary search: settling more documents never makes the order less sure, except by chance.
    """

    def is_stable(count: int) -> bool:
        decided = set(documents[:count])
        first, second = [], []
        for place, its in enumerate(joint.values()):
            if its.complete:
                values = measure.settled[place]
                first.append((values, draws.drawn[place]))
                second.append((values, draws.redraw(place, decided)))
            else:
                for side, settlements in zip(
                    (first, second), draws.pairs(place, decided), strict=True
                ):
                    again = settled.measure_again(key, settlements)[measure.rows]
                    side.append((again, draws.which[place]))
        return _orders_agree(measure.values_under(first), measure.values_under(second))

    low, high = 0, len(documents)
    while low < high:
        middle = (low + high) // 2
        if is_stable(middle):
            high = middle
        else:
            low = middle + 1
    return low


def _signs(first: Any, second: Any) -> Any:
    """Return 1 where the first is larger, -1 where the second is, 0 where equal up to rounding."""
    difference = first - second
    return np.where(np.abs(difference) < _EQUAL_WITHIN, 0.0, np.sign(difference))


def _probabilities_before(order: Sequence[str], values: Any) -> dict[str, dict[str, float]]:
    """Return the share of draws in which one is before the other; ties count half."""
    shares: dict[str, dict[str, float]] = {name: {} for name in order}
    for (row, name), (other_row, other) in combinations(enumerate(order), 2):
        signs = _signs(values[row], values[other_row])
        shares[name][other] = float(((signs == 1) + (signs == 0) / 2).mean())
    return shares


def _orders_agree(first: Any, second: Any) -> bool:
    """Return whether both draws order all neighbours the same way often enough."""
    return all(
        (_signs(first[row], first[below]) == _signs(second[row], second[below])).mean() >= STABLE
        for row, below in pairwise(range(len(first)))
    )


def measure_disputes(
    prepared: PreparedCollection,
    systems: Sequence[RankedSystem],
    disputes: Sequence[Dispute],
    results: Mapping[str, Any],
    check: Callable[[], None] = lambda: None,
) -> dict[str, Any]:
    """Measure the systems with disputed documents settled, and return the results to store.

    `check` is called regularly, and raises an exception when the work must stop.

    `deciding`: `disputed`, how many documents are disputed; `tried`, how many of them were settled
    to see the change; `measure`, which orders the queue of disagreements; `by_measure`, the
    documents that move each measure most; `all`, every document of the queue's measure.
    `places`: the number of draws and their seed, when an order counts as stable, `by_measure`, and
    `error`, the largest standard error of its probabilities.
    """
    options = prepared.options["settling"]
    resamples, seed = options.get("resamples", RESAMPLES), options.get("seed", 0)
    tried = choose_disputes(disputes, prepared.collection)
    deciding: dict[str, Any] = {
        "disputed": len(disputes),
        "tried": len(tried),
        "measure": "",
        "by_measure": {},
    }
    ranking: dict[str, Any] = {
        "resamples": resamples,
        "seed": seed,
        "stable": STABLE,
        "by_measure": {},
    }
    queue_measure = str(options.get("measure", ""))
    if queue_measure and queue_measure not in results["by_query"]:
        raise Refused(
            f"settling.measure is {queue_measure}, which is not measured; choose one of "
            f"{', '.join(results['by_query'])}"
        )
    now = results["by_query"]
    if tried and now:
        of_topics = joint_settlements(tried, len(systems), seed, resamples)
        every = [
            *single_settlements(tried),
            *(settlement for its in of_topics.values() for settlement, _ in its.every),
        ]
        settled = SettledValues(prepared.collection, prepared.options, systems, every, now, check)
        moved = effects_of_settling(tried, settled, now)
        first = [measure["key"] for measure in results["measures"] if measure["key"] in moved]
        deciding["measure"] = queue_measure if queue_measure in moved else next(iter(first), "")
        deciding["by_measure"] = {key: moved[key][:MOST_STORED] for key in first}
        deciding["all"] = moved.get(deciding["measure"], [])
        ranking["error"] = largest_error(of_topics, resamples)
        ranking["by_measure"] = compute_places(
            of_topics,
            settled,
            moved,
            now,
            chosen=deciding["measure"],
            lower=LOWER,
            resamples=resamples,
            seed=seed,
        )
    return {"deciding": deciding, "places": ranking}
