"""Weights of disagreement: how much it counts if one rater chose j and the other k."""

from __future__ import annotations

from functools import lru_cache
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from .ratings import Ratings
from .statistic import FloatArray

Weights: TypeAlias = Literal["linear", "quadratic"] | npt.ArrayLike | None


def disagreement(weights: Weights, table: Ratings, *, symmetric: bool = False) -> FloatArray:
    """Return the weight of each disagreement, shape (K, K), with 0 on the diagonal.

    Args:
        weights: None for 1 if two differ; "linear" and "quadratic" for their distance in steps on
            the scale, or its square; or a matrix of such weights.
        table: The ratings, which have the scale.
        symmetric: Whether raters have no order, so that the matrix must be symmetric.

    Raises:
        ValueError: an unknown word, a scale without order, or an invalid matrix.
    """
    categories = len(table.categories)
    if weights is None:
        return _unweighted(categories)
    if isinstance(weights, str):
        if weights not in ("linear", "quadratic"):
            raise ValueError(
                f'weights are None, "linear", "quadratic" or a matrix, not {weights!r}'
            )
        if not table.ordered:
            raise ValueError(
                f"{weights} weights need the order of the scale; give the categories in order"
            )
        steps = np.abs(np.subtract.outer(np.arange(categories), np.arange(categories)))
        return np.asarray(steps ** (1 if weights == "linear" else 2), dtype=np.float64)
    matrix = np.asarray(weights, dtype=np.float64)
    if matrix.shape != (categories, categories):
        raise ValueError(
            f"weights must have the shape {(categories, categories)}, one row and one column per "
            f"category; these have {matrix.shape}"
        )
    if not np.isfinite(matrix).all() or (matrix < 0).any():
        raise ValueError("weights of disagreement are numbers of 0 or more")
    if np.diagonal(matrix).any():
        raise ValueError(
            "weights of disagreement are 0 on the diagonal; "
            "to convert weights of agreement w, use w.max() - w"
        )
    if (matrix != matrix.T).any() and symmetric:
        raise ValueError("weights must be symmetric if raters have no order")
    return matrix


@lru_cache(maxsize=64)
def _unweighted(categories: int) -> FloatArray:
    matrix = np.asarray(1 - np.eye(categories))
    matrix.flags.writeable = False
    return matrix


def describe_weights(weights: Weights) -> str:
    """Return a description of the weights for a Coefficient."""
    if weights is None:
        return "unweighted"
    return f"{weights} weights" if isinstance(weights, str) else "own weights"
