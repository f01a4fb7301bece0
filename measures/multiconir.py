"""Win rate and flip rate of MultiConIR: positives against hard negatives, by condition count."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Literal, TypeAlias

from .measurement import RESAMPLES, Bootstrap, CannotMeasure, IntervalKind, Measurement, summarise
from .runs import check_choice, count_queries, is_number, list_ids

# The score that should be higher, and one or more scores that should be lower.
Pair: TypeAlias = tuple[float, float | Sequence[float]]
# Pairs by number of conditions, or the scores of a ladder: documents by number of conditions met.
Outcomes: TypeAlias = Mapping[int, Pair] | Mapping[int, float] | Pair
PairScores: TypeAlias = Mapping[str, Outcomes]

WinTies: TypeAlias = Literal["loss", "half", "left_out"]
FlipTies: TypeAlias = Literal["not_greater", "left_out"]
NanScores: TypeAlias = Literal["loss", "left_out"]
FlipNan: TypeAlias = Literal["not_greater", "left_out"]
Average: TypeAlias = Literal["pooled", "by_query"]

# The number of conditions of a pair that was given without one.
_WITHOUT_NUMBER = 0


def win_rate(
    scores: PairScores,
    *,
    k: int | None = None,
    ties: WinTies = "loss",
    nan: NanScores = "loss",
    average: Average = "pooled",
    interval: IntervalKind = "bootstrap",
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Measurement:
    """Compute the win rate (MultiConIR, arXiv 2503.08046, section 3.3).

    With S(q, d) the score of a document::

        WR_k     = share of queries with S(q_k, d+) > S(q_k, d-)             (Task 1)
        WR_k,k-1 = share of queries with S(q_10, d_k) > S(q_10, d_(k-1))     (Task 2)

    where q_k has k conditions, d+ satisfies all of them and d- misses one, and d_k satisfies k of
    the ten. From 0 to 1; a model that does not distinguish the two gets 0 by the paper's strict
    inequality, not 0.5.

    Args:
        scores: By query, a mapping of the number of conditions to a pair (score of the better
            document, score of the worse one); the second may be a sequence of scores. Or a ladder:
            a mapping of the number of conditions met to one score, whose neighbours are compared.
            Or one pair.
        k: The number of conditions to measure; in a ladder, of the better document. None: all.
        ties: Equal scores are a "loss" (the paper's >, published code), "half" a win, or
            "left_out".
        nan: A comparison with nan is a "loss" (published code) or "left_out".
        average: "pooled" over all comparisons, or "by_query" first. The two are equal if every
            query has the same number of comparisons.
        interval: "bootstrap" or "bca" for a 95% interval over queries, or None.
        resamples: Number of resamples.
        seed: Seed of the bootstrap.

    Raises:
        ValueError: an unknown option, or scores of another shape.

    The positive wins with 1 and with 2 conditions, and loses with 3: 2 of 3.

    >>> of_q = {1: (0.9, 0.2), 2: (0.8, 0.7), 3: (0.5, 0.6)}
    >>> round(win_rate({"q": of_q}).value, 4), win_rate({"q": of_q}, k=3).value
    (0.6667, 0.0)

    A ladder of documents that satisfy 0, 1 and 2 conditions has two neighbours.

    >>> win_rate({"q": {0: 0.1, 1: 0.4, 2: 0.3}}).value
    0.5
    """
    check_choice("ties", ties, WinTies)
    check_choice("nan", nan, NanScores)
    check_choice("average", average, Average)
    by_query: dict[str, float | None] = {}
    terms: dict[str, tuple[float, float]] = {}
    tied, with_nan = [], []
    for query, outcomes in scores.items():
        wins = count = 0.0
        for number, better, worse in _comparisons(query, outcomes):
            if k is not None and number != k:
                continue
            is_nan, is_tie = math.isnan(better) or math.isnan(worse), better == worse
            with_nan += [query] * is_nan
            tied += [query] * is_tie
            if (is_nan and nan == "left_out") or (is_tie and ties == "left_out"):
                continue
            count += 1
            wins += 0.5 if is_tie and ties == "half" else better > worse
        by_query[query] = wins / count if count else None
        terms[query] = (wins, count)
    return summarise(
        "win rate" if k is None else f"win rate at {k}",
        by_query,
        bootstrap=Bootstrap(interval, resamples, seed),
        options={"k": k, "ties": ties, "nan": nan, "average": average},
        warnings=[
            _warn_of_comparisons(tied, "have equal scores", ties),
            _warn_of_comparisons(with_nan, "have a score that is nan", nan),
        ],
        undefined="no query has a comparison",
        terms=terms if average == "pooled" else None,
    )


def flip_rate(
    *,
    instruction: PairScores,
    descriptive: PairScores,
    styles: Mapping[str, str] | None = None,
    k: int | None = None,
    ties: FlipTies = "not_greater",
    nan: FlipNan = "not_greater",
    average: Average = "pooled",
    interval: IntervalKind = "bootstrap",
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Measurement:
    """Compute the flip rate (MultiConIR, arXiv 2503.08046, section 3.3); lower is more stable.

    With S_ins and S_des the scores under the query that lists its conditions and under the one that
    describes them::

        FR = share of comparisons in which S_ins(q_10, d_k) > S_ins(q_10, d_(k-1)) and
             S_des(q_10, d_k) > S_des(q_10, d_(k-1)) do not agree

    From 0 (the style of the query changes no outcome) to 1.

    Args:
        instruction: Scores under queries that list their conditions, shaped as in ``win_rate``.
        descriptive: Scores under queries that describe them.
        styles: For each query id in ``instruction`` the one in ``descriptive`` that asks the same;
            None if the ids are the same.
        k: The number of conditions to measure; in a ladder, of the better document. None: all.
        ties: Equal scores are "not_greater" (the paper's >, published code), or a comparison that
            is a tie in either style is "left_out".
        nan: A comparison with nan is "not_greater" (published code) or "left_out".
        average: "pooled" over all comparisons (published code), or "by_query" first.
        interval: "bootstrap" or "bca" for a 95% interval over queries, or None.
        resamples: Number of resamples.
        seed: Seed of the bootstrap.

    Queries and comparisons that one style lacks are left out with a warning.

    Raises:
        ValueError: an unknown option, or scores of another shape.

    Of two neighbours, the second changes its order between the styles.

    >>> flip_rate(
    ...     instruction={"q": {0: 0.1, 1: 0.2, 2: 0.3}},
    ...     descriptive={"q": {0: 0.1, 1: 0.4, 2: 0.3}},
    ... ).value
    0.5
    """
    check_choice("ties", ties, FlipTies)
    check_choice("nan", nan, FlipNan)
    check_choice("average", average, Average)
    by_query: dict[str, float | None] = {}
    terms: dict[str, tuple[float, float]] = {}
    tied, with_nan, unpaired = [], [], []
    listing_query = {described: query for query, described in (styles or {}).items()}
    descriptive = {listing_query.get(query, query): values for query, values in descriptive.items()}
    for query in dict.fromkeys((*instruction, *descriptive)):
        first, second = (
            _number_comparisons(query, style.get(query), k) for style in (instruction, descriptive)
        )
        unpaired += [query] * len(first.keys() ^ second.keys())
        flips = count = 0.0
        for key in first.keys() & second.keys():
            pairs = [first[key], second[key]]
            is_nan = any(math.isnan(better) or math.isnan(worse) for better, worse in pairs)
            is_tie = any(better == worse for better, worse in pairs)
            with_nan += [query] * is_nan
            tied += [query] * is_tie
            if (is_nan and nan == "left_out") or (is_tie and ties == "left_out"):
                continue
            count += 1
            before, after = (better > worse for better, worse in pairs)
            flips += before != after
        by_query[query] = flips / count if count else None
        terms[query] = (flips, count)
    return summarise(
        "flip rate" if k is None else f"flip rate at {k}",
        by_query,
        bootstrap=Bootstrap(interval, resamples, seed),
        options={"k": k, "ties": ties, "nan": nan, "average": average},
        warnings=[
            _warn_of_comparisons(unpaired, "are in one style only", "left_out"),
            _warn_of_comparisons(tied, "have equal scores", ties),
            _warn_of_comparisons(with_nan, "have a score that is nan", nan),
        ],
        undefined="no comparison is in both styles",
        terms=terms if average == "pooled" else None,
    )


def _comparisons(query: str, outcomes: Outcomes) -> Iterator[tuple[int, float, float]]:
    """Yield the number of conditions, the score that should be higher, and the lower one."""
    if not isinstance(outcomes, Mapping):
        yield from _compare_pair(query, _WITHOUT_NUMBER, outcomes)
        return
    ladder = {k: score for k, score in outcomes.items() if is_number(score)}
    if not ladder:
        for k, pair in outcomes.items():
            yield from _compare_pair(query, k, pair)
        return
    if len(ladder) < len(outcomes):
        raise CannotMeasure(f"query {query} mixes pairs and single scores; give one kind")
    rungs = sorted(ladder)
    for lower, upper in pairwise(rungs):
        if upper == lower + 1:
            yield upper, float(ladder[upper]), float(ladder[lower])  # type: ignore[arg-type]


def _compare_pair(query: str, k: int, pair: object) -> Iterator[tuple[int, float, float]]:
    if isinstance(pair, (tuple, list)) and len(pair) == 2 and is_number(pair[0]):
        worse = [pair[1]] if is_number(pair[1]) else pair[1]
        if isinstance(worse, Sequence) and worse and all(map(is_number, worse)):
            for score in worse:
                yield k, float(pair[0]), float(score)
            return
    raise CannotMeasure(
        f"query {query}: {pair!r} is not a pair; give (score of the better document, score of the "
        "worse one), or a mapping of the number of conditions to pairs or to single scores"
    )


def _number_comparisons(
    query: str, outcomes: Outcomes | None, k: int | None
) -> dict[tuple[int, int], tuple[float, float]]:
    """Return comparisons by number of conditions and position among those with this number."""
    comparisons: dict[tuple[int, int], tuple[float, float]] = {}
    if outcomes is None:
        return comparisons
    places: dict[int, int] = {}
    for number, better, worse in _comparisons(query, outcomes):
        if k is None or number == k:
            places[number] = places.get(number, 0) + 1
            comparisons[number, places[number]] = better, worse
    return comparisons


def _warn_of_comparisons(queries: list[str], what: str, rule: str) -> str:
    """Return a sentence about some comparisons; "" if there are none."""
    if not queries:
        return ""
    ids = set(queries)
    counted = f"{len(queries):,} comparisons in {count_queries(len(ids))} ({list_ids(ids)})"
    return f"{counted} {what}: {rule.replace('_', ' ')}"
