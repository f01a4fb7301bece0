"""People's values of a sample correct the mean of the machine's values, with an interval."""

from __future__ import annotations

import doctest
import math
from statistics import fmean, stdev

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from agreement import prediction_powered as module
from agreement.prediction_powered import (
    FEWEST_TO_TUNE,
    LabelStratum,
    prediction_powered,
    share_of_relevant,
)

values = st.floats(0, 1).map(lambda value: round(value, 3))


@st.composite
def judged_units(draw, fewest=2, most=40):
    """The machine's values of all units and people's of the first."""
    machine = draw(st.lists(values, min_size=fewest + 1, max_size=most))
    people = draw(st.lists(values, min_size=fewest, max_size=len(machine)))
    named = {f"u{number:02d}": value for number, value in enumerate(machine)}
    return named, dict(zip(named, people, strict=False))


def test_the_example_in_the_docstring_is_correct():
    failed, tried = doctest.testmod(module)

    assert tried > 0
    assert failed == 0


def test_four_units_of_which_two_are_judged_by_hand():
    machine = {"a": 0.4, "b": 0.8, "c": 0.6, "d": 0.2}
    people = {"a": 0.2, "b": 0.7}

    result = prediction_powered(machine, people)

    # The machine's mean is 0.5. The differences are -0.2 and -0.1, -0.15 on average.
    assert result.machine == pytest.approx(0.5)
    assert result.combined.value == pytest.approx(0.35)
    # Their variance is 2 * 0.05 ** 2 / (2 - 1) = 0.005. That of their mean, with half of the units
    # unjudged, is 0.005 / 2 * 0.5 = 0.00125. The quantile of t with 1 degree is 12.706.
    reach = 12.7062 * math.sqrt(0.00125)
    assert result.combined.interval == pytest.approx((0.35 - reach, 0.35 + reach), abs=1e-4)
    # People alone: the values 0.2 and 0.7 have the variance 0.125, their mean 0.125 / 2 * 0.5.
    reach = 12.7062 * math.sqrt(0.03125)
    assert result.people.value == pytest.approx(0.45)
    assert result.people.interval == pytest.approx((0.45 - reach, 0.45 + reach), abs=1e-4)
    assert (result.units, result.judged, result.power, result.tuned) == (4, 2, 1.0, False)
    assert result.population == "these units"
    # The root of 0.005 / 0.125 = 0.04.
    assert result.width_ratio == pytest.approx(0.2)


def test_units_like_these_add_the_variance_of_drawing_the_units():
    machine = {"a": 0.4, "b": 0.8, "c": 0.6, "d": 0.2}
    people = {"a": 0.2, "b": 0.7}

    result = prediction_powered(machine, people, population="units like these")

    # People alone: all of 0.125 / 2, as if the two units came from a population without an end.
    reach = 12.7062 * math.sqrt(0.125 / 2)
    assert result.people.interval == pytest.approx((0.45 - reach, 0.45 + reach), abs=1e-3)
    # Combined: 0.00125 from the sample, and people's variance around 0.35 divided by the 4 units.
    spread = (0.15**2 + 0.35**2) / 4
    reach = 12.7062 * math.sqrt(0.00125 + spread)
    assert result.combined.interval == pytest.approx((0.35 - reach, 0.35 + reach), abs=1e-3)
    assert result.population == "units like these"


def test_a_sample_without_strata_has_one_degree_of_freedom_less_than_judged_units():
    people = {"a": 0.0, "b": 0.625, "c": 0.875, "d": 0.188, "e": 0.0, "f": 1.0, "g": 1.0, "h": 0.5}
    machine = dict.fromkeys([*people, "i", "j", "k"], 0.0)

    interval = prediction_powered(machine, people).people.interval

    # The quantile of t with 7 degrees is 2.36462; 3 of 11 units are not judged.
    reach = 2.364624 * stdev(people.values()) * math.sqrt(3 / 11 / 8)
    assert interval == pytest.approx((0.5235 - reach, 0.5235 + reach))


