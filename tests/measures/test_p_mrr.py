from __future__ import annotations

import random
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import measures
from formats.records import RunLine

from .rankings import ranked

p_mrr: Any = measures.p_mrr  # tests also pass arguments that the types forbid


def measured(original, changed, **options):
    """Return p-MRR of a query in which a and b are relevant before, and only b after."""
    return p_mrr(
        original={"q": ranked(original)},
        changed={"q": ranked(changed)},
        qrels_original={"q": {"a": 1, "b": 1, "c": 0}},
        qrels_changed={"q": {"a": 0, "b": 1, "c": 1}},
        **options,
    )


@pytest.mark.parametrize(
    ("original", "changed", "value"),
    [
        ("abcd", "bcda", 1 - 1 / 4),
        ("bcda", "abcd", 1 / 4 - 1),
        ("abcd", "adcb", 0.0),
        ("bacd", "bcad", 1 - 2 / 3),
    ],
)
def test_p_mrr_is_one_minus_the_ratio_of_the_two_ranks(original, changed, value):
    assert measured(original, changed).value == pytest.approx(value, abs=1e-12)


def test_all_changed_documents_count_if_requested():
    # a falls from 1 to 3: 2/3. c, which becomes relevant, rises from 3 to 1: 1/3 - 1 = -2/3.
    assert measured("abc", "cba").value == pytest.approx(2 / 3)
    assert measured("abc", "cba", documents="changed").value == pytest.approx(0)


@pytest.mark.parametrize(
    "documents", [{"b"}, {("q", "b")}, {"q": ["b"]}, {"q": {"b"}, "r": set()}, ["b", "unknown"]]
)
def test_the_documents_can_be_given(documents):
    assert measured("abc", "acb", documents=documents).value == pytest.approx(1 - 2 / 3)


def test_a_missing_document_ranks_after_the_last_or_is_left_out():
    after_last = measured("abc", "bc")
    left_out = measured("abc", "bc", missing="left_out")

    assert after_last.value == pytest.approx(1 - 1 / 3)
    assert after_last.warnings == ("the changed run lacks 1 document (a), ranked after the last",)
    assert (left_out.value, left_out.by_query, left_out.n) == (None, {"q": None}, 0)
    assert left_out.reason == "undefined: no query with a changed document is in both runs"


def test_a_document_lacking_in_one_or_both_runs_has_the_rank_after_the_last_of_each():
    """By hand, and by `calculate_pmrr` of mteb 2.26.24: (2/3 + 1/4 - 1/4) / 3 = 2/9."""
    runs = {
        "original": {"1": ranked("abc"), "2": ranked("bc"), "3": ranked("bcd")},
        "changed": {"1": ranked("bc"), "2": ranked("bcda"), "3": ranked("bc")},
    }
    qrels = {
        "qrels_original": {query: {"a": 1} for query in "123"},
        "qrels_changed": {query: {"a": 0} for query in "123"},
    }

    result = p_mrr(**runs, **qrels)

    assert result.by_query == pytest.approx({"1": 1 - 1 / 3, "2": 1 - 3 / 4, "3": 3 / 4 - 1})
    assert result.value == pytest.approx(2 / 9)
    assert p_mrr(**runs, **qrels, missing="left_out").value is None


def test_ties_are_broken_by_descending_id_or_by_the_file():
    tied = {"a": 1.0, "b": 1.0, "c": 1.0}
    runs = {"original": {"q": tied}, "changed": {"q": ranked("abc")}}
    qrels = {"qrels_original": {"q": {"a": 1}}, "qrels_changed": {"q": {"a": 0}}}

    by_id = p_mrr(**runs, **qrels)

    assert by_id.value == pytest.approx(1 / 3 - 1)
    assert by_id.warnings == (
        "all scores are equal in 1 query of the original run (q); their order is descending id",
    )
    assert p_mrr(**runs, **qrels, ties="file").value == 0


