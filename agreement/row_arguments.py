"""Arguments that describe rows and columns of a table: times, clusters and names."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

# The cluster of each unit, such as its query: one label per row.
Clusters: TypeAlias = Sequence[Hashable] | npt.NDArray[Any]


def times_of_rows(times: npt.ArrayLike | None, rows: int) -> npt.NDArray[np.int64] | None:
    """Return how many units each row stands for, checked; None for one each."""
    if times is None:
        return None
    numbers = np.asarray(times)
    if numbers.shape != (rows,):
        raise ValueError(
            f"times are one number per row: their shape must be ({rows},), not {numbers.shape}"
        )
    return as_whole_numbers(numbers, "times", "times are numbers of units")


def as_whole_numbers(numbers: npt.NDArray[Any], what: str, kind: str) -> npt.NDArray[np.int64]:
    """Return numbers as whole numbers of 0 or more; raise ValueError if they are not."""
    if numbers.size and numbers.dtype.kind not in "iuf":
        raise ValueError(f"{kind}; give only numbers")
    if numbers.size and (numbers < 0).any():
        raise ValueError(f"{what} cannot be negative: {numbers.min():g}")
    if not np.isfinite(numbers.astype(np.float64)).all() or (numbers != np.floor(numbers)).any():
        raise ValueError(f"{what} must be a whole number")
    return numbers.astype(np.int64)


def clusters_of_rows(
    clusters: Clusters | None, rows: int
) -> tuple[npt.NDArray[np.int64] | None, tuple[Hashable, ...]]:
    """Return the number of each row's cluster, and the names of the clusters."""
    if clusters is None:
        return None, ()
    if len(clusters) != rows:
        raise ValueError(f"clusters are one label per row: {rows} labels, not {len(clusters)}")
    if isinstance(clusters, np.ndarray) and clusters.dtype.kind in "iuUS":
        names, numbered = np.unique(clusters, return_inverse=True)
        return numbered.astype(np.int64), tuple(names.tolist())
    numbers: dict[Hashable, int] = {}
    numbered = np.empty(rows, dtype=np.int64)
    for at, label in enumerate(clusters):
        if label is None or label != label:
            raise ValueError("a unit has no cluster; give one label per unit")
        numbered[at] = numbers.setdefault(label, len(numbers))
    return numbered, tuple(numbers)


def clusters_of_units(
    units: Iterable[Hashable], clusters: Mapping[Any, Hashable] | None
) -> tuple[npt.NDArray[np.int64] | None, tuple[Hashable, ...]]:
    """Return the same as ``clusters_of_rows`` from the clusters of units."""
    if clusters is None:
        return None, ()
    unit_names = list(units)
    without = [unit for unit in unit_names if unit not in clusters]
    if without:
        raise ValueError(f"the unit {without[0]!r} has no cluster")
    return clusters_of_rows([clusters[unit] for unit in unit_names], len(unit_names))


def distinct_names(
    names: Sequence[Hashable] | None, count: int, what: str
) -> tuple[Hashable, ...] | None:
    """Return names as a tuple; raise ValueError if they are not ``count`` distinct names."""
    if names is None:
        return None
    if len(names) != count or len(set(names)) != count:
        raise ValueError(f"{what}: {count} different names")
    return tuple(names)