def test_strata_drawn_at_different_rates_are_weighted_by_their_sizes_by_hand():
    # Stratum x has 8 units, y has 2, and two of each are judged.
    machine = {f"x{number}": 0.5 for number in range(8)} | {"y0": 0.9, "y1": 0.1}
    people = {"x0": 0.3, "x1": 0.5, "y0": 1.0, "y1": 0.6}
    strata = {unit: unit[0] for unit in machine}

    result = prediction_powered(machine, people, strata=strata)

    # 0.8 * 0.4 + 0.2 * 0.8, not the mean of the four, 0.6.
    assert result.people.value == pytest.approx(0.48)
    # The machine's mean 0.5, corrected by 0.8 * -0.1 + 0.2 * 0.3.
    assert result.combined.value == pytest.approx(0.48)
    # y is judged completely. x: variance 0.02, 0.8 ** 2 * 0.02 / 2 * (1 - 2 / 8), 1 degree.
    reach = 12.7062 * math.sqrt(0.0048)
    assert result.combined.interval == pytest.approx((0.48 - reach, 0.48 + reach), abs=1e-4)
    assert result.strata == 2


def test_units_that_do_not_count_leave_a_ratio_by_hand():
    # Query c has no changed document according to people, d none according to the machine.
    machine = {"a": 0.2, "b": 0.4, "c": 0.6, "d": None, "e": 0.4, "f": 0.4}
    people = {"a": 0.1, "b": 0.3, "c": None, "d": 0.4}

    result = prediction_powered(machine, people)

    # People alone: 0.8 in 3 queries that count.
    assert result.people.value == pytest.approx(0.8 / 3)
    # 0.1, 0.3 and 0.4 have the variance 0.07 / 3, their mean a third of it, and 2 of 6 queries are
    # not judged. The quantile of t with 2 degrees is 4.3027.
    reach = 4.30265 * math.sqrt(0.07 / 3 / 3 * 2 / 6)
    assert result.people.interval == pytest.approx((0.8 / 3 - reach, 0.8 / 3 + reach), abs=1e-4)
    assert result.machine == pytest.approx(0.4)
    # Sums per query: the machine's 2.0 / 6, corrected by the mean of -0.1, -0.1, -0.6 and 0.4;
    # counts: the machine's 5 / 6, corrected by the mean of 0, 0, -1 and 1.
    assert result.combined.value == pytest.approx((2.0 / 6 - 0.1) / (5 / 6))


def test_lambda_is_the_slope_where_the_sample_is_large_enough():
    rng = np.random.default_rng(3)
    machine = dict(zip(map(str, range(200)), rng.random(200).tolist(), strict=True))
    people = {
        unit: 0.2 + 0.5 * machine[unit] + 0.05 * rng.standard_normal()
        for unit in list(machine)[:60]
    }

    result = prediction_powered(machine, people)

    known, judged = [machine[unit] for unit in people], list(people.values())
    slope, at_zero = np.polyfit(known, judged, 1)
    assert result.tuned
    assert result.power == pytest.approx(slope)
    # The regression estimate: the fitted line at the machine's mean of all units.
    assert result.combined.value == pytest.approx(at_zero + slope * fmean(machine.values()))
    assert result.width_ratio is not None
    assert result.width_ratio < 0.5


def test_few_judged_units_are_not_tuned():
    machine = {str(number): number / 100 for number in range(100)}

    def power(judged: int) -> float | None:
        people = {str(number): number % 7 / 10 for number in range(judged)}
        return prediction_powered(machine, people).power

    assert power(FEWEST_TO_TUNE) == 1.0
    assert power(FEWEST_TO_TUNE + 1) != 1.0


def test_a_machine_that_contradicts_people_is_left_out():
    machine = {str(number): number / 100 for number in range(100)}
    people = {str(number): 1 - number / 100 + number % 3 / 20 for number in range(0, 100, 3)}

    result = prediction_powered(machine, people)

    assert (result.power, result.tuned) == (0.0, True)
    assert result.combined == result.people


@given(judged_units(), values)
def test_a_constant_machine_leaves_people_alone(units, constant):
    machine, people = units

    result = prediction_powered(dict.fromkeys(machine, constant), people)

    assert result.combined.value == pytest.approx(result.people.value)
    if result.people.interval is None:
        assert result.combined.interval is None
    else:
        assert result.combined.interval == pytest.approx(result.people.interval)