def test_a_document_judged_on_one_side_only_is_not_relevant_there_or_left_out():
    runs = {"original": {"q": ranked("ab")}, "changed": {"q": ranked("ba")}}
    qrels = {"qrels_original": {"q": {"a": 1, "b": 1}}, "qrels_changed": {"q": {"b": 1}}}

    result = p_mrr(**runs, **qrels)

    assert result.value == 0.5
    assert result.warnings == ("1 document is judged on one side only: not relevant there",)
    assert p_mrr(**runs, **qrels, unjudged="left_out").reason == "undefined: no document changed"


def test_a_query_that_a_run_lacks_is_left_out_with_a_warning_or_refused():
    qrels = {"qrels_original": {"Q1": {"a": 1}, "q2": {"a": 1}}}
    qrels["qrels_changed"] = {"Q1": {"a": 0}, "q2": {"a": 0}}
    runs = {
        "original": {"Q1": ranked("ab"), "q2": ranked("ab")},
        "changed": {"q1": ranked("ab"), "q2": ranked("ba")},
    }

    result = p_mrr(**runs, **qrels)

    assert (result.value, result.n) == (0.5, 1)
    assert result.by_query == {"Q1": None, "q2": 0.5}
    assert result.warnings == (
        "the changed run lacks 1 query (Q1); 1 of them differ from an id of the run only by case",
        "the changed run has 1 query that the measure does not use (q1)",
        "computed on 1 of 2 queries",
    )
    with pytest.raises(ValueError, match=r"the changed run lacks 1 query \(Q1\); add their lines"):
        p_mrr(**runs, **qrels, missing_query="refused")


def test_queries_without_changed_documents_and_queries_of_one_side_do_not_count():
    runs = {side: {q: ranked("ab") for q in "qrs"} for side in ("original", "changed")}
    result = p_mrr(
        **runs,
        qrels_original={"q": {"a": 1}, "r": {"a": 1}, "s": {"a": 1}},
        qrels_changed={"q": {"a": 0}, "r": {"a": 1}},
    )

    assert result.by_query == {"q": 0}
    assert "only the original qrels have 1 query (s): left out" in result.warnings


def test_lines_of_a_run_give_the_same_as_a_mapping():
    lines = [RunLine("q", document, None, score, "t") for document, score in ranked("bca").items()]
    twice = [*lines, RunLine("q", "a", None, 9.0, "t")]

    def value(changed):
        return p_mrr(
            original={"q": ranked("abc")},
            changed=changed,
            qrels_original={"q": {"a": 1}},
            qrels_changed={"q": {"a": 0}},
        )

    assert value(lines).value == value({"q": ranked("bca")}).value == pytest.approx(2 / 3)
    assert value(twice).value == 0
    assert value(twice).warnings == (
        "1 lines of the changed run repeat a document of their query; the higher score counts",
    )


@pytest.mark.parametrize("score", [float("nan"), float("inf"), float("-inf")])
def test_a_score_that_is_not_finite_is_refused(score):
    sentence = f"document b of query q in the original run has the score {score}"
    with pytest.raises(ValueError, match=sentence):
        p_mrr(
            original={"q": {"a": 1.0, "b": score}},
            changed={"q": {}},
            qrels_original={},
            qrels_changed={},
        )


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"documents": "all"}, "documents is 'newly_irrelevant' or 'changed', not 'all'"),
        ({"ties": "random"}, "ties is 'id_descending' or 'file', not 'random'"),
        ({"interval": "exact"}, "interval is 'bootstrap' or 'bca' or None, not 'exact'"),
        ({"resamples": 5}, "5 resamples are too few for a 95% interval; take 100 or more"),
    ],
)
def test_unknown_options_are_refused(options, sentence):
    with pytest.raises(ValueError, match=sentence):
        measured("abc", "cba", **options)


