from __future__ import annotations

from math import inf, nan
from typing import Any

import pytest

from agreement import Coefficient, Excluded, Interval, cohen_kappa, fleiss_kappa


def made(**changes: Any) -> Coefficient:
    plain: dict[str, Any] = {
        "name": "Fleiss' kappa",
        "method": "equal numbers of raters per unit",
        "value": 0.43,
        "note": "",
        "interval": None,
        "interval_note": "",
        "units": 30,
        "excluded": (),
        "raters": 6,
        "pairs": 15,
        "categories": (0, 1),
    }
    return Coefficient(**(plain | changes))


@pytest.mark.parametrize("value", [nan, inf, -inf])
def test_a_value_is_finite(value: float):
    with pytest.raises(ValueError, match="undefined is None with a reason"):
        made(value=value)


def test_no_value_needs_a_reason():
    with pytest.raises(ValueError, match="needs a reason"):
        made(value=None)


def test_no_value_has_no_interval():
    with pytest.raises(ValueError, match="has no interval"):
        made(value=None, note="undefined: only one rater judged", interval=Interval(0.1, 0.2))


def test_a_coefficient_is_printed_on_one_line():
    assert str(made()) == "Fleiss' kappa 0.430 (30 units, 6 raters)"


def test_a_coefficient_is_printed_with_its_interval():
    line = str(made(interval=Interval(0.1, 0.6789)))

    assert line == "Fleiss' kappa 0.430 [0.100, 0.679] (30 units, 6 raters)"


def test_an_undefined_coefficient_is_printed_with_its_reason():
    line = str(made(value=None, note="undefined: only one category was used"))

    assert line == "Fleiss' kappa: undefined: only one category was used (30 units, 6 raters)"


def test_a_coefficient_describes_its_data():
    ratings = [[0, 1, nan], [1, 1, nan], [0, nan, nan], [nan, nan, nan], [nan, nan, nan]]

    result = cohen_kappa(ratings, categories=[0, 1, 2])

    assert result.units == 2
    assert result.excluded == (
        Excluded("judged by one rater only", 1),
        Excluded("judged by nobody", 2),
    )
    assert result.raters == 2
    assert result.pairs == 1
    assert result.categories == (0, 1, 2)
    assert result.method == "unweighted"


def test_a_rater_who_shares_no_unit_is_not_counted():
    result = fleiss_kappa([[0, 1, nan], [1, 1, nan], [nan, nan, 1]], categories=[0, 1])

    assert result.raters == 2
    assert result.excluded == (Excluded("judged by one rater only", 1),)


def test_categories_are_plain_python_values():
    import numpy as np

    result = cohen_kappa([[0, 1], [1, 1]], categories=np.arange(2))

    assert [type(category) for category in result.categories] == [int, int]
