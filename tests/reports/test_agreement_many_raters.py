"""Ten raters on three questions (MultiConIR): Fleiss' kappa with its interval, on its own scale."""

from __future__ import annotations

import random
from datetime import UTC, datetime
from types import SimpleNamespace

import pytest

from agreement import fleiss_kappa
from audit.models import Rating, Review
from audit.reports.reliability import agreement_of
from audit.reviews.criteria import MULTICONIR
from tests import factories

pytestmark = pytest.mark.both_databases

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


@pytest.fixture
def rated(db):
    """Twelve queries; every rater finds most valid on each criterion, the fourth query least."""
    project = factories.project()
    raters = [factories.member(project, f"rater {number:02}") for number in range(10)]
    chance = random.Random(4)
    ratings: dict[tuple[str, int], list[int]] = {}
    for number in range(12):
        narrative = factories.altered(factories.pair(factories.query(project, f"q{number:02}")))
        for rater in raters:
            review = Review.objects.create(
                narrative=narrative, auditor=rater, rubric=MULTICONIR.name, submitted_at=NOON
            )
            for criterion in MULTICONIR.keys:
                place = int(chance.random() < (0.8 if number == 4 else 0.1))
                level = MULTICONIR.levels[place]
                Rating.objects.create(
                    review=review,
                    criterion=criterion,
                    level=level.value,
                    place=place,
                    rejects=level.rejects,
                )
                ratings.setdefault((criterion, number), []).append(1 - place)
    return SimpleNamespace(project=project, ratings=ratings)


def test_each_criterion_has_the_kappa_of_the_library(rated):
    found = agreement_of(rated.project, seed=1, resamples=200)

    assert (found["rubric"], found["levels"]) == ("multiconir-1", {"valid": 1, "not_valid": 0})
    assert list(found["reviews"]["criteria"]) == ["natural", "precise", "plausible"]
    for criterion, scope in found["reviews"]["criteria"].items():
        table = [values for (key, _), values in rated.ratings.items() if key == criterion]
        fleiss = scope["coefficients"]["fleiss"]

        assert (scope["units"], len(scope["raters"])) == (12, 10)
        assert fleiss["name"] == "Fleiss' kappa"
        assert fleiss["value"] == pytest.approx(
            fleiss_kappa(table, categories=[0, 1]).value, abs=1e-12
        )
        low, high = fleiss["interval"]
        assert low < fleiss["value"] < high


def test_all_criteria_together_have_every_rating(rated):
    everything = agreement_of(rated.project, seed=1, resamples=200, by=())["reviews"]["all"]

    assert (everything["units"], everything["ratings"]) == (36, 360)
    assert everything["coefficients"]["fleiss"]["value"] == pytest.approx(
        fleiss_kappa(list(rated.ratings.values()), categories=[0, 1]).value, abs=1e-12
    )


def test_mean_over_many_pairs_has_a_variance_interval_in_splits(rated):
    found = agreement_of(rated.project, seed=1, resamples=200)["reviews"]["criteria"]["natural"]

    cohen, fleiss = found["coefficients"]["cohen"], found["coefficients"]["fleiss"]
    assert cohen["interval_note"].startswith("95% interval from the linearised variance")
    assert "bootstrap" in fleiss["interval_note"]
    low, high = cohen["interval"]
    assert low < cohen["value"] < high
