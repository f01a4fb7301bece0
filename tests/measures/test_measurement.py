from __future__ import annotations

import pytest

from measures import Measurement
from measures.measurement import Bootstrap, ratio_of_sums


def made(**parts):
    return Measurement(**{"name": "M", "value": 0.5, "by_query": {"q": 0.5}, "n": 1, **parts})


def test_a_measurement_reads_as_name_value_and_interval():
    assert str(made()) == "M 0.5000 (1 query)"
    nothing = made(value=None, n=0, reason="undefined: no query")
    assert str(nothing) == "M: undefined: no query (0 queries)"


@pytest.mark.parametrize(
    ("parts", "sentence"),
    [
        ({"value": float("nan")}, "nan is not a value; undefined is None with a reason"),
        ({"value": None}, "a measurement without a value needs a reason"),
    ],
)
def test_nan_and_missing_reasons_are_refused(parts, sentence):
    with pytest.raises(ValueError, match=sentence):
        made(**parts)


def test_the_interval_of_a_mean_is_near_the_normal_one():
    terms = [(float(number % 2), 1.0) for number in range(400)]

    value, estimated = ratio_of_sums(terms, Bootstrap(resamples=2_000))

    assert value == 0.5
    assert estimated.interval is not None
    assert estimated.interval.low == pytest.approx(0.5 - 1.96 * 0.025, abs=0.005)
    assert estimated.interval.high == pytest.approx(0.5 + 1.96 * 0.025, abs=0.005)
    assert (
        estimated.note == "95% expanded percentile bootstrap over queries, 2,000 resamples, seed 0"
    )


def test_ten_thousand_different_queries_have_an_interval():
    terms = [(number / 10_000, 1.0) for number in range(10_000)]

    interval = ratio_of_sums(terms, Bootstrap(kind="bca"))[1].interval

    assert interval is not None
    assert interval.low < 0.49995 < interval.high


def test_one_query_has_no_interval_and_says_why():
    value, estimated = ratio_of_sums([(0.5, 1.0)], Bootstrap())

    assert (value, estimated.interval) == (0.5, None)
    assert estimated.note == "no interval: resampling needs at least two queries"
