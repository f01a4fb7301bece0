"""Measure the oracle on the grades that a tool read: nDCG@10 before and after, and p-MRR."""

from __future__ import annotations

from exporters.exports.labels import ir_evaluator
from exporters.exports.oracles import Topics, rankings
from exporters.exports.proof.content import Qrels

NDCG = "nDCG@10"


def measure_oracle(qrels: Qrels, relevant: int) -> dict[str, float | None]:
    """Return the measures of the system that ranks by the changed qrels, over all pairs."""
    from measures import p_mrr

    if not qrels.get("original") or not qrels.get("changed"):
        return {}
    sides = {side: {pair: dict(its) for pair, its in qrels[side].items()} for side in qrels}
    runs = rankings(Topics(sides))["oracle"]
    found: dict[str, float | None] = {}
    for side in ("original", "changed"):
        by_pair = ir_evaluator([NDCG], sides[side], relevant)(runs[side])[NDCG]
        found[f"{NDCG} {side}"] = sum(by_pair.values()) / len(by_pair) if by_pair else None
    found["p-MRR"] = p_mrr(
        original=runs["original"],
        changed=runs["changed"],
        qrels_original=sides["original"],
        qrels_changed=sides["changed"],
        documents="changed",
        unjudged="left_out",
        relevant=relevant,
        interval=None,
    ).value
    return found
