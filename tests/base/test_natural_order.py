"""Names with numbers are sorted by the numbers."""

from __future__ import annotations

from base.texts import natural


def test_names_that_differ_by_a_number_are_sorted_by_it():
    names = ["10 conditions", "2 conditions", "1 conditions"]

    assert sorted(names, key=natural) == ["1 conditions", "2 conditions", "10 conditions"]


def test_names_without_numbers_are_sorted_as_text():
    assert sorted(["S1", "C2", "", "C1"], key=natural) == ["", "C1", "C2", "S1"]
