"""WISE, SICR and Robustness@k of InfoSearch: original, instructed and reversed mode."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from .gold_documents import (
    NO_GOLD,
    Gold,
    GoldModes,
    MissingScore,
    Modes,
    SeveralGold,
    SicrVariant,
    gold_modes,
    strict_compliance,
)
from .measurement import RESAMPLES, Bootstrap, CannotMeasure, IntervalKind, Measurement, summarise
from .runs import Missing, Run, Ties, as_documents, check_choice, count_queries, list_ids, mean

Variant: TypeAlias = Literal["paper", "source", "wheel"]
Reward: TypeAlias = Literal["linear", "root", "root_of_share"]
Overlap: TypeAlias = Literal["first", "worst"]

# Reward of a document that followed the instruction from beyond rank K.
BEYOND_K = 0.01


@dataclass(frozen=True, slots=True, kw_only=True)
class WiseRules:
    """The rules that differ between variants of WISE.

    Attributes:
        k: K, the rank beyond which a reward is 0.01.
        reward: "linear" is 1 - d / K with d = R_ori - R_ins, "root" is 1 - sqrt(d) / K,
            "root_of_share" is 1 - sqrt(d / K).
        strict: Whether the reward of 1 needs R_ori < N instead of R_ori <= N.
        full_penalty: Whether R_rev < R_ori < R_ins gets -1.
        overlap: Whether the "first" or the "worst" matching penalty counts.
    """

    k: int
    reward: Reward = "linear"
    strict: bool = False
    full_penalty: bool = True
    overlap: Overlap = "first"

    def score(self, original: int, instructed: int, reverse: int, n: int) -> tuple[bool, float]:
        """Return whether the document followed the instruction, and its reward or penalty.

        >>> rules = WiseRules(k=20)
        >>> rules.score(5, 1, 9, 1), rules.score(5, 10, 1, 1), rules.score(5, 10, 9, 1)
        ((True, 0.8), (False, -1.0), (False, -0.5))
        """
        if instructed <= original < reverse:
            return True, self._reward(original, instructed, n)
        penalties = []
        if self.full_penalty and reverse < original < instructed:
            penalties.append(-1.0)
        if original <= instructed:
            penalties.append((original - instructed) / instructed)
        if reverse <= original:
            penalties.append((reverse - original) / original)
        return False, penalties[0] if self.overlap == "first" else min(penalties)

    def full_reward(self, original: int, instructed: int, n: int) -> bool:
        """Return whether the document is at rank 1 and was among the first N."""
        return instructed == 1 and (original < n if self.strict else original <= n)

    def _reward(self, original: int, instructed: int, n: int) -> float:
        if self.full_reward(original, instructed, n):
            return 1.0
        if original > self.k:
            return BEYOND_K
        difference = original - instructed
        lost = {
            "linear": difference / self.k,
            "root": math.sqrt(difference) / self.k,
            "root_of_share": math.sqrt(difference / self.k),
        }[self.reward]
        return (1 - lost) / math.sqrt(instructed)


def wise(
    *,
    original: Run,
    instructed: Run,
    reversed: Run,  # noqa: A002  # the paper's name of the mode
    gold: Gold,
    K: int = 20,  # noqa: N803  # the paper's letter
    N: int | Mapping[str, int] | None = None,  # noqa: N803
    variant: Variant = "paper",
    reward: Reward | None = None,
    strict: bool | None = None,
    overlap: Overlap = "first",
    missing: Missing = "after_last",
    ties: Ties = "id_descending",
    interval: IntervalKind = "bootstrap",
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Measurement:
    """Compute WISE (InfoSearch, arXiv 2410.23841, section 2.3, equations 6-9).

    With R_ori, R_ins and R_rev the ranks of the gold document in the three modes::

        if R_ins <= R_ori < R_rev, the reward
            1                                        if R_ori <= N and R_ins = 1
            (1 - (R_ori - R_ins) / K) / sqrt(R_ins)  if R_ori <= K
            0.01                                     otherwise
        otherwise the penalty
            -1                                       if R_rev < R_ori < R_ins
            (R_ori - R_ins) / R_ins                  if R_ori <= R_ins
            (R_rev - R_ori) / R_ori                  if R_rev <= R_ori

    averaged over queries. From -1 over 0 (nothing moves) to 1.

    Args:
        original: Run of the core queries, under the ids of the instructed ones.
        instructed: Run with the instruction.
        reversed: Run with the reversed instruction.
        gold: Gold document by query; of several, the mean counts.
        K: Ranks that matter; 20 in the paper.
        N: Number of documents that are relevant to the core query, for all queries or by query.
            None: the number of gold documents; with one, the case of N makes no difference.
        variant: "paper"; "source", the published source tree: 1 - sqrt(R_ori - R_ins) / K, and
            R_ori < N; "wheel", the published package: R_ori < N, and never -1, because its test for
            that case is never true.
        reward: "linear", "root" or "root_of_share" instead of the variant's.
        strict: Whether R_ori < N is needed, instead of the variant's choice.
        overlap: If two penalties apply (R_ori = R_ins with R_rev < R_ori, or R_rev = R_ori with
            R_ori < R_ins), the "first" counts (the paper's order, published code) or the "worst".
        missing: A document that a run lacks has the rank after the last ("after_last", published
            code) or does not count ("left_out"). The paper does not define it.
        ties: Equal scores by document id, descending, or in the order given ("file", published
            code).
        interval: "bootstrap" or "bca" for a 95% interval over queries, or None.
        resamples: Number of resamples.
        seed: Seed of the bootstrap.

    Raises:
        ValueError: an unknown option, K or N below 1, a query without N, or a bad score.

    The gold document g rises from rank 2 to rank 1 and is last when reversed: 1 - 1/20.

    >>> result = wise(
    ...     original={"q": {"a": 3.0, "g": 2.0, "b": 1.0}},
    ...     instructed={"q": {"g": 3.0, "a": 2.0, "b": 1.0}},
    ...     reversed={"q": {"a": 3.0, "b": 2.0, "g": 1.0}},
    ...     gold={"q": "g"},
    ... )
    >>> result.value
    0.95
    """
    check_choice("variant", variant, Variant)
    check_choice("overlap", overlap, Overlap)
    if reward is not None:
        check_choice("reward", reward, Reward)
    rules = WiseRules(
        k=_at_least_1("K", K),
        reward=reward or ("root" if variant == "source" else "linear"),
        strict=variant != "paper" if strict is None else strict,
        full_penalty=variant != "wheel",
        overlap=overlap,
    )
    modes_of_gold = gold_modes(original, instructed, reversed, gold, missing=missing, ties=ties)
    sizes = {query: _resolve_n(query, N, gold) for query in modes_of_gold.by_query}
    return summarise(
        "WISE",
        mean_over_gold(
            modes_of_gold, lambda query, modes: rules.score(*modes.ranks, sizes[query])[1]
        ),
        bootstrap=Bootstrap(interval, resamples, seed),
        options={
            "K": K,
            "N": "gold documents" if N is None else "by query" if isinstance(N, Mapping) else N,
            "variant": variant,
            "reward": rules.reward,
            "strict": rules.strict,
            "overlap": overlap,
            "missing": missing,
            "ties": ties,
        },
        warnings=modes_of_gold.warnings,
        undefined=NO_GOLD,
    )


def sicr(
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
    """Compute SICR (InfoSearch, arXiv 2410.23841, section 2.3, equations 4 and 5).

    With R the ranks and S the scores of the gold document in the three modes::

        I(q) = 1 if R_ins < R_ori and S_ins > S_ori and R_ori < R_rev and S_ori > S_rev, else 0
        SICR = sum of I(q) / number of queries

    From 0 to 1. Scores of the three runs must be on one scale. A gold document that is already
    first cannot rise, and gets 0.

    Args:
        original: Run of the core queries, under the ids of the instructed ones.
        instructed: Run with the instruction.
        reversed: Run with the reversed instruction.
        gold: Gold document by query.
        variant: "paper"; or "code", the published code: a gold document at rank 1 also counts if it
            stays there, its score does not fall, and both fall when reversed; of several gold
            documents only the last counts, divided by their number; a missing score is 0.
        several: How several gold documents count (the paper has one): their "mean", whether "all"
            comply, or "any". Variant "code" has its own rule.
        missing_score: Score of a document that a run lacks: "lowest", below every score, or "zero".
            None: "lowest" for the paper, which does not define it, "zero" for the code.
        missing: A document that a run lacks has the rank after the last ("after_last", published
            code) or does not count ("left_out").
        ties: Equal scores by document id, descending, or in the order given ("file", published
            code).
        interval: "bootstrap" or "bca" for a 95% interval over queries, or None.
        resamples: Number of resamples.
        seed: Seed of the bootstrap.

    Raises:
        ValueError: an unknown option or a score that is not a finite number.

    The gold document g rises with the instruction and falls with its reverse, in rank and score.

    >>> sicr(
    ...     original={"q": {"a": 3.0, "g": 2.0, "b": 1.0}},
    ...     instructed={"q": {"g": 4.0, "a": 3.0, "b": 1.0}},
    ...     reversed={"q": {"a": 3.0, "b": 1.0, "g": 0.5}},
    ...     gold={"q": "g"},
    ... ).value
    1.0
    """
    return strict_compliance(
        "SICR",
        gold_modes(original, instructed, reversed, gold, missing=missing, ties=ties),
        gold,
        variant=variant,
        several=several,
        missing_score=missing_score,
        options={"missing": missing, "ties": ties},
        bootstrap=Bootstrap(interval, resamples, seed),
    )


def robustness(
    scores: Mapping[str, float | None],
    groups: Mapping[str, Hashable],
    *,
    k: int = 10,
    interval: IntervalKind = "bootstrap",
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Measurement:
    """Compute Robustness@k (InfoSearch, arXiv 2410.23841, section 2.3, equations 1 and 2).

    The lowest nDCG@k among the instructions of a core query, averaged over core queries. nDCG@k
    itself comes from ir_measures. From 0 to 1.

    Args:
        scores: nDCG@k of each query with an instruction; None or nan if it has none.
        groups: Core query of each query. The published code of InstructIR groups by the text of
            the core query; pass the text to do the same.
        k: The k of nDCG@k, for the name only.
        interval: "bootstrap" or "bca" for a 95% interval over core queries, or None.
        resamples: Number of resamples.
        seed: Seed of the bootstrap.

    Queries without a score, or without a core query, are left out with a warning.

    Raises:
        ValueError: an infinite score.

    The lowest of q1 is 0.2, the lowest of q2 is 0.6.

    >>> robustness({"a": 0.8, "b": 0.2, "c": 0.6}, {"a": "q1", "b": "q1", "c": "q2"}).value
    0.4
    """
    of_group: dict[str, list[float]] = {str(group): [] for group in groups.values()}
    alone, empty = [], []
    for query, score in scores.items():
        if query not in groups:
            alone.append(query)
        elif score is None or math.isnan(score):
            empty.append(query)
        elif math.isinf(score):
            raise CannotMeasure(f"the score of query {query} is {score}; give a finite number")
        else:
            of_group[str(groups[query])].append(float(score))
    warnings = [
        f"{count_queries(len(ids))} without {what} ({list_ids(ids)}): left out"
        for ids, what in (
            (alone, "a core query"),
            ([*empty, *(query for query in groups if query not in scores)], "a score"),
        )
        if ids
    ]
    return summarise(
        f"Robustness@{k}",
        {group: min(its) if its else None for group, its in of_group.items()},
        bootstrap=Bootstrap(interval, resamples, seed),
        options={"k": k},
        warnings=warnings,
        undefined="no core query has a score",
    )


def mean_over_gold(
    gold_modes: GoldModes, score: Callable[[str, Modes], float]
) -> dict[str, float | None]:
    """Return the mean score of the gold documents of each query; None if it has none."""
    return {
        query: mean([score(query, its) for its in modes]) if modes else None
        for query, modes in gold_modes.by_query.items()
    }


def _resolve_n(query: str, n: int | Mapping[str, int] | None, gold: Gold) -> int:
    if n is None:
        return len(as_documents(gold[query]))
    if not isinstance(n, Mapping):
        return _at_least_1("N", n)
    if query not in n:
        raise CannotMeasure(f"N has no number for query {query}; give one number or one per query")
    return _at_least_1(f"N of query {query}", n[query])


def _at_least_1(name: str, value: int) -> int:
    if value < 1:
        raise CannotMeasure(f"{name} is {value}; give 1 or more")
    return value
