"""IRS and NFR of FollowTable: how an instruction moves compliant and violating tables."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache
from typing import Literal, NamedTuple, TypeAlias

from .measurement import RESAMPLES, Bootstrap, CannotMeasure, IntervalKind, Measurement, summarise
from .runs import (
    Run,
    Scores,
    Ties,
    check_choice,
    count_queries,
    list_ids,
    warn_of_documents,
    warn_of_runs,
)

IdealEqualsBase: TypeAlias = Literal["one", "zero", "undefined"]
MissingTables: TypeAlias = Literal["after_tables", "after_run"]
Average: TypeAlias = Literal["pooled", "by_query"]

# A smaller difference of sums of weights is 0 up to rounding.
_ZERO = 1e-12


@lru_cache(maxsize=100_000)
def weight(rank: int) -> float:
    """Return the weight of a rank, w(r) = 1 / log2(r + 1).

    >>> weight(1), weight(3)
    (1.0, 0.5)
    """
    return 1 / math.log2(rank + 1)


def irs(
    *,
    with_instruction: Run,
    without: Run,
    positive: Mapping[str, Collection[str]],
    violating: Mapping[str, Collection[str]],
    tables: int | None = None,
    base: Mapping[str, str] | None = None,
    ideal_equals_base: IdealEqualsBase = "one",
    missing: MissingTables = "after_tables",
    ties: Ties = "id_descending",
    interval: IntervalKind = "bootstrap",
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Measurement:
    """Compute IRS, the Instruction Responsiveness Score (FollowTable, arXiv 2605.00400).

    Source: section 4.3, equations 1-4. With r(t, pi) the rank of table t in ranking pi,
    w(r) = 1 / log2(r + 1), T+ the tables that comply with the instruction and T- those that match
    the query but violate it::

        G+(pi) = sum of w(r(t, pi)) over T+        G-(pi) = the same over T-
        S(pi) = (G+(pi) - G+(base)) - (G-(pi) - G-(base))
        IRS = S(pi) / S(ideal)      if S(pi) >= 0
              S(pi) / |S(worst)|    otherwise

    The ideal ranking has T+ first and T- last, the worst T- first and T+ last. Averaged over
    queries. From -1 over 0 (nothing moves) to 1.

    Args:
        with_instruction: Run of queries with their instruction.
        without: Run of the queries alone, the base.
        positive: T+ by query.
        violating: T- by query.
        tables: N, the number of tables in the collection; it affects the value. None: the number
            of tables in the two rankings and the sets, which differs by query.
        base: Query id in ``without`` for each query; None if the ids are the same.
        ideal_equals_base: Value if the base is ideal already and stays so, 0/0 in the formula:
            "one", as described in section 5.7 of the paper; "zero" (published code); "undefined"
            leaves the query out.
        missing: A table that a run lacks has rank N + 1 ("after_tables", published code, where IRS
            can exceed 1 slightly) or the rank after the last of that run ("after_run"). The paper
            assumes a full ranking.
        ties: Equal scores by table id, descending, or in the order given ("file", published code).
        interval: "bootstrap" or "bca" for a 95% interval over queries, or None.
        resamples: Number of resamples.
        seed: Seed of the bootstrap.

    A query without T+ and T- gets 0 (paper, section 4.3) if both runs have it; a query that a run
    lacks is left out.

    Raises:
        ValueError: an unknown option, a score that is not a finite number, fewer tables than
            ranked, or a table that both complies and violates.

    Of three tables, a complies and b violates. Base b, c, a; with instruction a, b, c:
    S = (1 - 1/2) - (0.6309 - 1) = 0.8691; ideal a, c, b: (1 - 1/2) - (1/2 - 1) = 1.

    >>> result = irs(
    ...     with_instruction={"q": {"a": 3.0, "b": 2.0, "c": 1.0}},
    ...     without={"q": {"b": 3.0, "c": 2.0, "a": 1.0}},
    ...     positive={"q": {"a"}},
    ...     violating={"q": {"b"}},
    ...     tables=3,
    ... )
    >>> round(result.value, 4)
    0.8691
    """
    check_choice("ideal_equals_base", ideal_equals_base, IdealEqualsBase)
    check_choice("missing", missing, MissingTables)
    check_choice("ties", ties, Ties)
    runs = _RunPair(with_instruction, without, base, ties)
    queries = dict.fromkeys((*positive, *violating))
    warnings = runs.warnings(queries)
    responses = _by_query(runs, queries, positive, violating, tables=tables, missing=missing)
    by_query, already_ideal, empty = responses.values, responses.already_ideal, responses.empty
    ideal: float | None = {"one": 1.0, "zero": 0.0, "undefined": None}[ideal_equals_base]
    by_query |= dict.fromkeys(already_ideal, ideal)
    warnings += runs.missing_tables(f"ranked {missing.replace('_', ' ')}")
    if tables is None:
        warnings.append(
            "the number of tables is taken from the rankings; give tables to compare with others"
        )
    if already_ideal:
        warnings.append(
            f"the base is ideal already and stays so in {count_queries(len(already_ideal))} "
            f"({list_ids(already_ideal)}): {ideal_equals_base}"
        )
    if empty:
        warnings.append(
            f"no table in either set of {count_queries(len(empty))} ({list_ids(empty)}): IRS 0"
        )
    return summarise(
        "IRS",
        by_query,
        bootstrap=Bootstrap(interval, resamples, seed),
        options={
            "tables": tables,
            "ideal_equals_base": ideal_equals_base,
            "missing": missing,
            "ties": ties,
        },
        warnings=warnings,
        undefined="no query is in both runs",
    )


def nfr(
    *,
    with_instruction: Run,
    without: Run,
    trap: Mapping[str, Collection[str]],
    tables: int | None = None,
    base: Mapping[str, str] | None = None,
    average: Average = "pooled",
    missing: MissingTables = "after_tables",
    ties: Ties = "id_descending",
    interval: IntervalKind = "bootstrap",
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Measurement:
    """Compute NFR, the Negation Failure Rate (FollowTable, arXiv 2605.00400, section 5.6).

    With T_trap the tables that violate the instruction because they have what it excludes::

        NFR = |{t in T_trap: r(t, with instruction) < r(t, without)}| / |T_trap|

    From 0 (no trap table rises) to 1 (all rise); lower is better.

    Args:
        with_instruction: Run of queries with their instruction.
        without: Run of the queries alone.
        trap: T_trap by query.
        tables: N, the number of tables in the collection, for the rank of missing ones.
        base: Query id in ``without`` for each query; None if the ids are the same.
        average: "pooled" over all trap tables (the paper's formula names one set), or "by_query".
        missing: As in ``irs``. The paper assumes a full ranking.
        ties: Equal scores by table id, descending, or in the order given ("file").
        interval: "bootstrap" or "bca" for a 95% interval over queries, or None.
        resamples: Number of resamples.
        seed: Seed of the bootstrap.

    Raises:
        ValueError: an unknown option, a score that is not a finite number, fewer tables than
            ranked.

    Of the trap tables a and c, c rises from rank 3 to rank 1 and a falls.

    >>> nfr(
    ...     with_instruction={"q": {"c": 3.0, "a": 2.0, "b": 1.0}},
    ...     without={"q": {"a": 3.0, "b": 2.0, "c": 1.0}},
    ...     trap={"q": {"a", "c"}},
    ... ).value
    0.5
    """
    check_choice("average", average, Average)
    check_choice("missing", missing, MissingTables)
    check_choice("ties", ties, Ties)
    runs = _RunPair(with_instruction, without, base, ties)
    queries = {query: set(its) for query, its in trap.items() if its}
    warnings = runs.warnings(queries)
    by_query: dict[str, float | None] = dict.fromkeys(queries)
    terms: dict[str, tuple[float, float]] = {}
    for query, its in queries.items():
        if runs.has(query):
            size = runs.check_size(query, its, tables)
            fallback = size + 1 if missing == "after_tables" else None
            new, old = runs.ranks(query, its, fallback)
            risen = sum(new[table] < old[table] for table in its)
            by_query[query] = risen / len(its)
            terms[query] = (float(risen), float(len(its)))
    warnings += runs.missing_tables(f"ranked {missing.replace('_', ' ')}")
    return summarise(
        "NFR",
        by_query,
        bootstrap=Bootstrap(interval, resamples, seed),
        options={"tables": tables, "average": average, "missing": missing, "ties": ties},
        warnings=warnings,
        undefined="no query with a trap table is in both runs",
        terms=terms if average == "pooled" else None,
    )


class _RunPair:
    """The run with instructions and the run of queries alone; their query ids may differ."""

    def __init__(
        self, with_instruction: Run, without: Run, base: Mapping[str, str] | None, ties: Ties
    ) -> None:
        self.new = Scores(with_instruction, "run with instructions")
        self.old = Scores(without, "run without instructions")
        self.base = base
        self.ties = ties
        self.lacking: dict[str, set[tuple[str, str]]] = {self.new.name: set(), self.old.name: set()}

    def base_of(self, query: str) -> str:
        return query if self.base is None else self.base.get(query, query)

    def has(self, query: str) -> bool:
        return query in self.new and self.base_of(query) in self.old

    def warnings(self, queries: Iterable[str]) -> list[str]:
        of_new = dict.fromkeys(queries)
        of_old = dict.fromkeys(map(self.base_of, of_new))
        return [
            *warn_of_runs([self.new], of_new, ties=self.ties),
            *warn_of_runs([self.old], of_old, ties=self.ties),
        ]

    def check_size(self, query: str, named: set[str], tables: int | None) -> int:
        """Return N; raise ValueError if the rankings have more tables."""
        base = self.base_of(query)
        if tables is not None and tables >= self.new.size(query) + self.old.size(base) + len(named):
            return tables
        ranked = named.union(self.new.documents(query), self.old.documents(base))
        if tables is not None and tables < len(ranked):
            raise CannotMeasure(
                f"query {query} names {len(ranked):,} tables, more than tables={tables:,}; "
                "give the number of tables in the collection"
            )
        return len(ranked) if tables is None else tables

    def ranks(
        self, query: str, named: Collection[str], fallback: int | None
    ) -> tuple[dict[str, int], dict[str, int]]:
        """Return ranks with and without the instruction; missing tables get the fallback."""
        ranks_by_run = []
        for run, its in ((self.new, query), (self.old, self.base_of(query))):
            ranks = run.ranks(its, named, self.ties)
            self.lacking[run.name].update((its, table) for table in named if table not in ranks)
            after = run.size(its) + 1 if fallback is None else fallback
            ranks_by_run.append({table: ranks.get(table, after) for table in named})
        return ranks_by_run[0], ranks_by_run[1]

    def missing_tables(self, rule: str) -> list[str]:
        return [
            sentence
            for run in (self.new, self.old)
            for sentence in warn_of_documents(self.lacking[run.name], run, rule)
        ]


class _Responses(NamedTuple):
    """IRS by query, queries whose base is ideal and stays so, and queries without tables."""

    values: dict[str, float | None]
    already_ideal: list[str]
    empty: list[str]


def _by_query(
    runs: _RunPair,
    queries: Iterable[str],
    positive: Mapping[str, Collection[str]],
    violating: Mapping[str, Collection[str]],
    *,
    tables: int | None,
    missing: MissingTables,
) -> _Responses:
    """Compute the IRS of every query that both runs have."""
    responses = _Responses(dict.fromkeys(queries), [], [])
    for query in responses.values:
        comply, violate = set(positive.get(query, ())), set(violating.get(query, ()))
        _check_sets(query, comply, violate)
        if not runs.has(query):
            continue
        if not comply and not violate:
            responses.empty.append(query)
            responses.values[query] = 0.0
        else:
            size = runs.check_size(query, comply | violate, tables)
            fallback = size + 1 if missing == "after_tables" else None
            value = _responsiveness(runs, query, comply, violate, size, fallback)
            if value is None:
                responses.already_ideal.append(query)
            responses.values[query] = value
    return responses


def _check_sets(query: str, comply: set[str], violate: set[str]) -> None:
    both = comply & violate
    if both:
        raise CannotMeasure(
            f"query {query}: tables both comply and violate ({list_ids(both)}); "
            "a table is in one set"
        )


def _gain(comply: Iterable[int], violate: Iterable[int]) -> float:
    """Return G+ - G- of the ranks of the two sets."""
    return math.fsum([*map(weight, comply), *(-weight(rank) for rank in violate)])


def _responsiveness(
    runs: _RunPair, query: str, comply: set[str], violate: set[str], size: int, fallback: int | None
) -> float | None:
    """Return IRS of one query; None if the base is ideal and nothing moves."""
    new, old = runs.ranks(query, comply | violate, fallback)
    base = _gain((old[t] for t in comply), (old[t] for t in violate))
    moved = _gain((new[t] for t in comply), (new[t] for t in violate)) - base
    if abs(moved) < _ZERO:
        moved = 0.0
    last = size + 1
    if moved >= 0:
        ideal = range(1, len(comply) + 1), range(last - len(violate), last)
        best = _gain(*ideal) - base
        # `best` is negative if the base lacks violating tables, which then rank after the last.
        return moved / best if best > _ZERO else None
    worst = _gain(range(last - len(comply), last), range(1, len(violate) + 1)) - base
    return moved / abs(worst) if abs(worst) > _ZERO else 0.0
