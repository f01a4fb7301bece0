"""Measures that ir_measures computes: those of trec_eval, RBP and Judged."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import ir_measures

from exporters.exports.selection.labels import Grades, ir_evaluator
from measures import Scores

# The default measures; the option ir.measures replaces them.
IR = ("nDCG@10", "AP", "RR", "P@10", "R@100", "Bpref", "RBP")
JUDGED = "Judged@10"
# The end of a ranking that is left out contributes less than this to RBP.
_NEGLIGIBLE = 1e-12
# cwl-eval reads this many documents of a ranking.
_MOST_READ = 1_000


class IrMeasures:
    """Measures on one set of qrels, prepared once for the runs of all systems.

    The code of trec_eval orders equal scores by document id, descending; the other measures of
    ir_measures have several orders. They get ranks instead of scores, in the order of trec_eval.
    Judged and RBP get only the first documents of a ranking, because nothing else counts.
    """

    def __init__(self, names: Sequence[str], qrels: Mapping[str, Grades], relevant: int) -> None:
        by_input: dict[tuple[bool, int | None], list[str]] = {}
        for name in names:
            by_input.setdefault((_is_of_trec_eval(name), _depth(name)), []).append(name)
        self._evaluators = [
            (*its_input, ir_evaluator(its, qrels, relevant)) for its_input, its in by_input.items()
        ]

    def values(self, scores: Scores) -> dict[str, dict[str, float]]:
        """Return values by measure and topic; 0 for a topic of the qrels that the run lacks."""
        by_measure: dict[str, dict[str, float]] = {}
        for of_trec_eval, depth, evaluator in self._evaluators:
            run: dict[str, dict[str, float]] = {}
            for topic in scores:
                its = scores.documents(topic)
                if of_trec_eval:
                    # The code of trec_eval accepts only dict.
                    run[topic] = its if type(its) is dict else dict(its)
                else:
                    first = its if depth is None else scores.first(topic, depth)
                    ranking = sorted(
                        first, key=lambda document: (first[document], document), reverse=True
                    )
                    run[topic] = {
                        document: -float(rank) for rank, document in enumerate(ranking, start=1)
                    }
            by_measure |= evaluator(run)
        return by_measure


def is_quick(name: str) -> bool:
    """Return whether a measure is one of trec_eval; the others take many times as long."""
    return not name.startswith(("RBP", "Judged"))


def _is_of_trec_eval(name: str) -> bool:
    return bool(ir_measures.pytrec_eval.supports(ir_measures.parse_measure(name)))


def _depth(name: str) -> int | None:
    """Return how many documents of a ranking a measure depends on; None for all of them."""
    measure = ir_measures.parse_measure(name)
    if measure.NAME == "Judged":
        cutoff = measure.params.get("cutoff")
        return None if cutoff is None else int(cutoff)
    if measure.NAME == "RBP":
        p = float(measure.params.get("p", 0.8))
        return min(_MOST_READ, math.ceil(math.log(_NEGLIGIBLE) / math.log(p)))
    return None
