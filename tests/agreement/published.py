"""Published coefficients, each with the table it was computed from and the source of both.

Values are written as printed: a test rounds the computed value to the same number of digits.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import nan
from typing import NamedTuple

import numpy as np

from agreement import (
    Coefficient,
    Ratings,
    cohen_kappa,
    fleiss_kappa,
    gwet_ac,
    krippendorff_alpha,
    percent_agreement,
    scott_pi,
)


class Published(NamedTuple):
    """One published value and how to compute it again."""

    source: str
    what: str
    printed: str
    compute: Callable[[], Coefficient]


def units_of(table: list[list[int]]) -> list[tuple[int, int]]:
    """Return the units of a contingency table: categories 1, 2, ... of the two raters."""
    return [
        (row, column)
        for row, cells in enumerate(table, start=1)
        for column, count in enumerate(cells, start=1)
        for _ in range(count)
    ]


def by_distance(*weights: float) -> np.ndarray:
    """Return a matrix of weights from the weights of 0, 1, 2 ... steps on the scale."""
    steps = np.arange(len(weights))
    return np.array(weights)[np.abs(np.subtract.outer(steps, steps))]


# Cohen (1960), Educational and Psychological Measurement 20, 37-46, as shares of 200 units: .44 .07
# .09 / .05 .20 .05 / .01 .03 .06. Cohen (1968), Psychological Bulletin 70, 213-220, weights it.
COHEN = units_of([[88, 14, 18], [10, 40, 10], [2, 6, 12]])

# Feinstein and Cicchetti (1990), Journal of Clinical Epidemiology 43, 543-549: the same 85% of
# agreement with balanced and with unbalanced margins.
FEINSTEIN_BALANCED = units_of([[40, 9], [6, 45]])
FEINSTEIN_UNBALANCED = units_of([[80, 10], [5, 5]])

# Artstein and Poesio (2008), Computational Linguistics 34, 555-596: two coders, statement or
# request for information.
ARTSTEIN = units_of([[20, 20], [10, 50]])

# Gwet's data set cont3x3abstractors: 100 patients by two abstractors; ectopic, abnormal
# intrauterine, normal intrauterine pregnancy. Values and standard errors as the overview of R's
# irrCAC prints them.
ABSTRACTORS = units_of([[13, 0, 0], [0, 20, 7], [0, 4, 56]])

# A printout of SAS PROC FREQ, kept in the tests of statsmodels (stats/tests/test_inter_rater.py).
# The second rater never used the first category.
SAS_PRINTOUT = units_of([[0, 4, 1], [0, 8, 0], [0, 1, 5]])

# SAS/STAT User's Guide, The FREQ Procedure, Agreement Study: two dermatologists; terrible, poor,
# marginal, clear.
SAS_SKIN = units_of([[10, 4, 1, 0], [5, 10, 12, 2], [2, 4, 12, 5], [0, 2, 6, 13]])

# R package irr, data set anxiety: 20 people by three raters. Values as printed by its kappa2(),
# which uses the categories seen: raters 2 and 3 used 1, 2, 3, 4 and 6.
ANXIETY = np.array(
    [
        [3, 3, 3, 4, 5, 5, 2, 3, 5, 2, 2, 6, 1, 5, 2, 2, 1, 2, 4, 3],
        [3, 6, 4, 6, 2, 4, 2, 4, 3, 3, 2, 3, 3, 3, 2, 2, 1, 3, 3, 4],
        [2, 1, 4, 4, 3, 2, 1, 6, 1, 1, 1, 2, 3, 3, 1, 1, 3, 3, 2, 2],
    ]
).T

# Fleiss (1971), Psychological Bulletin 76, 378-382, Table 1: 30 patients, six diagnoses each: 1
# depression, 2 personality disorder, 3 schizophrenia, 4 neurosis, 5 other. In the order of R's irr,
# data set diagnoses, which sorts the six of a patient; Light's kappa is printed by kappam.light().
SIX_PER_PATIENT = """
    444444 222555 233335 555555 222444 113333 333355 113334 114444 555555
    144444 124444 222333 144444 224445 333335 111455 111112 224444 133555
    555555 244444 224555 114444 144445 222224 111155 224444 133333 555555
