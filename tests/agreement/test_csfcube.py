"""CSFCube (iesl/CSFCube): 12 queries, four annotators, two of whom judged each document."""

from __future__ import annotations

import csv
from collections import Counter
from itertools import combinations
from math import isnan, nan
from pathlib import Path

import krippendorff
import numpy as np
import pytest

from agreement import Ratings, cohen_kappa, fleiss_kappa, krippendorff_alpha, percent_agreement

GRADES = [0, 1, 2, 3]
ANNOTATORS = ["annotator1", "annotator2", "annotator3", "annotator4"]
# Pairs of annotators who share documents, and the number of documents that both graded.
SHARED = {
    ("annotator1", "annotator2"): 195,
    ("annotator1", "annotator3"): 330,
    ("annotator2", "annotator3"): 222,
    ("annotator3", "annotator4"): 768,
}
pairs = pytest.mark.parametrize("pair", SHARED)


@pytest.fixture(scope="module")
def table(shared_data: Path) -> np.ndarray:
    """Return units (query and document) x annotators; -1 in the file means no grade."""
    cells: dict[tuple[str, str], list[float]] = {}
    path = shared_data / "text" / "csfcube" / "converted" / "annotator_labels.csv"
    with path.open(newline="", encoding="utf-8") as lines:
        for row in csv.DictReader(lines):
            cell = cells.setdefault((row["query_id"], row["doc_id"]), [nan] * len(ANNOTATORS))
            label = int(row["label"])
            cell[ANNOTATORS.index(row["annotator"])] = nan if label == -1 else label
    return np.array(list(cells.values()))


def columns(table: np.ndarray, pair: tuple[str, str]) -> np.ndarray:
    return table[:, [ANNOTATORS.index(name) for name in pair]]


def kappa_by_hand(rows: np.ndarray, power: int) -> float:
    """Return Cohen's kappa from its definition; power 0 unweighted, 1 linear, 2 quadratic."""
    both = [(a, b) for a, b in rows.tolist() if not isnan(a) and not isnan(b)]
    first, second = Counter(a for a, _ in both), Counter(b for _, b in both)

    def disagreement(a: float, b: float) -> float:
        return float(a != b) if power == 0 else abs(a - b) ** power

    observed = sum(disagreement(a, b) for a, b in both) / len(both)
    expected = (
        sum(disagreement(a, b) * first[a] * second[b] for a in GRADES for b in GRADES)
        / len(both) ** 2
    )
    return 1 - observed / expected


def alpha_by_hand(rows: np.ndarray, power: int) -> float:
    """Return Krippendorff's alpha of two raters from all pairs; power 0 nominal, 2 interval."""
    both = [(a, b) for a, b in rows.tolist() if not isnan(a) and not isnan(b)]
    values = [value for unit in both for value in unit]

    def disagreement(a: float, b: float) -> float:
        return float(a != b) if power == 0 else abs(a - b) ** power

    observed = sum(disagreement(a, b) for a, b in both) / len(both)
    everything = list(combinations(values, 2))
    return 1 - observed / (sum(disagreement(a, b) for a, b in everything) / len(everything))


@pairs
@pytest.mark.parametrize(("weights", "power"), [(None, 0), ("linear", 1), ("quadratic", 2)])
def test_kappa_of_each_pair_equals_the_one_by_hand(table, pair, weights, power):
    rows = columns(table, pair)

    result = cohen_kappa(rows, categories=GRADES, weights=weights)

    assert result.value == pytest.approx(kappa_by_hand(rows, power), abs=1e-9)
    assert result.units == SHARED[pair]


@pairs
@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
def test_alpha_of_each_pair_is_that_of_the_krippendorff_package(table, pair, level):
    rows = columns(table, pair)

    value = krippendorff_alpha(rows, categories=GRADES, level=level).value

    theirs = krippendorff.alpha(
        reliability_data=rows.T, value_domain=GRADES, level_of_measurement=level
    )
    assert value == pytest.approx(theirs, abs=1e-9)


@pairs
@pytest.mark.parametrize(("level", "power"), [("nominal", 0), ("interval", 2)])
def test_alpha_of_each_pair_equals_the_one_by_hand(table, pair, level, power):
    rows = columns(table, pair)

    value = krippendorff_alpha(rows, categories=GRADES, level=level).value

    assert value == pytest.approx(alpha_by_hand(rows, power), abs=1e-9)


@pairs
def test_percent_agreement_of_each_pair_is_the_share_of_equal_grades(table, pair):
    rows = columns(table, pair)
    both = rows[~np.isnan(rows).any(axis=1)]

    value = percent_agreement(rows, categories=GRADES).value

    assert value == pytest.approx(np.mean(both[:, 0] == both[:, 1]), abs=1e-9)


def test_all_pairs_are_those_who_shared_documents(table):
    ratings = Ratings.from_matrix(table, categories=GRADES)

    found = {
        (ANNOTATORS[first], ANNOTATORS[second]): ratings.of([first, second]).units
        for first, second in ratings.pairs or ()
    }

    assert found == SHARED


def test_the_mean_over_pairs_is_the_mean_of_the_four_by_hand(table):
    result = cohen_kappa(table, categories=GRADES)

    by_hand = [kappa_by_hand(columns(table, pair), 0) for pair in SHARED]
    assert result.value == pytest.approx(sum(by_hand) / 4, abs=1e-9)
    assert result.note == "mean over 4 of 6 pairs of raters; 2 without a unit that both judged"


def test_minus_one_means_missing_and_is_not_a_grade(table):
    # Ordinal alpha with -1 as missing; with -1 as a grade it would be 0.406.
    result = krippendorff_alpha(table, categories=GRADES, level="ordinal", interval="bootstrap")

    assert result.value == pytest.approx(0.413, abs=5e-4)
    assert result.units == 1_515
    assert [tuple(entry) for entry in result.excluded] == [("judged by one rater only", 5)]
    assert result.interval is not None
    assert result.interval.low < 0.413 < result.interval.high


def test_two_of_four_annotators_per_document_count_as_equal_numbers(table):
    assert fleiss_kappa(table, categories=GRADES).name == "Fleiss' kappa"