def test_strata_of_the_machine_values_leave_it_nothing_to_add():
    # Strata by the machine's label: the sizes of the strata say all that the machine knows.
    machine = {str(number): number % 3 / 10 for number in range(300)}
    people = {str(number): number * 7 % 11 / 11 for number in range(90)}

    result = prediction_powered(machine, people, strata=machine)

    assert (result.power, result.combined) == (0.0, result.people)


@given(judged_units())
def test_a_machine_that_is_always_right_gives_its_own_mean(units):
    machine, people = units

    result = prediction_powered(machine, {unit: machine[unit] for unit in people}, power=1.0)

    assert result.combined.value == pytest.approx(fmean(machine.values()))
    if len(people) < len(machine):
        assert result.combined.interval is None
        assert result.combined.note == (
            "no interval: people differ from the machine by the same amount on every judged unit"
        )


@given(judged_units(), st.randoms())
def test_the_order_of_units_does_not_matter(units, random):
    machine, people = units
    shuffled = list(machine)
    random.shuffle(shuffled)

    again = prediction_powered(
        {unit: machine[unit] for unit in shuffled},
        {unit: people[unit] for unit in shuffled if unit in people},
    )

    assert again == prediction_powered(machine, people)


@given(judged_units())
def test_power_0_is_people_alone(units):
    result = prediction_powered(*units, power=0.0)

    assert result.combined == result.people
    assert result.people.value == pytest.approx(fmean(units[1].values()))


@given(judged_units())
def test_the_interval_of_people_grows_when_units_like_these_are_meant(units):
    these = prediction_powered(*units).people
    like_these = prediction_powered(*units, population="units like these").people

    assert these.value == like_these.value
    # If people judged all and never differ, only these units have an interval.
    assume(these.interval and like_these.interval)
    assert these.interval is not None
    assert like_these.interval is not None
    assert like_these.interval.low <= these.interval.low + 1e-12
    assert these.interval.high <= like_these.interval.high + 1e-12


def test_the_interval_shrinks_with_more_judged_units_and_with_a_better_machine():
    rng = np.random.default_rng(5)
    truth = dict(zip(map(str, range(1_000)), rng.random(1_000).tolist(), strict=True))

    def width(judged: int, noise: float) -> float:
        machine = {unit: value + noise * rng.standard_normal() for unit, value in truth.items()}
        interval = prediction_powered(machine, dict(list(truth.items())[:judged])).combined.interval
        assert interval is not None
        return interval.high - interval.low

    assert width(400, 0.1) < width(100, 0.1) < width(25, 0.1)
    assert width(100, 0.05) < width(100, 0.1) < width(100, 0.4)


def test_all_units_judged_leave_nothing_random():
    people = {"a": 0.2, "b": 0.7, "c": 0.3}

    result = prediction_powered(dict.fromkeys(people, 1.0), people)

    assert result.combined.value == pytest.approx(0.4)
    assert result.combined.interval == pytest.approx((0.4, 0.4))
    assert result.width_ratio is None


@pytest.mark.parametrize(
    ("machine", "people", "options", "note"),
    [
        ({"a": 1, "b": 2}, {"a": 1}, {}, "undefined: people judged fewer than 2 of 2 units"),
        ({"a": 1, "b": 2, "c": 1}, {}, {}, "undefined: people judged fewer than 2 of 3 units"),
        (
            {"a": 1, "b": 2, "c": 1, "d": 1},
            {"a": 1, "b": 1},
            {"strata": {"a": "x", "b": "x", "c": "y", "d": "y"}},
            "undefined: people judged fewer than 2 units in 1 of 2 strata",
        ),
        (
            {"a": 1, "b": 2, "c": 1},
            {"a": None, "b": None},
            {},
            "undefined: the estimated share of units that count is not positive",
        ),
        (
            {"a": 1},
            {"a": 2},
            {"population": "units like these"},
            "undefined: there is only one unit",
        ),
    ],
)
def test_an_undefined_estimate_has_a_reason(machine, people, options, note):
    result = prediction_powered(machine, people, **options)

    assert (result.combined.value, result.people.value, result.power) == (None, None, None)
    assert (result.combined.interval, result.people.interval) == (None, None)
    assert (result.combined.note, result.people.note) == (note, note)
    assert result.width_ratio is None


