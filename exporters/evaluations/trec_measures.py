"""Measures that ir_measures computes: of trec_eval, RBP, and the share that is judged."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from exporters.exports.labels import Grades, ir_evaluator

if TYPE_CHECKING:
    from measures import Scores

# Computed unless the option ir.measures names others.
IR = ("nDCG@10", "AP", "RR", "P@10", "R@100", "Bpref", "RBP")
JUDGED = "Judged@10"
# RBP of documents that are left out at the end of a ranking is below this.
_NEGLIGIBLE = 1e-12
# cwl-eval reads no more of a ranking.
_MOST_READ = 1_000


class IrMeasures:
    """Measures on one set of qrels, prepared once for the runs of all systems.

    Of Judged and RBP the first documents of a ranking decide. ir_measures is given these alone, as
    it would sort whole rankings; equal scores stand by document id, descending.
    """

    def __init__(self, names: Sequence[str], qrels: Mapping[str, Grades], relevant: int) -> None:
        by_depth: dict[int | None, list[str]] = {}
        for name in names:
            by_depth.setdefault(_depth(name), []).append(name)
        self._evaluators = [
            (depth, ir_evaluator(its, qrels, relevant)) for depth, its in by_depth.items()
        ]

    def values(self, scores: Scores) -> dict[str, dict[str, float]]:
        """Values by measure and topic; a topic of the qrels that the run lacks has 0."""
        found: dict[str, dict[str, float]] = {}
        for depth, evaluator in self._evaluators:
            run: dict[str, dict[str, float]] = {}
            for topic in scores:
                its = scores.documents(topic)
                if depth is not None:
                    first = sorted(scores.first(topic, depth).items(), reverse=True)
                    run[topic] = dict(first)
                else:
                    # The code of trec_eval takes nothing but dict.
                    run[topic] = its if type(its) is dict else dict(its)
            found |= evaluator(run)
        return found


def is_quick(name: str) -> bool:
    """Whether a measure is one of trec_eval: the others take many times as long."""
    return not name.startswith(("RBP", "Judged"))


def _depth(name: str) -> int | None:
    """How many documents of a ranking decide a measure; None: all of them."""
    import ir_measures

    measure = ir_measures.parse_measure(name)
    if measure.NAME == "Judged":
        cutoff = measure.params.get("cutoff")
        return None if cutoff is None else int(cutoff)
    if measure.NAME == "RBP":
        p = float(measure.params.get("p", 0.8))
        return min(_MOST_READ, math.ceil(math.log(_NEGLIGIBLE) / math.log(p)))
    return None