def made_up_qrels(seed=24):
    """Return 24 queries of 30 documents with ties, two list lengths and grades from 0 to 2."""
    rng = random.Random(seed)
    original, changed, before, after = {}, {}, {}, {}
    for number in range(24):
        query, documents = f"q{number:02}", [f"d{n:02}" for n in range(30)]
        original[query] = {d: rng.randint(0, 20) / 4 for d in rng.sample(documents, 25)}
        changed[query] = {d: rng.randint(0, 20) / 4 for d in rng.sample(documents, 20)}
        before[query] = {d: rng.choice([0, 0, 1, 2]) for d in documents}
        after[query] = {d: rng.choice([0, before[query][d]]) for d in documents}
    return original, changed, before, after


def by_plain_loop(original, changed, before, after, is_counted):
    """Return p-MRR with reciprocal ranks, written out from the formula."""
    of_queries = []
    for query in sorted(before):
        scores = []
        for document in before[query]:
            if not is_counted(before[query][document], after[query][document]):
                continue
            reciprocal = []
            for run in (original, changed):
                order = sorted(run[query], key=lambda d: (run[query][d], d))[::-1]
                rank = order.index(document) + 1 if document in order else len(order) + 1
                reciprocal.append(1 / rank)
            old, new = reciprocal
            scores.append(old / new - 1 if old < new else 1 - new / old)
        if scores:
            of_queries.append(sum(scores) / len(scores))
    return sum(of_queries) / len(of_queries)


@pytest.mark.parametrize(
    ("documents", "is_counted"),
    [
        ("newly_irrelevant", lambda old, new: old >= 1 and new == 0),
        ("changed", lambda old, new: old != new),
    ],
)
def test_24_queries_give_what_a_plain_loop_over_the_formula_gives(documents, is_counted):
    original, changed, before, after = made_up_qrels()

    result = p_mrr(
        original=original,
        changed=changed,
        qrels_original=before,
        qrels_changed=after,
        documents=documents,
    )

    expected = by_plain_loop(original, changed, before, after, is_counted)
    assert result.value == pytest.approx(expected, abs=1e-12)
    assert result.n == 24
    assert result.interval.low < result.value < result.interval.high


def test_the_best_ranking_has_the_documents_last_and_the_worst_has_them_first():
    values = {"".join(p): measured("abcd", "".join(p)).value for p in permutations("abcd")}
    risen = {"".join(p): measured("bcda", "".join(p)).value for p in permutations("abcd")}

    assert max(values.values()) == values["bcda"]
    assert min(risen.values()) == risen["abcd"]
    assert all(-1 <= value <= 1 for value in (*values.values(), *risen.values()))


@given(st.permutations("abcdef"))
def test_a_run_that_ignores_the_change_gets_0(order):
    assert measured(order, order, interval=None).value == 0


@settings(max_examples=15)
@given(st.permutations(range(24)))
def test_the_order_of_queries_changes_nothing(order):
    original, changed, before, after = made_up_qrels()
    queries = [f"q{number:02}" for number in order]

    def of(queries):
        return p_mrr(
            original={q: original[q] for q in queries},
            changed={q: changed[q] for q in queries},
            qrels_original={q: before[q] for q in queries},
            qrels_changed=after,
            resamples=100,
        )

    assert (of(queries).value, of(queries).interval) == (
        of(sorted(queries)).value,
        of(sorted(queries)).interval,
    )


@settings(max_examples=15)
@given(st.floats(0.01, 100), st.floats(-100, 100))
def test_scaling_scores_changes_nothing(factor, shift):
    original, changed, before, after = made_up_qrels()
    scaled = {
        q: {d: round(s * factor + shift, 9) for d, s in its.items()} for q, its in changed.items()
    }

    def of(changed):
        return p_mrr(
            original=original,
            changed=changed,
            qrels_original=before,
            qrels_changed=after,
            interval=None,
        )

    assert of(scaled).by_query == of(changed).by_query
