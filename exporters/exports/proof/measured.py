"""Measure the oracle on the grades that a tool read, by the same rules as `oracles` in a release.

p-MRR counts the documents that lost relevance. mteb counts every document whose grade changed, so
its figure has a name of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from exporters.exports.proof.content import Qrels
from exporters.exports.proof.oracles import Topics, measure, rankings
from formats.records import Qrel

MEASURES = ("p-MRR", "nDCG@10 before", "nDCG@10 after")
OF_MTEB = "p-MRR of mteb"


def measure_oracle(
    qrels: Qrels, relevant: int, *, as_mteb: bool = False
) -> dict[str, float | None]:
    """Return the values of the system that ranks by the changed qrels, as a release has them.

    `relevant`: the lowest relevant grade; `as_mteb`: also the p-MRR that mteb computes.
    """
    if not qrels.get("original") or not qrels.get("changed"):
        return {}
    found = measure({side: _lines(grades) for side, grades in qrels.items()}, relevant, "")
    by_measure = {facts["measure"]: facts["oracle"] for facts in found.measures}
    values = {measure: by_measure.get(measure) for measure in MEASURES}
    return values | {OF_MTEB: _p_mrr_of_mteb(qrels)} if as_mteb else values


def _lines(grades: Mapping[str, Mapping[str, int]]) -> Iterator[Qrel]:
    for pair in sorted(grades):
        for doc_id, relevance in grades[pair].items():
            yield Qrel(pair, doc_id, relevance)


def _p_mrr_of_mteb(qrels: Qrels) -> float | None:
    from measures import p_mrr

    sides = {side: {pair: dict(its) for pair, its in qrels[side].items()} for side in qrels}
    oracle = rankings(Topics(sides))["oracle"]
    return p_mrr(
        original=oracle["original"],
        changed=oracle["changed"],
        qrels_original=sides["original"],
        qrels_changed=sides["changed"],
        documents="changed",
        unjudged="left_out",
        interval=None,
    ).value