def test_people_who_always_say_the_same_have_no_interval():
    result = prediction_powered({"a": 0.1, "b": 0.5, "c": 0.9}, {"a": 0.5, "b": 0.5})

    assert result.people.value == 0.5
    assert result.people.interval is None
    assert result.people.note == "no interval: people's values do not differ within the sample"
    assert result.combined.interval is not None


def test_a_skewed_sample_is_named():
    # One of 30 judged labels is relevant, so p is 1 / 30:
    # the squared skewness (1 - 2p) ** 2 / p / (1 - p) is 27.03, times 25.
    machine = {str(number): 0.0 for number in range(300)}
    people = {str(number): float(number == 0) for number in range(30)}

    note = prediction_powered(machine, people).people.note

    assert note == (
        "people judged few units for differences as skewed as these: by Cochran's rule the "
        "interval needs 676 to hold as often as it says"
    )


@pytest.mark.parametrize(
    ("machine", "people", "options", "message"),
    [
        ({}, {}, {}, "no units"),
        ({"a": 1}, {"b": 1}, {}, "for which the machine has no entry"),
        ({"a": math.nan}, {"a": 1}, {}, "not a finite number"),
        ({"a": 1}, {"a": math.inf}, {}, "not a finite number"),
        ({"a": 1, "b": 1}, {"a": 1}, {"strata": {"a": 1}}, "has no stratum"),
        ({"a": 1}, {"a": 1}, {"population": "all"}, "not a population"),
        ({"a": 1}, {"a": 1}, {"power": 1.1}, "from 0 to 1"),
        ({"a": 1}, {"a": 1}, {"confidence": 1}, "between 0 and 1"),
    ],
)
def test_wrong_calls_are_refused(machine, people, options, message):
    with pytest.raises(ValueError, match=message):
        prediction_powered(machine, people, **options)


@st.composite
def label_strata(draw):
    """Strata of labels, each with the machine's grades (0 or 1) and people's of some of them."""
    grades = st.lists(st.booleans(), min_size=1, max_size=12)
    strata = []
    for machine in draw(st.lists(grades, min_size=1, max_size=3)):
        most = len(machine)
        strata.append((machine, draw(st.lists(st.booleans(), max_size=most))))
    return strata


@given(label_strata())
def test_counted_labels_have_the_share_of_labels_that_are_listed(strata):
    machine, people, stratum_of = {}, {}, {}
    for number, (by_machine, by_people) in enumerate(strata):
        for place, grade in enumerate(by_machine):
            unit = f"{number} {place:02d}"
            machine[unit], stratum_of[unit] = float(grade), number
            if place < len(by_people):
                people[unit] = float(by_people[place])

    listed = prediction_powered(machine, people, strata=stratum_of)
    counted = share_of_relevant(
        [
            LabelStratum(
                size=len(by_machine),
                relevant=sum(by_machine),
                judged=list(zip(by_machine, by_people, strict=False)),
            )
            for by_machine, by_people in strata
        ]
    )

    assert (counted.units, counted.judged, counted.strata) == (
        *(listed.units, listed.judged, listed.strata),
    )
    assert counted.machine == pytest.approx(listed.machine)
    for one, other in ((counted.people, listed.people), (counted.combined, listed.combined)):
        assert one.value == (None if other.value is None else pytest.approx(other.value))
        assert one.interval == (None if other.interval is None else pytest.approx(other.interval))
        assert one.note == other.note


@pytest.mark.parametrize(
    "strata",
    [
        [],
        [LabelStratum(size=0, relevant=0, judged=[])],
        [LabelStratum(size=2, relevant=1, judged=[(True, True), (True, True)])],
        [LabelStratum(size=2, relevant=1, judged=[(False, True), (False, True)])],
    ],
)
def test_no_labels_and_more_than_there_are_are_refused(strata):
    with pytest.raises(ValueError, match="there are"):
        share_of_relevant(strata)
