"""The field's own tools read the written files."""

from __future__ import annotations

import ir_measures
import pytrec_eval
from ir_measures import P

from formats.source import open_source
from formats.trec_qrels import read_qrels
from formats.trec_topics import read_topics

CHANGED = {"301": {"B": 0, "FT-10": 2, "a": 0, "é": 0}, "302": {"C": 1}}


def test_ir_measures_and_trec_eval_read_the_changed_qrels(tides, write):
    path = write(tides.project).folder / "qrels.changed.txt"

    by_ir_measures: dict[str, dict[str, int]] = {}
    for qrel in ir_measures.read_trec_qrels(str(path)):
        by_ir_measures.setdefault(qrel.query_id, {})[qrel.doc_id] = qrel.relevance
    with path.open(encoding="utf-8") as stream:
        by_trec_eval = pytrec_eval.parse_qrel(stream)

    assert by_ir_measures == CHANGED
    assert by_trec_eval == CHANGED


def test_ir_measures_and_trec_eval_read_the_original_qrels(tides, write):
    path = write(tides.project).folder / "qrels.original.all.txt"

    rows = {(q.query_id, q.doc_id, q.relevance) for q in ir_measures.read_trec_qrels(str(path))}
    with path.open(encoding="utf-8") as stream:
        by_trec_eval = pytrec_eval.parse_qrel(stream)

    assert len(rows) == 9
    assert ("1000", "X", -1) in rows
    assert by_trec_eval["301"] == {"B": 1, "FT-10": 2, "FT-9": 1, "a": 0, "é": 1}


def test_a_run_scores_less_once_documents_have_dropped_out(tides, write):
    files = write(tides.project)
    run = [ir_measures.ScoredDoc("301", doc, score) for doc, score in (("B", 3.0), ("FT-10", 2.0))]

    before, after = (
        ir_measures.calc_aggregate(
            [P @ 2],
            [
                qrel
                for qrel in ir_measures.read_trec_qrels(str(files.folder / name))
                if qrel.query_id == "301"
            ],
            run,
        )[P @ 2]
        for name in ("qrels.original.txt", "qrels.changed.txt")
    )

    assert (before, after) == (1.0, 0.5)


def test_our_own_readers_read_the_same(tides, write):
    folder = write(tides.project).folder

    with open_source(folder / "qrels.changed.txt") as source:
        qrels = {(q.query_id, q.doc_id, q.relevance) for q in read_qrels(source)}
    with open_source(folder / "topics.changed.txt") as source:
        topics = {topic.query_id: topic.narrative for topic in read_topics(source)}

    assert qrels == {(q, d, r) for q, docs in CHANGED.items() for d, r in docs.items()}
    assert topics == {"301": "Only plants at sea, in use.", "302": "Only plants at sea count."}
