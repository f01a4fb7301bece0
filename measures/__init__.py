"""Measures of instruction following in retrieval, from runs and qrels, with intervals.

Every measure returns a ``Measurement``. A wrong call raises CannotMeasure; data without a defined
value give a Measurement that states the reason. docs/measures.md has formulas, options and sources.
"""

from __future__ import annotations

from .followir import p_mrr
from .followtable import irs, nfr
from .infosearch import robustness, sicr, wise
from .measurement import CannotMeasure, Measurement, clustered
from .multi_infosearch import m_sicr, m_wise, mdcr
from .multiconir import flip_rate, win_rate
from .runs import Scores
from .significance import Comparison, compare, holm

__all__ = [
    "CannotMeasure",
    "Comparison",
    "Measurement",
    "Scores",
    "clustered",
    "compare",
    "flip_rate",
    "holm",
    "irs",
    "m_sicr",
    "m_wise",
    "mdcr",
    "nfr",
    "p_mrr",
    "robustness",
    "sicr",
    "win_rate",
    "wise",
]
