"""How many units are needed for a sufficiently narrow interval."""

from __future__ import annotations

import numpy as np
import pytest

from agreement import (
    Plan,
    cohen_kappa,
    fleiss_kappa,
    gwet_ac,
    krippendorff_alpha,
    percent_agreement,
    plan,
)
from agreement.planning import _share_of_knowing, simulate_ratings


def small(**changes: object) -> Plan:
    wanted: dict[str, object] = {
        "width": 0.3,
        "agreement": 0.6,
        "prevalence": [0.5, 0.5],
        "sets": 100,
    }
    return plan(**(wanted | changes))  # type: ignore[arg-type]


def test_the_number_equals_that_of_the_formula():
    # Two balanced categories: the variance of kappa is (1 - kappa^2) / N, for 0.6 it is 0.64 / N;
    # a normal interval 0.1 wide needs (2 * 1.96 / 0.1)^2 * 0.64 = 983 units.
    found = small(width=0.1, sets=400)

    assert found.units == pytest.approx(983, abs=15)
    assert found.width == pytest.approx(0.1, abs=found.width_error + 1e-9)
    assert 0 < found.error < 20


def test_more_raters_take_fewer_units_and_rare_categories_more():
    two = small().units
    five = small(raters=5, coefficient=fleiss_kappa).units
    rare = small(prevalence=[0.9, 0.1]).units

    assert two is not None
    assert five is not None
    assert rare is not None
    assert five < two < rare


def test_the_same_seed_gives_the_same_number():
    assert small(seed=4) == small(seed=4)


def test_a_plan_notes_its_assumptions():
    assert small(missing=0.1).note == (
        "2 raters, cohen_kappa 0.6, prevalence 0.5, 0.5, 10% missing; "
        "100 simulated data sets of each size, seed 0"
    )


def test_planning_reports_its_progress():
    steps: list[tuple[int, int]] = []

    small(progress=lambda done, of: steps.append((done, of)))

    assert steps[0] == (0, 12)
    assert steps[-1] == (12, 12)
    assert [done for done, _ in steps] == sorted(done for done, _ in steps)


def test_a_bootstrap_interval_may_be_planned_too():
    # With about 100 units, the analytic interval is slightly wider than the percentiles.
    found = small(interval="bootstrap", resamples=200)

    assert found.units is not None
    assert 80 <= found.units <= 125


def test_a_plan_beyond_the_maximum_has_no_number(monkeypatch):
    monkeypatch.setattr("agreement.planning.MOST_UNITS", 200)

    found = small(width=0.05)

    assert found.units is None
    assert found.width > 0.05


@pytest.mark.parametrize(
    ("coefficient", "options"),
    [
        (percent_agreement, {}),
        (cohen_kappa, {"weights": "linear"}),
        (fleiss_kappa, {}),
        (gwet_ac, {}),
        (gwet_ac, {"weights": "quadratic"}),
        (krippendorff_alpha, {"level": "ordinal"}),
    ],
)
def test_simulated_raters_agree_as_expected(coefficient, options):
    shares = np.array([0.5, 0.3, 0.2])
    knowing = _share_of_knowing(0.7, shares, coefficient, options)
    table = simulate_ratings(200_000, shares, knowing, 3, 0.1, np.random.default_rng(2))

    value = coefficient(table, categories=range(3), **options).value

    assert value == pytest.approx(0.7, abs=0.005)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"width": 0}, "the width of an interval must be above 0"),
        ({"prevalence": [1.0]}, "the share of each of two or more categories"),
        ({"prevalence": [0.5, 0.4]}, "sum to 1"),
        ({"prevalence": [1.0, 0.0]}, "none may be 1"),
        ({"prevalence": [1.5, -0.5]}, "the share of each of two or more categories"),
        ({"raters": 1}, "needs two or more raters, not 1"),
        ({"missing": 1.0}, "from 0 to below 1, not 1.0"),
        ({"sets": 99}, "99 data sets are too few"),
        ({"agreement": 1.0}, "to below 1, not 1.0"),
        ({"agreement": -0.2}, "must be from 0, which is chance"),
        ({"agreement": 0.4, "coefficient": percent_agreement}, "must be from 0.5, which is chance"),
    ],
)
def test_wrong_calls(changes, sentence):
    with pytest.raises(ValueError, match=sentence):
        small(**changes)
