"""InfoSearch: queries with an instruction and its reverse, and three sets of qrels.

Source: the folder that the InfoSearch loader reads: corpus.jsonl, queries.jsonl (`_id`, `text`,
`instruction_og`, `instruction_changed`, `instruction_reversed`, `keywords`, `short_query`) and one
folder of qrels for each instruction; and the files that its list-wise rerankers write: for each
query the documents in their new order. The paper gives each query a dimension and a condition,
which the loader has in its file names: `dimension`, `condition` and `core_id` are read if a record
has them.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite
from typing import NamedTuple

from formats.beir import read_corpus, read_qrels_file
from formats.fields import Fields, parse_each, read_json, read_jsonl
from formats.folders import Folder
from formats.reading import SeenKeys, SeenPairs, reader
from formats.records import (
    ConditionRecord,
    Doc,
    JudgmentRecord,
    NarrativeRecord,
    PairRecord,
    Qrel,
    RunLine,
    Topic,
    fields_to_json,
)
from formats.source import Source
from formats.texts import json_name

RATER = "infosearch-claims"
# The tag of a run: the files have none.
TAG = "infosearch"
QUERIES, CORPUS, ORIGINAL = "queries.jsonl", "corpus.jsonl", "qrels_og"

# Fields of a query that are kept unchanged.
KEPT = ("keywords", "short_query")

# Folder of the other qrels -> side of the narrative that they belong to.
SIDES = {"qrels_changed": "altered", "qrels_reversed": "reversed"}


class _Query(NamedTuple):
    topic: Topic
    pair: PairRecord


@reader("infosearch", "query, document or qrels line")
def read_infosearch(
    folder: Folder,
) -> Iterator[Topic | Doc | Qrel | PairRecord | JudgmentRecord]:
    """Yield queries, documents, qrels, and for each query an instruction pair with the same id.

    qrels_og gives the earlier relevance of documents. The other two are claims of the rater
    "infosearch-claims" under the altered and the reversed narrative.
    """
    names = folder.names()
    if missing := [name for name in (QUERIES, CORPUS) if name not in names]:
        folder.refuse_all(f"no {' and no '.join(missing)} in this folder")
        return
    sides: dict[str, set[str]] = {}
    for query in _read_queries(folder.source(QUERIES)):
        sides[query.topic.query_id] = {narrative.side for narrative in query.pair.narratives}
        yield query.topic
        yield query.pair
    yield from read_corpus(folder.source(CORPUS), SeenKeys())
    for qrels, name in _qrels_files(names):
        source = folder.source(name)
        for line in read_qrels_file(source, SeenPairs()):
            if qrels == ORIGINAL:
                yield line
            elif SIDES[qrels] in sides.get(line.query_id, ()):
                yield _make_claim(line, SIDES[qrels])
            else:
                source.refuse(f"query {line.query_id} has no {SIDES[qrels]} instruction")


def _qrels_files(names: list[str]) -> Iterator[tuple[str, str]]:
    """Yield (folder, name) of each qrels file, those of the original instruction first."""
    for qrels in (ORIGINAL, *SIDES):
        for name in names:
            if name.startswith(f"{qrels}/") and name.endswith(".tsv"):
                yield qrels, name


def _read_queries(source: Source) -> Iterator[_Query]:
    seen = SeenKeys()

    def parse(fields: Fields) -> _Query:
        query = _parse_query(fields)
        if first := seen.first_line(query.topic.query_id, source.line or 0):
            raise ValueError(f"query {query.topic.query_id} was already on line {first}")
        return query

    return parse_each(source, read_jsonl(source), parse)


def _parse_query(fields: Fields) -> _Query:
    query_id = fields.id("_id")
    text = fields.required_text("text")
    dimension, condition = fields.text("dimension"), fields.text("condition")
    conditions_by_side = (
        {"altered": (ConditionRecord(dimension, condition),)} if condition.strip() else {}
    )
    narratives = [NarrativeRecord("original", 1, fields.text("instruction_og"))]
    for side, name in (("altered", "instruction_changed"), ("reversed", "instruction_reversed")):
        if (words := fields.text(name)).strip():
            conditions = conditions_by_side.pop(side, ())
            narratives.append(NarrativeRecord(side, 1, words, conditions=conditions))
    if conditions_by_side:
        raise ValueError("condition is given, but there is no instruction_changed that sets it")
    pair = PairRecord(
        query_id,
        query_id,
        text,
        category=dimension,
        origin="llm",
        narratives=tuple(narratives),
        core=fields.optional_id("core_id") or "",
        source_fields=fields_to_json({name: fields.value(name) for name in KEPT}),
    )
    return _Query(Topic(query_id, text), pair)


def _make_claim(line: Qrel, side: str) -> JudgmentRecord:
    return JudgmentRecord(
        query_id=line.query_id,
        doc_id=line.doc_id,
        annotator=RATER,
        relevance=line.relevance,
        side=side,
        pair_id=line.query_id,
        version=1,
        machine=True,
    )


@reader("infosearch-results", "ranked document")
def read_results(source: Source) -> Iterator[RunLine]:
    """Yield the list-wise results of one mode: a query (`qid`) and its candidates, best first.

    The order of the list is the ranking. Scores are kept if they give the same order. If they do
    not (a reranker may leave the scores of the first stage), the score is the rank counted from the
    end of the list.
    """
    seen = SeenKeys()

    def parse(fields: Fields) -> tuple[str, list[tuple[str, float | None]], bool]:
        query_id, ranking = _parse_ranking(fields)
        if seen.is_repeated(query_id):
            raise ValueError(f"query {query_id} occurs twice")
        ordered = _scores_give_order(ranking)
        if not ordered and any(score is not None for _, score in ranking):
            source.leave_out("candidates.score")
        return query_id, ranking, ordered

    for query_id, ranking, ordered in parse_each(source, read_json(source), parse):
        for rank, (doc_id, score) in enumerate(ranking, 1):
            score_from_rank = float(len(ranking) - rank + 1)
            yield RunLine(
                query_id,
                doc_id,
                rank,
                score if ordered and score is not None else score_from_rank,
                TAG,
            )


def _parse_ranking(fields: Fields) -> tuple[str, list[tuple[str, float | None]]]:
    """Return the id of the query, and the id and score of each candidate."""
    query_id = fields.part("query").id("qid")
    ranking: dict[str, float | None] = {}
    for entry in fields.each("candidates"):
        doc_id = entry.id("docid")
        if doc_id in ranking:
            raise ValueError(f"document {doc_id} occurs twice among the candidates")
        if "judgment" in entry.values:
            raise ValueError("the candidates have judgments, so this is not a ranking")
        ranking[doc_id] = _parse_score(entry.value("score"))
    if not ranking:
        raise ValueError("candidates is empty: a query has at least one")
    return query_id, list(ranking.items())


def _parse_score(value: object) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"score must be a number, not {json_name(value)}")
    try:
        score = float(value)
    except OverflowError:
        score = float("inf")
    if not isfinite(score):
        raise ValueError("score is a number that is too large")
    return score


def _scores_give_order(ranking: list[tuple[str, float | None]]) -> bool:
    """Return whether the scores, with ties by descending document id, give the list's order."""
    keys = [(score, doc_id) for doc_id, score in ranking if score is not None]
    return len(keys) == len(ranking) and keys == sorted(keys, reverse=True)