"""
DIAGNOSES = [[int(diagnosis) for diagnosis in patient] for patient in SIX_PER_PATIENT.split()]

# Wikipedia, Fleiss' kappa, worked example: 10 subjects, 14 raters, counts of 5 categories.
WIKIPEDIA_FLEISS = [
    [0, 0, 0, 0, 14],
    [0, 2, 6, 4, 2],
    [0, 0, 3, 5, 6],
    [0, 3, 9, 2, 0],
    [2, 2, 8, 1, 1],
    [7, 7, 0, 0, 0],
    [3, 2, 6, 3, 0],
    [2, 5, 3, 2, 2],
    [6, 5, 2, 1, 0],
    [0, 2, 2, 3, 7],
]

# Gwet (2014), Handbook of Inter-Rater Reliability, 4th edition, p. 125: 15 units, five observers,
# two to five ratings per unit. Values as printed by irrCAC on this data set (cac.raw5obser).
GWET_OBSERVERS = np.array(
    [
        [1, 1, 2, nan, 0, 0, 1, 1, 2, 2, nan, 0, 1, 3, 1],
        [1, 1, 3, 0, 0, 0, 0, nan, 2, 1, 1, 0, 2, 3, 1],
        [2, 0, 3, 0, 0, 0, 2, 2, 2, 1, 0, 0, 2, 2, 1],
        [nan, 1, 3, nan, nan, nan, nan, 0, nan, 1, 0, 0, 2, 2, nan],
        [2, nan, nan, 0, 0, 0, 1, nan, 2, nan, nan, nan, nan, 3, 1],
    ]
).T

# Gwet's data set cac.raw.gender: 15 people by four raters, nothing missing; values by irrCAC.
GWET_GENDER = np.array(
    [
        list("aaaaabbbcaaaaab"),
        list("aaaababccaaaaba"),
        list("abbcaabbcabbcaa"),
        list("ccccaabbcccccaa"),
    ]
).T

# Gwet's data set cac.raw4raters is Krippendorff's C; a unit with a single rating is part of it.
# Krippendorff (2011), Computing Krippendorff's Alpha-Reliability: A binary data, two observers (Meg
# and Owen); B nominal data, two observers (Ben and Gerry); C any metric, four observers, missing.
KRIPPENDORFF_A = np.array([[0, 1, 0, 0, 0, 0, 0, 0, 1, 0], [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]]).T
KRIPPENDORFF_B = np.array([list("aabbdcccedda"), list("babbbccceddd")]).T
KRIPPENDORFF_C = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, nan, nan, nan],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, nan, 3],
        [nan, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, nan],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, nan],
    ]
).T

# Wikipedia, Krippendorff's alpha, computational example: three observers, 15 units.
WIKIPEDIA_ALPHA = np.array(
    [
        [nan, nan, nan, nan, nan, 3, 4, 1, 2, 1, 1, 3, 3, nan, 3],
        [1, nan, 2, 1, 3, 3, 4, 3, nan, nan, nan, nan, nan, nan, nan],
        [nan, nan, 2, 1, 3, 4, 4, nan, 2, 1, 1, 3, 3, nan, 4],
    ]
).T

ONE_TO_3, ONE_TO_4, ONE_TO_5 = [1, 2, 3], [1, 2, 3, 4], [1, 2, 3, 4, 5]
ANXIETY_23 = ANXIETY[:, 1:]

PUBLISHED = [
    Published("Cohen (1960)", "kappa", "0.492", partial(cohen_kappa, COHEN, categories=ONE_TO_3)),
    Published(
        "Cohen (1968)",
        "weighted kappa",
        "0.348",
        partial(cohen_kappa, COHEN, categories=ONE_TO_3, weights=[[0, 1, 3], [1, 0, 6], [3, 6, 0]]),
    ),
    Published(
        "Cohen (1968)",
        "weighted kappa, asymmetric weights",
        "0.353",
        partial(cohen_kappa, COHEN, categories=ONE_TO_3, weights=[[0, 1, 4], [1, 0, 6], [2, 2, 0]]),
    ),
    Published(
        "Feinstein and Cicchetti (1990)",
        "kappa, balanced margins",
        "0.70",
        partial(cohen_kappa, FEINSTEIN_BALANCED, categories=[1, 2]),
    ),
    Published(
        "Feinstein and Cicchetti (1990)",
        "kappa, unbalanced margins",
        "0.32",
        partial(cohen_kappa, FEINSTEIN_UNBALANCED, categories=[1, 2]),
    ),
    Published(
        "Feinstein and Cicchetti (1990)",
        "percent agreement, unbalanced margins",
        "0.85",
        partial(percent_agreement, FEINSTEIN_UNBALANCED, categories=[1, 2]),
    ),
    Published(
        "Artstein and Poesio (2008)",
        "kappa",
        "0.348",
        partial(cohen_kappa, ARTSTEIN, categories=[1, 2]),
    ),
    Published(
        "Artstein and Poesio (2008)",
        "pi",
        "0.341",
        partial(scott_pi, ARTSTEIN, categories=[1, 2]),
    ),
    Published(
        "Artstein and Poesio (2008)",
        "percent agreement, which is S = 0.40 of two categories",
        "0.70",
        partial(percent_agreement, ARTSTEIN, categories=[1, 2]),
    ),
    Published(
        "Gwet (2014), cont3x3abstractors",
        "kappa",
        "0.7964094",
        partial(cohen_kappa, ABSTRACTORS, categories=ONE_TO_3),
    ),
    Published(
        "Gwet (2014), cont3x3abstractors",
        "pi",
        "0.7962397",
        partial(scott_pi, ABSTRACTORS, categories=ONE_TO_3),
    ),
    Published(
        "Gwet (2014), cont3x3abstractors",
        "AC1",
        "0.8493305",
        partial(gwet_ac, ABSTRACTORS, categories=ONE_TO_3),
    ),
    Published(
        "SAS PROC FREQ printout",
        "kappa",
        "0.4842",
        partial(cohen_kappa, SAS_PRINTOUT, categories=ONE_TO_3),
    ),
    Published(
        "SAS PROC FREQ printout",
        "kappa, linear weights",
        "0.4701",
        partial(cohen_kappa, SAS_PRINTOUT, categories=ONE_TO_3, weights="linear"),
    ),
    Published(
        "SAS/STAT User's Guide, skin condition",
        "kappa",
        "0.3449",
        partial(cohen_kappa, SAS_SKIN, categories=ONE_TO_4),
    ),
    Published(
        "R irr, anxiety",
        "kappa, raters 2 and 3",
        "-0.006289308",
        partial(cohen_kappa, ANXIETY_23, categories="seen"),
    ),
    Published(
        "R irr, anxiety",
        "kappa, raters 2 and 3, linear weights",
        "0.1459075",
        partial(cohen_kappa, ANXIETY_23, categories="seen", weights="linear"),
    ),
    Published(
        "R irr, anxiety",
        "kappa, raters 2 and 3, quadratic weights",
        "0.2520325",
        partial(cohen_kappa, ANXIETY_23, categories="seen", weights="quadratic"),
    ),
    Published(
        "R irr, anxiety",
        "kappa, raters 2 and 3, weights 0 0 1 1 2",
        "0.2391304",
        partial(cohen_kappa, ANXIETY_23, categories="seen", weights=by_distance(0, 0, 1, 1, 2)),
    ),
    Published(
        "R irr, diagnoses",
        "kappa, raters 1 and 2",
        "0.651",
        partial(cohen_kappa, [row[:2] for row in DIAGNOSES], categories=ONE_TO_5),
    ),
    Published(
        "R irr, diagnoses",
        "kappa, mean over 15 pairs (Light)",
        "0.459",
        partial(cohen_kappa, DIAGNOSES, categories=ONE_TO_5),
    ),
    Published(
        "Fleiss (1971)",
        "Fleiss' kappa",
        "0.430",
        partial(fleiss_kappa, DIAGNOSES, categories=ONE_TO_5),
    ),
    Published(
        "Wikipedia, Fleiss' kappa",
        "Fleiss' kappa",
        "0.210",
        partial(fleiss_kappa, Ratings.from_counts(WIKIPEDIA_FLEISS, categories=ONE_TO_5)),
    ),
    Published(
        "Gwet (2014), cac.raw.gender",
        "Fleiss' kappa",
        "0.129",
        partial(fleiss_kappa, GWET_GENDER, categories=["a", "b", "c"]),
    ),
    Published(
        "Gwet (2014), cac.raw.gender",
        "percent agreement",
        "0.456",
        partial(percent_agreement, GWET_GENDER, categories=["a", "b", "c"]),
    ),
    Published(
        "Gwet (2014), cac.raw5obser",
        "Fleiss' kappa, generalised",
        "0.458",
        partial(fleiss_kappa, GWET_OBSERVERS, categories=[0, 1, 2, 3]),
    ),
    Published(
        "Gwet (2014), cac.raw5obser",
        "percent agreement",
        "0.616",
        partial(percent_agreement, GWET_OBSERVERS, categories=[0, 1, 2, 3]),
    ),
    Published(
        "Gwet (2014), cac.raw4raters",
        "AC1, single ratings in the shares",
        "0.77544",
        partial(gwet_ac, KRIPPENDORFF_C, categories=ONE_TO_5, single_ratings=True),
    ),
    Published(
        "Gwet (2014), cac.raw4raters",
        "Fleiss' kappa, generalised, single ratings in the shares",
        "0.76117",
        partial(fleiss_kappa, KRIPPENDORFF_C, categories=ONE_TO_5, single_ratings=True),
    ),
    Published(
        "Krippendorff (2011), A",
        "alpha, nominal",
        "0.095",
        partial(krippendorff_alpha, KRIPPENDORFF_A, categories=[0, 1]),
    ),
    Published(
        "Krippendorff (2011), B",
        "alpha, nominal",
        "0.692",
        partial(krippendorff_alpha, KRIPPENDORFF_B, categories=["a", "b", "c", "d", "e"]),
    ),
    Published(
        "Krippendorff (2011), C",
        "alpha, nominal",
        "0.743",
        partial(krippendorff_alpha, KRIPPENDORFF_C, categories=ONE_TO_5),
    ),
    Published(
        "Krippendorff (2011), C",
        "alpha, ordinal",
        "0.815",
        partial(krippendorff_alpha, KRIPPENDORFF_C, categories=ONE_TO_5, level="ordinal"),
    ),
    Published(
        "Krippendorff (2011), C",
        "alpha, interval",
        "0.849",
        partial(krippendorff_alpha, KRIPPENDORFF_C, categories=ONE_TO_5, level="interval"),
    ),
    Published(
        "Krippendorff (2011), C",
        "alpha, ratio",
        "0.797",
        partial(krippendorff_alpha, KRIPPENDORFF_C, categories=ONE_TO_5, level="ratio"),
    ),
    Published(
        "Wikipedia, Krippendorff's alpha",
        "alpha, nominal",
        "0.691",
        partial(krippendorff_alpha, WIKIPEDIA_ALPHA, categories=ONE_TO_4),
    ),
    Published(
        "Wikipedia, Krippendorff's alpha",
        "alpha, interval",
        "0.811",
        partial(krippendorff_alpha, WIKIPEDIA_ALPHA, categories=ONE_TO_4, level="interval"),
    ),
]
