"""Shared by all coefficients: conversion of ratings, and a Coefficient from a statistic."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypedDict

from .bootstrap import (
    AUTO,
    FEWEST_RESAMPLES,
    METHODS,
    IntervalEstimate,
    IntervalMethod,
    compute_interval,
)
from .coefficient import Coefficient
from .ratings import Ratings
from .row_arguments import Clusters
from .scales import Categories, Matrix, as_scale, check_seen
from .statistic import Statistic

# If one category has at least this share of all ratings, percentile intervals contain the true
# value less often than their confidence, but BCa intervals do not: docs/agreement.md has the
# simulation.
SKEWED_FROM = 0.85


def as_ratings(
    ratings: Ratings | Matrix,
    categories: Categories | None,
    clusters: Clusters | None = None,
) -> Ratings:
    """Return the arguments of a coefficient as ``Ratings``.

    Args:
        ratings: A matrix of units x raters with nan for missing, or ``Ratings``.
        categories: The scale in its order, or "seen"; for ``Ratings``, which have a scale, None
            or "seen".
        clusters: The cluster of each unit; for ``Ratings``, which have their clusters, None.

    Raises:
        ValueError: see ``Ratings.from_matrix``; a matrix without a scale; a second scale or second
            clusters.
    """
    if not isinstance(ratings, Ratings):
        if categories is None:
            raise ValueError(
                "categories is missing: give the scale in its order, "
                'or "seen" for the values that occur'
            )
        return Ratings.from_matrix(ratings, categories=categories, clusters=clusters)
    if clusters is not None:
        raise ValueError(
            "these ratings have their own clusters; give clusters when you make the ratings"
        )
    if categories is None:
        return ratings
    if isinstance(categories, str):
        check_seen(categories)
        return ratings.seen()
    if as_scale(categories) != ratings.categories:
        raise ValueError("these ratings have their own scale; do not give another one")
    return ratings


class IntervalOptions(TypedDict, total=False):
    """Arguments of every coefficient that say how its interval is made.

    Attributes:
        interval: "auto", "bootstrap", "bca" or "analytic" for a 95% interval; by default none.
        seed: Seed of the bootstrap; 0 by default.
        resamples: Number of resamples; 10,000 by default.
    """

    interval: IntervalMethod
    seed: int
    resamples: int


@dataclass(slots=True)
class Probe:
    """An argument ``interval`` with which a coefficient returns the statistic of its value."""

    statistic: Statistic | None = None


def estimate(
    ratings: Ratings,
    statistic: Statistic,
    *,
    name: str,
    method: str,
    interval: IntervalMethod | Probe = None,
    seed: int = 0,
    resamples: int = 10_000,
    undefined: str = "",
    note: str = "",
    value: float | None = None,
    of_one_category: bool = False,
) -> Coefficient:
    """Return a Coefficient from a statistic over patterns.

    Args:
        ratings: The ratings behind the statistic.
        statistic: The coefficient as a function of sums over units.
        name: The name of the coefficient.
        method: Its variant.
        interval, seed, resamples: As in ``IntervalOptions``.
        undefined: Why there is no value, if the statistic has none although units were shared and
            more than one category was used.
        note: A remark that readers of the value need.
        value: The value, if it was not computed by the statistic.
        of_one_category: Whether there is a value if only one category was used.

    Raises:
        ValueError: an unknown kind of interval, or too few resamples.
    """
    if isinstance(interval, Probe):
        interval.statistic, interval = statistic, None
    interval = choose_method(interval, ratings)
    if interval is not None and interval not in METHODS:
        methods = " or ".join(map(repr, (AUTO, *METHODS)))
        raise ValueError(f"interval is None, {methods}, not {interval!r}")
    if resamples < FEWEST_RESAMPLES:
        raise ValueError(
            f"{resamples} resamples are too few for a 95% interval; take {FEWEST_RESAMPLES} or more"
        )
    reason = _undefined_reason(ratings, of_one_category=of_one_category)
    if reason:
        value = math.nan
    elif value is None:
        value = statistic.of_all()
    uncertainty = IntervalEstimate(None, "")
    if math.isnan(value):
        note = f"undefined: {reason or undefined}"
    elif interval is not None:
        uncertainty = compute_interval(statistic, method=interval, resamples=resamples, seed=seed)
    is_resampled = interval in ("bootstrap", "bca") and not math.isnan(value)
    return Coefficient(
        name=name,
        method=method,
        value=None if math.isnan(value) else value,
        note=note,
        interval=uncertainty.interval,
        interval_note=uncertainty.note,
        units=ratings.units,
        excluded=ratings.excluded,
        raters=ratings.raters,
        pairs=None if ratings.pairs is None else len(ratings.pairs),
        categories=ratings.categories,
        seed=seed if is_resampled else None,
        resamples=resamples if is_resampled else None,
        standard_error=uncertainty.error,
    )


def choose_method(interval: IntervalMethod, *of: Ratings) -> IntervalMethod:
    """Return the method for "auto": "bca" if any of the ratings are skewed, else "bootstrap".

    Any other method is returned unchanged.
    """
    if interval != AUTO:
        return interval
    return "bca" if any(is_skewed(ratings) for ratings in of) else "bootstrap"


def is_skewed(ratings: Ratings) -> bool:
    """Return whether one category has ``SKEWED_FROM`` or more of shared units' ratings."""
    chosen = ratings.shared.times @ ratings.shared.rows
    return bool(chosen.sum()) and bool(chosen.max() >= SKEWED_FROM * chosen.sum())


def _undefined_reason(ratings: Ratings, *, of_one_category: bool) -> str:
    """Return why the ratings allow no value; "" if they may.

    With ``of_one_category``, a single used category is not a reason.
    """
    if not ratings.units:
        if ratings.digits is not None and (ratings.digits > 0).any(axis=0).sum() == 1:
            return "only one rater judged"
        return "no unit was judged by at least two raters"
    if not of_one_category and ratings.used.sum() < 2:
        return "only one category was used"
    return ""
