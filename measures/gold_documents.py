"""Gold documents in the original, instructed and reversed mode: their ranks and scores, and strict
instruction compliance by them, which SICR and mSICR share.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import Literal, NamedTuple, TypeAlias

from .measurement import Bootstrap, Measurement, summarise
from .runs import (
    Missing,
    Run,
    Scores,
    Ties,
    as_documents,
    check_choice,
    mean,
    ranks_of,
    warn_of_documents,
    warn_of_runs,
)

Gold: TypeAlias = Mapping[str, str | Collection[str]]

SicrVariant: TypeAlias = Literal["paper", "code"]
SeveralGold: TypeAlias = Literal["mean", "all", "any"]
MissingScore: TypeAlias = Literal["lowest", "zero"]

NO_GOLD = "no query with a gold document is in all three runs"


class Modes(NamedTuple):
    """The ranks of one gold document in the three modes, R_ori, R_ins and R_rev, and its scores.

    A score is None if the run lacks the document.
    """

    ranks: tuple[int, int, int]
    scores: tuple[float | None, float | None, float | None]


class GoldModes(NamedTuple):
    """The gold documents of all queries.

    Attributes:
        by_query: Ranks and scores of each gold document in the order given; empty if a query has
            none left or a run lacks the query.
        warnings: Sentences about the input.
    """

    by_query: Mapping[str, list[Modes]]
    warnings: list[str]


def gold_modes(
    original: Run, instructed: Run, reversed_run: Run, gold: Gold, *, missing: Missing, ties: Ties
) -> GoldModes:
    """Look up the gold documents in the three runs.

    Raises:
        ValueError: an unknown option or a score that is not a finite number.
    """
    check_choice("missing", missing, Missing)
    check_choice("ties", ties, Ties)
    runs = (
        Scores(original, "original run"),
        Scores(instructed, "instructed run"),
        Scores(reversed_run, "reversed run"),
    )
    documents_by_query = {query: as_documents(its) for query, its in gold.items()}
    by_query: dict[str, list[Modes]] = {
        query: [] for query, its in documents_by_query.items() if its
    }
    lacking: dict[str, set[tuple[str, str]]] = {run.name: set() for run in runs}
    for query, modes in by_query.items():
        if any(query not in run for run in runs):
            continue
        documents = documents_by_query[query]
        sides = []
        for run in runs:
            ranks, absent = ranks_of(run, query, documents, ties=ties, missing=missing)
            lacking[run.name].update((query, document) for document in absent)
            scores = run.documents(query)
            sides.append([(rank, scores.get(d)) for rank, d in zip(ranks, documents, strict=True)])
        for (r_ori, s_ori), (r_ins, s_ins), (r_rev, s_rev) in zip(*sides, strict=True):
            if r_ori is not None and r_ins is not None and r_rev is not None:
                modes.append(Modes((r_ori, r_ins, r_rev), (s_ori, s_ins, s_rev)))
    rule = "ranked after the last" if missing == "after_last" else "left out"
    warnings = warn_of_runs(runs, by_query, ties=ties)
    for run in runs:
        warnings += warn_of_documents(lacking[run.name], run, rule)
    return GoldModes(by_query, warnings)


def strict_compliance(
    name: str,
    found: GoldModes,
    gold: Gold,
    *,
    variant: SicrVariant,
    several: SeveralGold,
    missing_score: MissingScore | None,
    options: Mapping[str, object],
    bootstrap: Bootstrap,
) -> Measurement:
    """Compute SICR or mSICR from the ranks and scores of gold documents."""
    check_choice("variant", variant, SicrVariant)
    check_choice("several", several, SeveralGold)
    if missing_score is None:
        missing_score = "zero" if variant == "code" else "lowest"
    check_choice("missing_score", missing_score, MissingScore)
    lowest = 0.0 if missing_score == "zero" else -math.inf
    by_query: dict[str, float | None] = {}
    for query, modes in found.by_query.items():
        complies = [float(_complies(its, lowest, stays_first=variant == "code")) for its in modes]
        if not complies:
            by_query[query] = None
        elif variant == "code":
            by_query[query] = complies[-1] / len(as_documents(gold[query]))
        else:
            by_query[query] = _combine(complies, several)
    return summarise(
        name,
        by_query,
        bootstrap=bootstrap,
        options={
            "variant": variant,
            "several": "last" if variant == "code" else several,
            "missing_score": missing_score,
            **options,
        },
        warnings=found.warnings,
        undefined=NO_GOLD,
    )


def _combine(complies: list[float], several: SeveralGold) -> float:
    if several == "mean":
        return mean(complies)
    return min(complies) if several == "all" else max(complies)


def _complies(modes: Modes, lowest: float, *, stays_first: bool) -> bool:
    scores = [lowest if score is None else score for score in modes.scores]
    r_ori, r_ins, r_rev = modes.ranks
    if stays_first and r_ori == 1:
        rises = r_ins == 1 and scores[1] >= scores[0]
    else:
        rises = r_ins < r_ori and scores[1] > scores[0]
    return rises and r_ori < r_rev and scores[0] > scores[2]
