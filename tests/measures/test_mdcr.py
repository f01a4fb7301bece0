from __future__ import annotations

from typing import Any

import pytest

import measures

from .rankings import ranked

mdcr: Any = measures.mdcr  # tests also pass arguments that the types forbid

VERDICTS = {
    "a": {"format": True, "length": False, "source": False},
    "b": {"format": True, "length": True, "source": False},
    "c": {"format": True, "length": True, "source": True},
}


def measured(order, **options):
    return mdcr(
        run={"q": ranked(order)},
        verdicts={"q": VERDICTS},
        dimensions={"q": ["format", "length", "source"]},
        **options,
    )


@pytest.mark.parametrize(
    ("k", "strict", "soft"), [(1, 0, 1 / 3), (2, 0, 2 / 3), (3, 1, 1), (10, 1, 1)]
)
def test_the_best_of_the_first_k_documents_counts(k, strict, soft):
    assert measured("abc", k=k, kind="strict").value == strict
    assert measured("abc", k=k, kind="soft").value == pytest.approx(soft)


def test_documents_that_satisfy_one_dimension_each_do_not_add_up():
    run, dimensions = {"q": ranked("ab")}, {"q": ["x", "y"]}
    verdicts = {"q": {"a": {"x": True, "y": False}, "b": {"x": False, "y": True}}}

    assert mdcr(run=run, verdicts=verdicts, dimensions=dimensions).value == 0
    assert mdcr(run=run, verdicts=verdicts, dimensions=dimensions, kind="soft").value == 0.5


def test_only_dimensions_that_a_query_asks_for_count():
    result = mdcr(
        run={"q": ranked("b"), "r": ranked("a")},
        verdicts={"q": VERDICTS, "r": VERDICTS},
        dimensions={"q": ["format", "length"], "r": []},
    )

    assert result.by_query == {"q": 1}


def test_a_document_without_verdict_is_not_satisfied_or_left_out():
    assert measured("xc", k=1).value == 0
    assert measured("xc", k=1).warnings == (
        "1 of the first 1 documents, in 1 query (q), lack a verdict; it counts as not satisfied",
    )
    assert measured("xc", k=1, unjudged="left_out").by_query == {"q": None}
    assert measured("xc", k=2, unjudged="left_out").value == 1


def test_scores_need_a_threshold():
    arguments = {
        "run": {"q": ranked("a")},
        "verdicts": {"q": {"a": {"x": 0.7}}},
        "dimensions": {"q": ["x"]},
    }

    assert mdcr(**arguments, threshold=0.7).value == 1
    assert mdcr(**arguments, threshold=0.8).value == 0
    with pytest.raises(
        ValueError, match=r"the verdict on x of document a in query q is 0\.7; give"
    ):
        mdcr(**arguments)


def test_k_below_1_is_refused():
    with pytest.raises(ValueError, match="k is 0; give 1 or more"):
        measured("abc", k=0)
