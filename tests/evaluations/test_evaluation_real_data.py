"""CSFCube with two real runs: nDCG before and after equals that of ir_measures on the files."""

from __future__ import annotations

import ir_measures
import pytest

from exporters.evaluations.options import read_options
from exporters.evaluations.system_measures import (
    Collection,
    PreparedCollection,
    RankedSystem,
    evaluate,
)
from formats.source import open_source
from formats.trec_qrels import read_qrels
from formats.trec_run import read_run


def test_ndcg_before_and_after_on_csfcube_is_that_of_ir_measures(shared_data):
    folder = shared_data / "text" / "csfcube" / "converted"
    qrels = {side: folder / f"qrels.{name}.txt" for side, name in SIDES.items()}
    runs = {
        side: shared_data / "runs" / "csfcube_bm25" / f"{name}.run" for side, name in RUNS.items()
    }
    collection = Collection(grades(qrels["original"]), grades(qrels["changed"]), {}, {}, 1, 737)
    system = RankedSystem("bm25", {side: scores(path) for side, path in runs.items()})

    [found] = evaluate(PreparedCollection(collection, read_options({})), [system], "")["systems"]

    measure = ir_measures.parse_measure("nDCG@10")
    for when, side in (("before", "original"), ("after", "changed")):
        alone = ir_measures.calc_aggregate(
            [measure],
            ir_measures.read_trec_qrels(str(qrels[side])),
            ir_measures.read_trec_run(str(runs[side])),
        )[measure]
        assert found["values"][f"nDCG@10 {when}"]["value"] == pytest.approx(alone, abs=1e-12)
        assert found["values"][f"nDCG@10 {when}"]["n"] == 12


SIDES = {"original": "og", "changed": "changed"}
RUNS = {"original": "ori", "changed": "ins"}


def grades(path):
    found: dict[str, dict[str, int]] = {}
    with open_source(path) as source:
        for line in read_qrels(source):
            found.setdefault(line.query_id, {})[line.doc_id] = line.relevance
    return found


def scores(path):
    found: dict[str, dict[str, float]] = {}
    with open_source(path) as source:
        for line in read_run(source):
            found.setdefault(line.query_id, {})[line.doc_id] = line.score
    return found
