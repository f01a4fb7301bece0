"""Intervals over queries, which account for the similarity of documents of one query."""

from __future__ import annotations

import pytest

from agreement import Ratings, krippendorff_alpha
from audit.reports.reliability import agreement_of
from tests import factories

pytestmark = pytest.mark.both_databases


def judged(scene, queries):
    """Ada and ben agree on all four documents of every other query, and on none of the others."""
    grades = []
    for number in range(queries):
        query = factories.query(scene.project, f"q{number:02}")
        narrative = factories.altered(factories.pair(query))
        for at in range(4):
            candidate = factories.candidate(query, f"d{number:02}_{at}")
            adas, bens = at % 2, at % 2 if number % 2 else 1 - at % 2
            factories.judgment(narrative, candidate, scene.ada, adas)
            factories.judgment(narrative, candidate, scene.ben, bens)
            grades.append((query.query_id, [adas, bens]))
    found = agreement_of(scene.project, seed=3, resamples=300, by=())
    return found["judgments"]["all"]["coefficients"], grades


def test_interval_over_queries_equals_the_package_over_clusters(scene):
    found, grades = judged(scene, 12)
    clustered = krippendorff_alpha(
        Ratings.from_matrix(
            [values for _, values in grades],
            categories=[0, 1, 2],
            clusters=[query for query, _ in grades],
        ),
        level="ordinal",
        interval="bootstrap",
        seed=3,
        resamples=300,
    )

    alpha = found["alpha_ordinal"]
    assert clustered.interval is not None
    assert alpha["interval_over_queries"] == pytest.approx(list(clustered.interval))
    assert "over 12 queries" in alpha["interval_over_queries_note"]
    # Similar documents carry less information, so the interval is wider.
    low, high = alpha["interval"]
    wide_low, wide_high = alpha["interval_over_queries"]
    assert wide_low < low < high < wide_high


def test_few_queries_give_no_interval_over_queries(scene):
    found, _ = judged(scene, 9)

    assert "interval_over_queries" not in found["alpha_ordinal"]


def test_two_people_have_prevalence_and_bias_of_being_relevant(scene):
    # From grade 1 on, both call a relevant, neither b: (1 - 1) / 4. Only ada calls c, d so: 2 / 4.
    for doc_id, adas, bens in (("a", 1, 2), ("b", 0, 0), ("c", 2, 0), ("d", 1, 0)):
        candidate = factories.candidate(scene.query, doc_id)
        factories.judgment(scene.narrative, candidate, scene.ada, adas)
        factories.judgment(scene.narrative, candidate, scene.ben, bens)

    (pair,) = agreement_of(scene.project, seed=1, resamples=100)["judgments"]["pairs"]

    assert (pair["relevant_from"], pair["prevalence"]["value"], pair["bias"]["value"]) == (
        1,
        0.0,
        0.5,
    )
