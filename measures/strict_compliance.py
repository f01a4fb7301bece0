"""Strict instruction compliance from the ranks of gold documents: shared by SICR and mSICR."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Literal, TypeAlias

from .intervals import Bootstrap
from .measurement import Measurement, summarise
from .modes import Gold, GoldModes, Modes
from .runs import as_documents, check_choice, mean

SicrVariant: TypeAlias = Literal["paper", "code"]
SeveralGold: TypeAlias = Literal["mean", "all", "any"]
MissingScore: TypeAlias = Literal["lowest", "zero"]

NO_GOLD = "no query with a gold document is in all three runs"


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
