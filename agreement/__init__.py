"""Coefficients of agreement between raters, with intervals; an undefined value has a reason.

Every coefficient takes a matrix of units x raters (nan where a rater did not judge) with the scale
as ``categories``, or ``Ratings`` made from another shape, and returns a ``Coefficient``. A wrong
call raises ValueError; data without a defined value give a Coefficient that states the reason.
docs/agreement.md has the formulas, their sources and the published examples they reproduce.
"""

from __future__ import annotations

from .alpha import krippendorff_alpha
from .coefficient import Coefficient, Excluded, Interval
from .comparison import Difference, compare
from .kappa import cohen_kappa, scott_pi
from .planning import Plan, plan
from .pooled import fleiss_kappa, gwet_ac, percent_agreement
from .ratings import Ratings
from .supplements import (
    CategoryAgreement,
    PairAgreement,
    bias_index,
    by_category,
    by_pair,
    prevalence_index,
)

__all__ = [
    "CategoryAgreement",
    "Coefficient",
    "Difference",
    "Excluded",
    "Interval",
    "PairAgreement",
    "Plan",
    "Ratings",
    "bias_index",
    "by_category",
    "by_pair",
    "cohen_kappa",
    "compare",
    "fleiss_kappa",
    "gwet_ac",
    "krippendorff_alpha",
    "percent_agreement",
    "plan",
    "prevalence_index",
    "scott_pi",
]
