"""If strata were drawn at different rates, each is weighted by its number of labels."""

from __future__ import annotations

import math
from typing import Any

import pytest
from django.urls import reverse

from audit.checks.figures import figures
from audit.models import Sample
from tests.checks.checking import check_label, claimed_scene, draw
from tests.pages import shows

pytestmark = pytest.mark.both_databases

# Eight labels of C1 and two of S1; two of each are drawn.
CLAIMED = {"C1": {f"C{n}": 1 for n in range(8)}, "S1": {"D0": 1, "D1": 1}}


@pytest.fixture
def scene(db):
    return claimed_scene(CLAIMED)


def check_all(sample, wrong_labels):
    for item in sample.items.select_related("candidate__document"):
        doc_id = item.candidate.document.doc_id
        relevance = 0 if doc_id in wrong_labels(item) else 1
        check_label(sample, doc_id, ada=relevance, ben=relevance)


def first_of(sample, letter):
    ids = sample.items.values_list("candidate__document__doc_id", flat=True)
    return next(doc_id for doc_id in sorted(ids) if doc_id.startswith(letter))


def weighted(sample):
    found = figures(sample).weighted
    assert found is not None
    return found


def test_the_estimate_is_weighted_by_the_sizes_of_the_strata(scene):
    sample = draw(scene, size=2)
    wrong_label = first_of(sample, "C")
    check_all(sample, lambda _: {wrong_label})

    found = figures(sample)

    # One of two in C1, which is 8 of 10 labels; none of two in S1: 0.8 x 0.5. Raw it is 1 of 4.
    assert found.overall.status.share == 0.25
    assert weighted(sample).status.share == pytest.approx(0.4)
    assert weighted(sample).grade.share == pytest.approx(0.4)
    assert "Weighted by the sizes of the strata, that is 40.0" in found.sentence


def test_a_sample_without_errors_still_has_an_upper_bound(scene):
    sample = draw(scene, size=2)
    check_all(sample, lambda _: set())

    found = weighted(sample).status

    # The largest weight of a label is 8 / 10 / 2: 0.4 x -ln(0.05) is more than 1.
    assert (found.share, found.interval.low, found.at_most) == (0, 0, 1)


def test_the_bound_of_a_sample_without_errors(db):
    claims = {"C1": {f"C{n:02}": 1 for n in range(90)}, "S1": {f"D{n:02}": 1 for n in range(30)}}
    sample = draw(claimed_scene(claims), size=30)
    check_all(sample, lambda _: set())

    found = weighted(sample).status

    # 90 of 120 labels, 30 of them checked: a weight of 0.025, times 2.9957.
    assert found.at_most == pytest.approx(0.025 * -math.log(0.05))


@pytest.mark.parametrize(
    "choices",
    [
        {"size": 2, "stratify": Sample.Stratify.NONE},
        {"size": 2, "per": Sample.Per.INSTRUCTION},
        # All of both strata: the same rate.
        {"size": 8, "fewer": True},
    ],
)
def test_there_is_no_weighted_rate_without_different_sampling_rates(scene, choices):
    sample = draw(scene, **choices)
    check_all(sample, lambda _: set())

    found = figures(sample)

    assert found.weighted is None
    assert "Weighted" not in found.sentence


def test_a_stratum_that_nobody_has_checked_leaves_no_estimate(scene, client):
    sample = draw(scene, size=2)
    check_label(sample, first_of(sample, "C"), ada=1, ben=1)
    client.force_login(scene.carla.user)

    found = figures(sample)
    page = client.get(reverse("audit:sample", args=[sample.pk])).content.decode()

    assert weighted(sample).status.share is None
    assert "Weighted" not in found.sentence
    assert "nothing was looked at in 1 of 2 strata" in page


def test_the_page_says_which_line_is_the_estimate(scene, client):
    client.force_login(scene.carla.user)
    pages = {}
    drawn: dict[str, dict[str, Any]] = {
        "weighted": {"size": 2},
        "one rate": {"size": 8, "fewer": True},
        "of each": {"size": 2, "per": Sample.Per.INSTRUCTION},
    }
    for name, choices in drawn.items():
        sample = draw(scene, name=name, **choices)
        pages[name] = client.get(reverse("audit:sample", args=[sample.pk])).content.decode()

    assert shows(pages["weighted"], "the weighted line is the estimate")
    assert shows(pages["weighted"], "All, weighted by stratum")
    assert "“All” is the estimate for the whole" in pages["one rate"]
    assert "count for more than their share" in pages["of each"]
    assert "All, weighted by stratum" not in pages["one rate"] + pages["of each"]
