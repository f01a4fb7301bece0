"""Scales, and conversion of a table's values to positions on a scale."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence, Set
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

# Rows of units, one value per rater: anything numpy accepts as an array, or lists with None or
# words.
Matrix: TypeAlias = npt.ArrayLike | Sequence[Sequence[Hashable]]
Categories: TypeAlias = Sequence[Hashable] | npt.NDArray[Any] | Literal["seen"]

# How many rows are encoded at a time, so that the data fit in the processor's cache.
_BLOCK = 16_384
# From this number on, one search per value is faster than one comparison per category.
_MANY_CATEGORIES = 48
# Maximum range of a scale of whole numbers whose positions fit into a byte.
_WIDEST = 250


def resolve_scale(
    categories: Categories, table: npt.NDArray[Any]
) -> tuple[tuple[Hashable, ...], bool]:
    """Return the scale for a table, and whether its order has a meaning."""
    if isinstance(categories, str):
        check_seen(categories)
        return _distinct_values(table)
    return as_scale(categories), True


def check_seen(word: str) -> None:
    """Raise ValueError for a word other than "seen"."""
    if word != "seen":
        raise ValueError(f'categories is a scale or the word "seen", not {word!r}')


def as_scale(categories: Sequence[Hashable] | npt.NDArray[Any]) -> tuple[Hashable, ...]:
    """Return the scale as plain Python values; raise ValueError if it is invalid."""
    if isinstance(categories, range) and categories:
        return tuple(categories)
    if isinstance(categories, Set | Mapping):
        raise ValueError("a scale has an order; give the categories as a list")
    scale = tuple(c.item() if isinstance(c, np.generic) else c for c in categories)
    if not scale:
        raise ValueError("the scale is empty; it needs at least one category")
    try:
        has_repetition = len(set(scale)) < len(scale)
    except TypeError:
        raise ValueError("a scale is a flat list of numbers or words") from None
    if has_repetition:
        raise ValueError(f"a category occurs twice on the scale {_as_text(scale)}")
    _check_categories(scale)
    return scale


def _check_categories(scale: Sequence[Hashable]) -> None:
    for category in scale:
        if category is None or (isinstance(category, float) and not math.isfinite(category)):
            raise ValueError(f"{category} cannot be a category; nan and None mean not judged")


def _is_missing(value: object) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def _as_text(scale: Sequence[Hashable]) -> str:
    words = [str(c) for c in scale]
    return ", ".join(words if len(words) <= 12 else [*words[:10], "...", words[-1]])


def _is_numeric(scale: Iterable[Hashable]) -> bool:
    return all(isinstance(c, int | float) for c in scale)


def as_table(values: Matrix, what: str, shape: str) -> npt.NDArray[Any]:
    """Return an array of two dimensions, with None for masked values; else raise ValueError."""
    if isinstance(values, np.ma.MaskedArray):
        # asarray() would ignore the mask.
        hidden = np.ma.getmaskarray(values)
        values = np.asarray(values.data, dtype=object)
        values[hidden] = None
    table = np.asarray(values)
    if table.dtype.kind in "US" and not isinstance(values, np.ndarray):
        # numpy converts a nan among words to the word "nan".
        table = np.asarray(values, dtype=object)
    if table.ndim != 2:
        raise ValueError(f"{what} must have two dimensions, {shape}; this has {table.ndim}")
    return table


def as_column(values: Sequence[Hashable]) -> npt.NDArray[Any]:
    """Return a table of one column: numeric if all values are numbers, else of objects."""
    if values and all(type(value) in (int, float, bool) for value in values):
        return np.array(values)[:, np.newaxis]
    column = np.empty((len(values), 1), dtype=object)
    column[:, 0] = values
    return column


def _distinct_values(table: npt.NDArray[Any]) -> tuple[tuple[Hashable, ...], bool]:
    """Return the values that occur in a table, and whether their order has a meaning."""
    if table.dtype.kind in "iufb":
        values = set(np.unique(table[~np.isnan(table)]).tolist())
    else:
        values = {
            v.item() if isinstance(v, np.generic) else v for v in table.flat if not _is_missing(v)
        }
    ordered = _is_numeric(values)
    categories = tuple(sorted(values, key=None if ordered else repr))
    _check_categories(categories)
    return categories, ordered


def digits_of(
    table: npt.NDArray[Any], scale: tuple[Hashable, ...]
) -> npt.NDArray[np.unsignedinteger[Any]]:
    """Return the table as digits (N, R): 0 for missing, else the position on the scale from 1.

    Raise ValueError for a value that is not on the scale.
    """
    if not scale or table.dtype.kind not in "iufb" or not _is_numeric(scale):
        return _digits_of_labels(table, scale)
    numbers: list[Any] = list(scale)
    low, high = min(numbers), max(numbers)
    if high - low <= _WIDEST and all(float(c).is_integer() for c in numbers):
        return _digits_of_whole_numbers(table, numbers, int(low), int(high))
    digits = np.zeros(table.shape, dtype=np.min_scalar_type(len(scale)))
    for start in range(0, len(table), _BLOCK):
        block = table[start : start + _BLOCK]
        encoded = digits[start : start + _BLOCK]
        _encode(block, np.asarray(scale, dtype=np.float64), encoded)
        missing = np.isnan(block)
        if np.count_nonzero(encoded) + np.count_nonzero(missing) != block.size:
            raise _off_scale_error(block[(encoded == 0) & ~missing][0].item(), scale)
    return digits


def _digits_of_labels(
    table: npt.NDArray[Any], scale: tuple[Hashable, ...]
) -> npt.NDArray[np.unsignedinteger[Any]]:
    digits = np.zeros(table.shape, dtype=np.min_scalar_type(len(scale)))
    position: dict[Hashable, int] = {c: at for at, c in enumerate(scale, start=1)}
    flat = digits.reshape(-1)
    for at, value in enumerate(table.flat):
        if not _is_missing(value):
            try:
                flat[at] = position[value]
            except (KeyError, TypeError):
                raise _off_scale_error(value, scale) from None
    return digits


def _digits_of_whole_numbers(
    table: npt.NDArray[Any], scale: list[Any], low: int, high: int
) -> npt.NDArray[np.unsignedinteger[Any]]:
    """Return digits computed as the distance of values from the lowest of the scale."""
    digits = np.empty(table.shape, dtype=np.uint8)
    plain = scale == list(range(low, high + 1))
    position = np.zeros(256, dtype=np.uint8)
    if not plain:
        position[np.array(scale, dtype=np.intp) - low + 1] = np.arange(1, len(scale) + 1)
    for start in range(0, len(table), _BLOCK):
        block = table[start : start + _BLOCK]
        encoded = digits[start : start + _BLOCK]
        missing = _encode_steps(block, low, high, encoded)
        if missing is None:
            raise _off_scale_error(_first_off_scale(block, scale), scale)
        if not plain:
            encoded[...] = position[encoded]
            if encoded.size - np.count_nonzero(encoded) != missing:
                raise _off_scale_error(_first_off_scale(block, scale), scale)
    return digits


def _encode_steps(
    block: npt.NDArray[Any], low: int, high: int, encoded: npt.NDArray[np.uint8]
) -> int | None:
    """Write 1 for ``low``, 2 for one above ... and 0 for nan; return how many were nan.

    Return None, with undefined ``encoded``, if a value is not a whole number in the range.
    """
    if block.dtype.kind != "f":
        if block.size and (block.min() < low or block.max() > high):
            return None
        np.copyto(encoded, block, casting="unsafe")
        encoded -= np.uint8((low - 1) % 256)
        return 0
    # fmax() turns nan, and any value below the scale, into 0. So there must be as many 0 as nan.
    steps = np.fmax(block - (low - 1), 0)
    if block.size and not steps.max() <= high - low + 1:
        return None
    np.copyto(encoded, steps, casting="unsafe")
    missing = int(np.count_nonzero(block != block))
    if encoded.size - np.count_nonzero(encoded) != missing or (encoded != steps).any():
        return None
    return missing


def _first_off_scale(block: npt.NDArray[Any], scale: Sequence[Hashable]) -> object:
    on = np.isin(block, np.asarray(scale)) | (block != block)
    return block[~on][0].item()


def _encode(
    block: npt.NDArray[Any],
    scale: npt.NDArray[np.float64],
    encoded: npt.NDArray[np.unsignedinteger[Any]],
) -> None:
    """Write the position on the scale, from 1, of every number of ``block`` that is on it."""
    if len(scale) < _MANY_CATEGORIES:
        for at, category in enumerate(scale, start=1):
            encoded += (block == category).view(np.uint8) * encoded.dtype.type(at)
        return
    order = np.argsort(scale)
    places = np.searchsorted(scale, block, sorter=order).clip(max=len(scale) - 1)
    np.copyto(encoded, order[places] + 1, where=scale[order[places]] == block, casting="unsafe")


def _off_scale_error(value: object, scale: Sequence[Hashable]) -> ValueError:
    return ValueError(f"the value {value!r} is not on the scale {_as_text(scale)}")
