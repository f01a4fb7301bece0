"""Rows of (unit, rater, value) as columns, each cell of a unit and a rater once."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt


class Cells(NamedTuple):
    """Rows of (unit, rater, value) as columns; the two ``at`` are positions in the two names."""

    units: tuple[Hashable, ...]
    raters: tuple[Hashable, ...]
    unit_at: npt.NDArray[np.int64]
    rater_at: npt.NDArray[np.int64]
    values: list[Hashable]


def cells_of_rows(rows: Iterable[tuple[Hashable, Hashable, Hashable]]) -> Cells:
    """Return the rows as columns; ValueError for a unit that one rater judged twice."""
    units: dict[Hashable, int] = {}
    raters: dict[Hashable, int] = {}
    of_unit: list[int] = []
    of_rater: list[int] = []
    values: list[Hashable] = []
    for unit, rater, value in rows:
        of_unit.append(units.setdefault(unit, len(units)))
        of_rater.append(raters.setdefault(rater, len(raters)))
        values.append(value)
    table = Cells(
        tuple(units),
        tuple(raters),
        np.array(of_unit, dtype=np.int64),
        np.array(of_rater, dtype=np.int64),
        values,
    )
    cells, times = np.unique(table.unit_at * len(raters) + table.rater_at, return_counts=True)
    if (times > 1).any():
        unit, rater = divmod(int(cells[times > 1][0]), len(raters))
        raise ValueError(
            f"the unit {table.units[unit]!r} was judged twice by the rater {table.raters[rater]!r}"
        )
    return table
