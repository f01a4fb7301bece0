from __future__ import annotations

from typing import Any

import pytest

import measures
from measures import Scores

from .rankings import ranked

p_mrr: Any = measures.p_mrr  # tests also pass arguments that the types forbid

QRELS = {"qrels_original": {"q": {"a": 1}}, "qrels_changed": {"q": {"a": 0}}}


@pytest.mark.parametrize(
    ("run", "sentence"),
    [
        (5, "the original run is int; give a mapping or lines"),
        (["q a 1"], "the original run is not a run: give a mapping of query to document to score"),
        ({"q": ["a", "b"]}, "query q of the original run: documents are a mapping of id to score"),
        ({"q": {"a": "high"}}, "query q of the original run has a score that is not a number"),
        ({"q": {"a": "1.0"}}, "query q of the original run has a score that is not a number"),
        ({"q": {"a": None}}, "query q of the original run has a score that is not a number"),
    ],
)
def test_an_invalid_run_is_refused_with_a_sentence(run, sentence):
    with pytest.raises(ValueError, match=sentence):
        p_mrr(original=run, changed={"q": ranked("a")}, **QRELS)


@pytest.mark.parametrize("changed", [{}, {"q": {}}, []])
def test_qrels_of_only_one_side_have_no_value(changed):
    result = p_mrr(original={"q": ranked("ab")}, changed=changed, **QRELS)

    assert (result.value, result.n, result.by_query) == (None, 0, {"q": None})
    assert result.warnings[0] == "the changed run lacks 1 query (q)"


def test_an_empty_changed_set_has_no_value():
    runs = {"original": {"q": ranked("ab")}, "changed": {"q": ranked("ba")}}

    values: list[Any] = ["newly_irrelevant", set(), {}]
    for documents in values:
        result = p_mrr(**runs, qrels_original={}, qrels_changed={}, documents=documents)
        assert result.reason == "undefined: no document changed"
        assert result.interval is None


def test_a_warning_names_document_ids_that_differ_only_by_case():
    runs = {"original": {"q": ranked("Ab")}, "changed": {"q": ranked("ab")}}

    (warning,) = p_mrr(**runs, **QRELS).warnings

    assert warning.startswith("the original run lacks 1 document (a), ranked after the last; ")
    assert warning.endswith("1 of them differ from a ranked id only by case")


def test_long_lists_of_ids_are_shortened():
    many = {f"q{number}": ranked("ab") for number in range(9)}

    result = p_mrr(original=many, changed={"q": ranked("ab")}, **QRELS)

    assert (
        "the original run has 9 queries that the measure does not use "
        "(q0, q1, q2, q3, q4 and 4 more)"
    ) in result.warnings


def test_a_prepared_run_gives_the_same_as_its_lines_and_keeps_its_warnings():
    prepared = Scores({"q": ranked("ab")})
    runs = {"changed": {"q": ranked("ba")}, **QRELS}

    assert p_mrr(original=prepared, **runs) == p_mrr(original={"q": ranked("ab")}, **runs)
