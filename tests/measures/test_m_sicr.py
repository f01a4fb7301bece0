from __future__ import annotations

from typing import Any

import pytest

import measures

from .rankings import three_modes

m_sicr: Any = measures.m_sicr  # tests also pass arguments that the types forbid
sicr: Any = measures.sicr


@pytest.mark.parametrize(
    ("original", "instructed", "reverse", "value"),
    [(5, 1, 9, 1), (5, 5, 5, 0), (5, 9, 1, 0), (5, 1, 5, 0), (1, 1, 5, 0)],
)
def test_m_sicr_needs_the_rise_and_the_fall(original, instructed, reverse, value):
    result = m_sicr(**three_modes(original, instructed, reverse), gold={"q": "g"})

    assert (result.name, result.value) == ("mSICR", value)


def test_m_sicr_is_sicr_of_the_document_that_satisfies_all_conditions():
    runs = {**three_modes(1, 1, 5), "gold": {"q": ["g", "d01"]}}

    for options in ({}, {"variant": "code"}, {"several": "any"}):
        assert m_sicr(**runs, **options).by_query == sicr(**runs, **options).by_query
