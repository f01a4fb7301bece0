from __future__ import annotations

import pytest

from .published import DIAGNOSES, PUBLISHED, Published


@pytest.mark.parametrize("example", PUBLISHED, ids=lambda e: f"{e.source}, {e.what}")
def test_published_value_is_reproduced_to_the_digits_printed(example: Published):
    digits = len(example.printed.partition(".")[2])

    value = example.compute().value

    assert value is not None
    assert f"{value:.{digits}f}" == example.printed


def test_table_of_fleiss_has_his_column_totals():
    # Printed below Table 1 of Fleiss (1971) as shares of 180: .144 .144 .167 .306 .239
    totals = [sum(patient.count(d) for patient in DIAGNOSES) for d in (1, 2, 3, 4, 5)]

    assert totals == [26, 26, 30, 55, 43]
