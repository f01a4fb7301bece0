"""mWISE, mSICR and MDCR of Multi-InfoSearch: instructions with several attributes."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Literal, TypeAlias

from .gold_documents import (
    NO_GOLD,
    Gold,
    MissingScore,
    Modes,
    SeveralGold,
    SicrVariant,
    gold_modes,
    strict_compliance,
)
from .infosearch import Reward, WiseRules, mean_over_gold
from .measurement import RESAMPLES, Bootstrap, CannotMeasure, IntervalKind, Measurement, summarise
from .runs import Missing, Run, Scores, Ties, check_choice, count_queries, list_ids, warn_of_runs

MultiVariant: TypeAlias = Literal["paper", "notebook"]
Kind: TypeAlias = Literal["strict", "soft"]
UnjudgedVerdict: TypeAlias = Literal["not_satisfied", "left_out"]
# Verdict by query, document and dimension: whether the dimension is satisfied, or a score.
Verdicts: TypeAlias = Mapping[str, Mapping[str, Mapping[str, bool | float]]]


def m_wise(
    *,
    original: Run,
    instructed: Run,
    reversed: Run,  # noqa: A002  # the paper's name of the mode
    gold: Gold,
    satisfied: Mapping[str, int],
    violated: Mapping[str, int] | None = None,
    conditions: Mapping[str, int] | None = None,
    K: int = 10,  # noqa: N803  # the paper's letter
    N: int = 1,  # noqa: N803
    variant: MultiVariant = "paper",
    reward: Reward = "root_of_share",
    missing: Missing = "after_last",
    ties: Ties = "id_descending",
    interval: IntervalKind = "bootstrap",
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Measurement:
    """Compute mWISE (Multi-InfoSearch, section 4.2).

    With R_ori, R_ins and R_rev as in ``wise``, m the number of conditions, s of them satisfied by
    the gold document and v violated::

        if R_ins <= R_ori < R_rev, the reward
            1                                                  if R_ori <= N and R_ins = 1
            s/m (1 - sqrt((R_ori - R_ins) / K)) / sqrt(R_ins)  if R_ori <= K
            0.01 s/m                                           otherwise
        otherwise v/m times the penalty of ``wise``

    averaged over queries. From -1 to 1 (the paper's table gives no bounds).

    Args:
        original: Run of the core queries, under the ids of the instructed ones.
        instructed: Run with the instruction.
        reversed: Run with the reversed instruction.
        gold: Gold document by query; of several, the mean counts.
        satisfied: s by query.
        violated: v by query; None: m - s.
        conditions: m by query; None: s + v. One of ``violated`` and ``conditions`` is needed for
            variant "paper".
        K: Ranks that matter; 10 in the paper.
        N: Ranks that count as ideal; 1 in the paper.
        variant: "paper"; or "notebook", the published notebook, which passes s = m and v = 0 in
            every call: a reward is never reduced, and every penalty is 0.
        reward: "root_of_share" (the paper), "linear" or "root", as in ``wise``.
        missing: As in ``wise``.
        ties: As in ``wise``.
        interval: "bootstrap" or "bca" for a 95% interval over queries, or None.
        resamples: Number of resamples.
        seed: Seed of the bootstrap.

    Raises:
        ValueError: an unknown option, K or N below 1, counts that are missing or do not fit.

    The gold document g falls from rank 1 to rank 2 and violates 1 of 2 conditions: 1/2 * -1/2.

    >>> result = m_wise(
    ...     original={"q": {"g": 2.0, "a": 1.0}},
    ...     instructed={"q": {"a": 2.0, "g": 1.0}},
    ...     reversed={"q": {"a": 2.0, "g": 1.0}},
    ...     gold={"q": "g"},
    ...     satisfied={"q": 1},
    ...     conditions={"q": 2},
    ... )
    >>> result.value
    -0.25
    """
    check_choice("variant", variant, MultiVariant)
    check_choice("reward", reward, Reward)
    if K < 1 or N < 1:
        raise CannotMeasure(f"K is {K} and N is {N}; give 1 or more")
    rules = WiseRules(k=K, reward=reward)
    modes_of_gold = gold_modes(original, instructed, reversed, gold, missing=missing, ties=ties)
    shares = {
        query: (1.0, 0.0)
        if variant == "notebook"
        else _shares(query, satisfied, violated, conditions)
        for query in modes_of_gold.by_query
    }

    def score(query: str, modes: Modes) -> float:
        followed, value = rules.score(*modes.ranks, N)
        if not followed:
            # Adding 0.0 avoids -0.0 if nothing is violated.
            return value * shares[query][1] + 0.0
        if rules.full_reward(*modes.ranks[:2], N):
            return value
        return value * shares[query][0]

    return summarise(
        "mWISE",
        mean_over_gold(modes_of_gold, score),
        bootstrap=Bootstrap(interval, resamples, seed),
        options={
            "K": K,
            "N": N,
            "variant": variant,
            "reward": reward,
            "missing": missing,
            "ties": ties,
        },
        warnings=modes_of_gold.warnings,
        undefined=NO_GOLD,
    )


def m_sicr(
    *,
    original: Run,
    instructed: Run,
    reversed: Run,  # noqa: A002  # the paper's name of the mode
    gold: Gold,
    variant: SicrVariant = "paper",
    several: SeveralGold = "mean",
    missing_score: MissingScore | None = None,
    missing: Missing = "after_last",
    ties: Ties = "id_descending",
    interval: IntervalKind = "bootstrap",
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Measurement:
    """Compute mSICR (Multi-InfoSearch, section 4.1).

    I(q) and its mean are those of ``sicr``; the gold document is the one that satisfies all
    conditions of the instruction at once, and the reversed instruction negates them. From 0 to 1.

    The options are those of ``sicr``. The paper gives each condition a gold document and also asks
    for one that satisfies all; if ``gold`` has several documents, ``several`` decides.

    Raises:
        ValueError: an unknown option or a score that is not a finite number.

    The gold document g rises in rank, but not in score.

    >>> m_sicr(
    ...     original={"q": {"a": 3.0, "g": 2.0, "b": 1.0}},
    ...     instructed={"q": {"g": 2.0, "a": 1.5, "b": 1.0}},
    ...     reversed={"q": {"a": 3.0, "b": 1.0, "g": 0.5}},
    ...     gold={"q": "g"},
    ... ).value
    0.0
    """
    return strict_compliance(
        "mSICR",
        gold_modes(original, instructed, reversed, gold, missing=missing, ties=ties),
        gold,
        variant=variant,
        several=several,
        missing_score=missing_score,
        options={"missing": missing, "ties": ties},
        bootstrap=Bootstrap(interval, resamples, seed),
    )


def mdcr(
    *,
    run: Run,
    verdicts: Verdicts,
    dimensions: Mapping[str, Collection[str]],
    k: int = 10,
    kind: Kind = "strict",
    threshold: float | None = None,
    unjudged: UnjudgedVerdict = "not_satisfied",
    ties: Ties = "id_descending",
    interval: IntervalKind = "bootstrap",
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Measurement:
    """Compute MDCR (Multi-InfoSearch, section 4.3).

    With D_q the dimensions that query q asks for::

        strict: 1 if one of the first k documents satisfies all of D_q, else 0
        soft:   the largest share of D_q that one of the first k documents satisfies

    averaged over queries. From 0 to 1.

    Args:
        run: Run with the instruction.
        verdicts: Whether a document satisfies a dimension, by query, document and dimension.
        dimensions: D_q by query.
        k: Number of documents from the top.
        kind: "strict" or "soft".
        threshold: Verdicts are scores, and a dimension with at least this score is satisfied. The
            published notebook does this with similarities; the paper requires verdicts.
        unjudged: A document or dimension without a verdict is "not_satisfied"; or documents that
            lack one are "left_out" of the first k, and a query with none left has no value.
        ties: Equal scores by document id, descending, or in the order given ("file").
        interval: "bootstrap" or "bca" for a 95% interval over queries, or None.
        resamples: Number of resamples.
        seed: Seed of the bootstrap.

    Queries that ask for no dimension do not count.

    Raises:
        ValueError: an unknown option, k below 1, or a verdict that is a score without threshold.

    Of the two dimensions, a satisfies one and b both; b is second.

    >>> of_q = {"a": {"format": True, "length": False}, "b": {"format": True, "length": True}}
    >>> def at(k, kind):
    ...     return mdcr(
    ...         run={"q": {"a": 2.0, "b": 1.0}},
    ...         verdicts={"q": of_q},
    ...         dimensions={"q": ["format", "length"]},
    ...         k=k,
    ...         kind=kind,
    ...     ).value
    >>> at(1, "strict"), at(1, "soft"), at(2, "strict")
    (0.0, 0.5, 1.0)
    """
    check_choice("kind", kind, Kind)
    check_choice("unjudged", unjudged, UnjudgedVerdict)
    check_choice("ties", ties, Ties)
    if k < 1:
        raise CannotMeasure(f"k is {k}; give 1 or more")
    ranking = Scores(run, "run")
    dimensions_by_query = {
        query: tuple(dict.fromkeys(its)) for query, its in dimensions.items() if its
    }
    warnings = warn_of_runs([ranking], dimensions_by_query, ties=ties)
    by_query: dict[str, float | None] = dict.fromkeys(dimensions_by_query)
    incomplete = []
    for query, requested in dimensions_by_query.items():
        if query not in ranking:
            continue
        of_documents = verdicts.get(query, {})
        shares = []
        for document in ranking.top(query, k, ties):
            scores = of_documents.get(document, {})
            if any(dimension not in scores for dimension in requested):
                incomplete.append(query)
                if unjudged == "left_out":
                    continue
            met = sum(_is_met(query, document, d, scores.get(d), threshold) for d in requested)
            shares.append(met / len(requested))
        if shares:
            by_query[query] = max(shares) if kind == "soft" else float(max(shares) == 1)
    if incomplete:
        rule = "counts as not satisfied" if unjudged == "not_satisfied" else "is left out"
        queries = f"{count_queries(len(set(incomplete)))} ({list_ids(set(incomplete))})"
        documents = f"{len(incomplete):,} of the first {k} documents"
        warnings.append(f"{documents}, in {queries}, lack a verdict; it {rule}")
    return summarise(
        f"MDCR {kind}@{k}",
        by_query,
        bootstrap=Bootstrap(interval, resamples, seed),
        options={
            "k": k,
            "kind": kind,
            "threshold": threshold,
            "unjudged": unjudged,
            "ties": ties,
        },
        warnings=warnings,
        undefined="no query that asks for a dimension has documents with verdicts",
    )


def _is_met(
    query: str, document: str, dimension: str, verdict: bool | float | None, threshold: float | None
) -> bool:
    if verdict is None:
        return False
    if threshold is not None:
        return verdict >= threshold
    if verdict not in (0, 1):
        raise CannotMeasure(
            f"the verdict on {dimension} of document {document} in query {query} is {verdict}; "
            "give True or False, or a threshold for scores"
        )
    return bool(verdict)


def _shares(
    query: str,
    satisfied: Mapping[str, int],
    violated: Mapping[str, int] | None,
    conditions: Mapping[str, int] | None,
) -> tuple[float, float]:
    """Return s/m and v/m of a query."""
    met = _get_count("satisfied", satisfied, query)
    if violated is None and conditions is None:
        raise CannotMeasure("give violated or conditions: mWISE needs the number of conditions")
    broken = None if violated is None else _get_count("violated", violated, query)
    if conditions is not None:
        total = _get_count("conditions", conditions, query)
        broken = total - met if broken is None else broken
    else:
        assert broken is not None
        total = met + broken
    if not total or broken < 0 or met + broken > total:
        raise CannotMeasure(
            f"query {query}: {met} satisfied and {broken} violated of {total} conditions do not fit"
        )
    return met / total, broken / total


def _get_count(name: str, counts: Mapping[str, int], query: str) -> int:
    if query not in counts:
        raise CannotMeasure(f"{name} has no number for query {query}")
    if counts[query] < 0:
        raise CannotMeasure(f"{name} of query {query} is {counts[query]}; give 0 or more")
    return counts[query]
