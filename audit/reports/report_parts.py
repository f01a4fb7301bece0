"""One measured part of a report: its units, and every coefficient of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from audit.reports.unit_counts import Patterns
from jobs.runner import Progress

if TYPE_CHECKING:
    from agreement import Coefficient, Ratings


# The coefficients of every scope, in the order in which they are shown.
COEFFICIENTS: dict[str, str] = {
    "percent": "Percent agreement",
    "cohen": "Cohen's kappa",
    "cohen_linear": "Cohen's kappa, linear weights",
    "cohen_quadratic": "Cohen's kappa, quadratic weights",
    "fleiss": "Fleiss' kappa",
    "alpha_nominal": "Krippendorff's alpha, nominal",
    "alpha_ordinal": "Krippendorff's alpha, ordinal",
    "alpha_interval": "Krippendorff's alpha, interval",
    "scott": "Scott's pi",
    "gwet_ac1": "Gwet's AC1",
    "gwet_ac2": "Gwet's AC2, quadratic weights",
}


# With more than two raters, these are the mean over all pairs of raters.
_OVER_PAIRS = {"cohen", "cohen_linear", "cohen_quadratic", "scott"}


# The mean over all pairs of more people than this has its interval from the linearised variance:
# resamples are so much lower than the value that percentiles may exclude it (docs/agreement.md).
MOST_RESAMPLED = 8


# With fewer queries, an interval over queries would depend more on the queries than on agreement.
FEWEST_QUERIES = 10


# The splits of a report in addition to the whole; `agreement_of` takes any of them.
SPLITS = (
    *("pair", "query", "category", "guideline", "week", "criterion", "machine", "self"),
    "settling",
)


class Measure:
    """Measures scopes on one scale, and reports the progress."""

    def __init__(
        self,
        scale: Sequence[int],
        names: Mapping[int, str],
        seed: int,
        resamples: int,
        progress: Progress,
        *,
        relevant_from: int | None = None,
    ) -> None:
        self._scale = scale
        self._names = names
        self._options: dict[str, Any] = {
            "interval": "auto",
            "seed": seed,
            "resamples": resamples,
        }
        self._progress = progress
        self._relevant_from = relevant_from

    def __call__(
        self,
        patterns: Patterns,
        raters: Sequence[int] = (),
        clusters: Mapping[str, Patterns] | None = None,
    ) -> dict[str, Any]:
        """Measure patterns. `raters` is the order of the raters if not that of their names;
        `clusters` are the same patterns grouped by query, to add intervals over queries.
        """
        who = list(raters) or sorted(
            {member for pattern in patterns for member, _value in pattern},
            key=self._names.__getitem__,
        )
        ratings = ratings_of(patterns, who, self._scale)
        measured = {
            key: ready_for_json(of(ratings, **self._interval_options(key, who, clusters)))
            for key, of in coefficients().items()
        }
        if clusters is not None and len(clusters) >= FEWEST_QUERIES:
            clustered = ratings_of(patterns, who, self._scale, clusters)
            for key, of in coefficients().items():
                over = of(clustered, **self._interval_options(key, who, clusters))
                measured[key] |= {
                    "interval_over_queries": ready_for_json(over)["interval"],
                    "interval_over_queries_note": over.interval_note.replace("clusters", "queries"),
                }
        self._progress.advance()
        return {
            "raters": [self._names[member] for member in who],
            "units": ratings.units,
            "ratings": sum(len(pattern) * times for pattern, times in patterns.items()),
            "excluded": [entry._asdict() for entry in ratings.excluded],
            "coefficients": measured,
            **(self._pair_figures(patterns, who) if len(raters) == 2 else {}),
        }

    def _interval_options(
        self, key: str, who: Sequence[int], clusters: Mapping[str, Patterns] | None
    ) -> dict[str, Any]:
        """Return the options for a coefficient's interval.

        In splits, of which there may be hundreds, and for many raters, the variance of the mean
        over pairs is linearised instead of resampled, and the interval's note says so.
        """
        most = 2 if clusters is None else MOST_RESAMPLED
        if key in _OVER_PAIRS and len(who) > most:
            return {**self._options, "interval": "analytic"}
        return self._options

    def _pair_figures(self, patterns: Patterns, raters: Sequence[int]) -> dict[str, Any]:
        """Return the figures that only two raters have: the table of their values, and the
        prevalence and bias of calling documents relevant.
        """
        from agreement import bias_index, prevalence_index

        figures: dict[str, Any] = {"table": _table(patterns, raters, self._scale)}
        if self._relevant_from is not None:
            relevant: Patterns = Counter()
            for pattern, times in patterns.items():
                answers = tuple(
                    (member, int(value >= self._relevant_from)) for member, value in pattern
                )
                relevant[answers] += times
            ratings = ratings_of(relevant, raters, [0, 1])
            figures["relevant_from"] = self._relevant_from
            figures["prevalence"] = ready_for_json(prevalence_index(ratings, **self._options))
            figures["bias"] = ready_for_json(bias_index(ratings, **self._options))
        return figures


def coefficients() -> dict[str, Callable[..., Coefficient]]:
    """Return the function that computes each of COEFFICIENTS."""
    # Importing numpy takes time: only code that computes should wait for it.
    from agreement import (
        cohen_kappa,
        fleiss_kappa,
        gwet_ac,
        krippendorff_alpha,
        percent_agreement,
        scott_pi,
    )

    return {
        "percent": percent_agreement,
        "cohen": cohen_kappa,
        "cohen_linear": partial(cohen_kappa, weights="linear"),
        "cohen_quadratic": partial(cohen_kappa, weights="quadratic"),
        "fleiss": fleiss_kappa,
        "alpha_nominal": partial(krippendorff_alpha, level="nominal"),
        "alpha_ordinal": partial(krippendorff_alpha, level="ordinal"),
        "alpha_interval": partial(krippendorff_alpha, level="interval"),
        "scott": scott_pi,
        "gwet_ac1": gwet_ac,
        "gwet_ac2": partial(gwet_ac, weights="quadratic"),
    }


def ratings_of(
    patterns: Patterns,
    raters: Sequence[int],
    scale: Sequence[int],
    clusters: Mapping[str, Patterns] | None = None,
) -> Ratings:
    """Convert patterns for the package `agreement`, one row each, nan for a missing answer. With
    `clusters`, one row for each pattern of each cluster.
    """
    import numpy as np

    from agreement import Ratings

    groups = {"": patterns} if clusters is None else clusters
    all_patterns = [pattern for group in groups.values() for pattern in group]
    times = [number for group in groups.values() for number in group.values()]
    belongs = [name for name, group in groups.items() for _one in group]
    place = {member: at for at, member in enumerate(raters)}
    rows = np.full((len(all_patterns), len(raters)), np.nan)
    for row, answers in zip(rows, all_patterns, strict=True):
        for member, value in answers:
            row[place[member]] = value
    return Ratings.from_patterns(
        rows,
        np.array(times, dtype=np.int64),
        categories=list(scale) or "seen",
        clusters=None if clusters is None else belongs,
    )


def _table(patterns: Patterns, raters: Sequence[int], scale: Sequence[int]) -> list[list[int]]:
    """Count how often the first rater gave one value (rows) and the second another (columns)."""
    place = {value: at for at, value in enumerate(scale)}
    table = [[0] * len(scale) for _row in scale]
    for pattern, times in patterns.items():
        values = dict(pattern)
        if len(values) == 2:
            table[place[values[raters[0]]]][place[values[raters[1]]]] += times
    return table


def ready_for_json(coefficient: Coefficient) -> dict[str, Any]:
    """Convert a coefficient to the form in which figures store it."""
    interval = coefficient.interval
    return {
        "name": coefficient.name,
        "method": coefficient.method,
        "value": coefficient.value,
        "note": coefficient.note,
        "interval": None if interval is None else [interval.low, interval.high],
        "interval_note": coefficient.interval_note,
        "units": coefficient.units,
        "raters": coefficient.raters,
        "pairs": coefficient.pairs,
    }
