"""How sure the places of systems are while people disagree.

In each of many draws every disputed document is settled as one of the people who judged it said.
How often a system stays before another, and how many documents must be settled until neighbours
keep their order, is counted over the draws. docs/measures.md defines the figures.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Any

from exporters.evaluations.settlements import By, Dispute, Settled, Together

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

RESAMPLES = 1_000
# Neighbours are stable when two settlements of what is left agree on their order so often.
STABLE = 0.95
# Means that differ by less are alike.
_ALIKE = 1e-12


class Draws:
    """Settlements of all topics, drawn together, and drawn again.

    Args:
        together: Settlements of each topic.
        resamples: How many draws.
        seed: Seed of numpy's default_rng.

    Attributes:
        drawn: Of each topic, which of its settlements every draw has.
        first: The same, but where not every combination of grades is among the settlements, which
            grade every draw gives each document, shape (documents, draws).
    """

    def __init__(self, together: Mapping[str, Together], resamples: int, seed: int) -> None:
        import numpy as np

        rng = np.random.default_rng(seed)
        self._together = list(together.values())
        self._weights = [np.array([one.weight for one in its.every]) for its in self._together]
        self.drawn = [_pick(weights, rng.random(resamples)) for weights in self._weights]
        self._again = [rng.random(resamples) for _ in self._together]
        shares = [
            [np.array(list(one.shares.values())) for one in its.disputes] for its in self._together
        ]
        self._grades = [
            None
            if its.complete
            else tuple(
                np.array([_pick(of_one, rng.random(resamples)) for of_one in of_topic])
                for _ in range(2)
            )
            for its, of_topic in zip(self._together, shares, strict=True)
        ]
        self.first = [
            drawn if grades is None else grades[0]
            for drawn, grades in zip(self.drawn, self._grades, strict=True)
        ]

    def again(self, settled: Collection[Dispute]) -> list[npt.NDArray[np.int64]]:
        """Draw a second time: these documents keep the grade of the first draw."""
        import numpy as np

        found = []
        for place, its in enumerate(self._together):
            kept = [column for column, one in enumerate(its.disputes) if one in settled]
            grades = self._grades[place]
            if grades is not None:
                second = grades[1].copy()
                second[kept] = grades[0][kept]
                found.append(second)
            elif len(kept) == len(its.disputes):
                found.append(self.drawn[place])
            else:
                given = np.array([[grade for _, grade in one.settlement] for one in its.every])
                _, group = np.unique(given[:, kept], axis=0, return_inverse=True)
                group = group.reshape(-1)
                wanted = group[self.drawn[place]]
                found.append(_draw(self._weights[place], group, wanted, self._again[place]))
        return found


def _pick(
    weights: npt.NDArray[np.float64], random: npt.NDArray[np.float64]
) -> npt.NDArray[np.int64]:
    """Draw by weight; `random` is between 0 and 1."""
    import numpy as np

    at = np.searchsorted(np.cumsum(weights), random * weights.sum(), side="right")
    return np.asarray(np.minimum(at, len(weights) - 1))


def _draw(
    weights: npt.NDArray[np.float64],
    group: npt.NDArray[np.int64],
    wanted: npt.NDArray[np.int64],
    random: npt.NDArray[np.float64],
) -> npt.NDArray[np.int64]:
    """Draw by weight, each from the group that is wanted; `random` is between 0 and 1."""
    import numpy as np

    order = np.argsort(group, kind="stable")
    ends = np.cumsum(weights[order])
    of_group = np.bincount(group, weights=weights)
    below = np.concatenate([[0.0], np.cumsum(of_group)[:-1]])
    at = np.searchsorted(ends, below[wanted] + random * of_group[wanted], side="right")
    last = np.cumsum(np.bincount(group)) - 1
    return np.asarray(order[np.minimum(at, last[wanted])])


class _Measure:
    """Values of systems under draws of settlements, for one measure.

    Attributes:
        order: Systems as they are now, the best first.
    """

    def __init__(
        self,
        key: str,
        settled: Settled,
        together: Mapping[str, Together],
        now: Mapping[str, Mapping[str, float | None]],
        *,
        lower: bool,
    ) -> None:
        import numpy as np

        known = {
            name: {topic: value for topic, value in its.items() if value is not None}
            for name, its in now.items()
        }
        means = {name: math.fsum(its.values()) / len(its) for name, its in known.items() if its}
        self._sign = -1 if lower else 1
        self.order = sorted(means, key=lambda name: (-self._sign * means[name], name))
        values = settled.values(key)[[settled.systems.index(name) for name in self.order]]
        self._settled = [
            values[:, [settled.at[one.settlement] for one in its.every]]
            for its in together.values()
        ]
        # Where not every combination is measured: the value now, and what each grade of each
        # document adds to it.
        self._now = [
            np.array([known[name].get(topic, np.nan) for name in self.order]) for topic in together
        ]
        self._added = [
            []
            if its.complete
            else [
                np.nan_to_num(
                    values[:, [settled.at[((one, grade),)] for grade in one.shares]]
                    - present[:, np.newaxis]
                )
                for one in its.disputes
            ]
            for its, present in zip(together.values(), self._now, strict=True)
        ]
        others = [
            [value for topic, value in known[name].items() if topic not in together]
            for name in self.order
        ]
        self._sums = np.array([math.fsum(its) for its in others])
        self._counts = np.array([len(its) for its in others])

    def under(self, drawn: Sequence[npt.NDArray[np.int64]]) -> npt.NDArray[np.float64]:
        """Values of the systems, shape (systems, draws), more is better; nan where undefined."""
        import numpy as np

        shape = len(self.order), drawn[0].shape[-1]
        sums = np.zeros(shape) + self._sums[:, np.newaxis]
        counts = np.zeros(shape) + self._counts[:, np.newaxis]
        for place, which in enumerate(drawn):
            if which.ndim == 1:
                picked = self._settled[place][:, which]
            else:
                picked = np.zeros(shape) + self._now[place][:, np.newaxis]
                for added, of_one in zip(self._added[place], which, strict=True):
                    if added.any():
                        picked += added[:, of_one]
            counts += ~np.isnan(picked)
            sums += np.nan_to_num(picked)
        counts[counts == 0] = np.nan
        return np.asarray(self._sign * sums / counts)


def places(
    together: Mapping[str, Together],
    settled: Settled,
    effects: Mapping[str, Sequence[Mapping[str, Any]]],
    by_query: By,
    *,
    lower: Collection[str] = (),
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> dict[str, dict[str, Any]]:
    """How sure the places of systems are, by measure.

    Of each measure: `order`, the systems as they are now, the best first; `before`, by system and
    system, how probable it is that the one stays before the other; `judgments`, how many documents
    have to be settled, those that move the measure most first, until the order of all neighbours is
    stable; `documents`, how many are disputed.
    """
    draws = Draws(together, resamples, seed)
    known = {
        (one.topic, one.document, one.side): one
        for its in together.values()
        for one in its.disputes
    }
    found: dict[str, dict[str, Any]] = {}
    for key in settled.measures:
        measure = _Measure(key, settled, together, by_query[key], lower=key in lower)
        if len(measure.order) < 2:
            continue
        documents = [known[row["topic"], row["document"], row["side"]] for row in effects[key]]
        first = measure.under(draws.first)
        low, high = 0, len(documents)
        # More settled documents never make the order less sure, but for chance.
        while low < high:
            middle = (low + high) // 2
            second = measure.under(draws.again(set(documents[:middle])))
            if _agree(first, second):
                high = middle
            else:
                low = middle + 1
        found[key] = {
            "order": measure.order,
            "before": _before(measure.order, measure.under(draws.drawn)),
            "judgments": low,
            "documents": len(documents),
        }
    return found


def _signs(first: Any, second: Any) -> Any:
    """1 where the first is more, -1 where the second is, 0 where they are alike up to rounding."""
    import numpy as np

    difference = first - second
    return np.where(np.abs(difference) < _ALIKE, 0.0, np.sign(difference))


def _before(order: Sequence[str], values: Any) -> dict[str, dict[str, float]]:
    """The share of draws in which the one is before the other; half of those in which they tie."""
    found: dict[str, dict[str, float]] = {name: {} for name in order}
    for (row, name), (other_row, other) in combinations(enumerate(order), 2):
        signs = _signs(values[row], values[other_row])
        found[name][other] = float(((signs == 1) + (signs == 0) / 2).mean())
    return found


def _agree(first: Any, second: Any) -> bool:
    """Whether both draws have the same order of all neighbours often enough."""
    return all(
        (_signs(first[row], first[below]) == _signs(second[row], second[below])).mean() >= STABLE
        for row, below in pairwise(range(len(first)))
    )
