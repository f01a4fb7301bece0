"""The list-wise results of InfoSearch's rerankers are runs."""

from __future__ import annotations

import json

import pytest

from formats.problems import FormatError
from formats.records import RunLine
from formats.registry import lookup
from tests.formats.files import open_content, read, refusal


def ranking(qid: str, *candidates: tuple[str, object]) -> dict[str, object]:
    return {
        "query": {"text": "harbours", "qid": qid},
        "candidates": [
            {"docid": docid, "score": score, "doc": {"content": "words"}}
            for docid, score in candidates
        ],
    }


def lines(*rankings: dict[str, object]) -> list[RunLine]:
    return read("infosearch-results", json.dumps(rankings, indent=1))


def test_candidates_are_ranked_in_the_order_of_the_list():
    assert lines(ranking("0", ("a", 0.9), ("b", 0.5)), ranking("1", ("a", 2))) == [
        RunLine("0", "a", 1, 0.9, "infosearch"),
        RunLine("0", "b", 2, 0.5, "infosearch"),
        RunLine("1", "a", 1, 2.0, "infosearch"),
    ]


@pytest.mark.parametrize(
    "scores", [(0.5, 0.9, 0.7), (0.9, 0.9, 0.9), (None, None, None), (0.9, None, 0.7)]
)
def test_the_score_comes_from_the_rank_if_scores_give_another_order(scores):
    # By score, with ties by descending id, a would not come first.
    found = lines(ranking("0", *zip("abc", scores, strict=True)))

    assert [(line.doc_id, line.score) for line in found] == [("a", 3.0), ("b", 2.0), ("c", 1.0)]


def test_scores_that_are_not_kept_are_reported():
    text = json.dumps([ranking("0", ("a", 0.5), ("b", 0.9))])
    source = open_content("infosearch-results", text)

    assert len(list(lookup("infosearch-results").read(source))) == 2
    [sentence] = source.left_out.sentences()
    assert sentence == (
        "the fields “candidates.score”, “query.text” and “candidates.doc” of 1 record "
        "(line 1) are not kept"
    )


def test_one_object_per_line_is_also_read():
    text = "".join(json.dumps(ranking(str(qid), ("a", 1))) + "\n" for qid in range(2))

    assert [line.query_id for line in read("infosearch-results", text)] == ["0", "1"]


@pytest.mark.parametrize(
    ("entry", "sentence"),
    [
        (ranking("0", ("a", 1), ("a", 2)), "document a occurs twice among the candidates"),
        (ranking("0"), "candidates is empty: a query has at least one"),
        (ranking("a b", ("a", 1)), "qid 'a b' contains white space"),
        ({"candidates": []}, "qid is missing"),
        ({"query": "0", "candidates": []}, "qid is missing"),
        (ranking("0", ("a", "high")), "score must be a number, not text"),
        (ranking("0", ("a", 10**400)), "score is a number that is too large"),
        ([], "an entry must be a JSON object, not a list"),
    ],
)
def test_a_bad_ranking_is_refused_with_its_line(entry, sentence):
    error = refusal("infosearch-results", "[\n" + json.dumps(entry) + "\n]")

    assert (error.line, error.message) == (2, sentence)


def test_a_query_that_is_ranked_twice_is_refused():
    with pytest.raises(FormatError, match="query 0 occurs twice"):
        lines(ranking("0", ("a", 1)), ranking("0", ("b", 1)))


def test_the_format_is_recognised():
    candidates = [{"docid": "a", "score": 1.0}]
    text = json.dumps([{"query": {"qid": "0"}, "candidates": candidates}])

    assert refusal("trec-run", text).message.endswith(
        "; the file looks like infosearch-results: load it as infosearch-results"
    )
