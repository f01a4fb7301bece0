"""Labels in the form that measures take: complying, violating and gold documents, ir_measures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

Grades = dict[str, int]


def compliance(
    original: Mapping[str, Grades], labels: Mapping[str, Grades], relevant: int
) -> tuple[dict[str, set[str]], dict[str, set[str]]]:
    """Return the documents that comply with the instruction and those that violate it, by topic.

    A topic with neither has two empty sets, for which the paper of IRS sets 0.
    """
    comply: dict[str, set[str]] = {}
    violate: dict[str, set[str]] = {}
    for topic, grades in labels.items():
        before = original.get(topic, {})
        good = {document for document, grade in grades.items() if grade >= relevant}
        bad = {d for d in grades if before.get(d, 0) >= relevant} - good
        comply[topic], violate[topic] = good, bad
    return comply, violate


def gold_documents(
    changed: Mapping[str, Grades], reverse: Mapping[str, Grades], relevant: int
) -> dict[str, tuple[str, ...]]:
    """Return the documents that WISE and SICR follow, by topic.

    They are relevant after the change and judged not relevant under the reversed narrative.
    """
    gold = {
        topic: tuple(
            document
            for document, grade in sorted(grades.items())
            if grade >= relevant and reverse.get(topic, {}).get(document, relevant) < relevant
        )
        for topic, grades in changed.items()
    }
    return {topic: documents for topic, documents in gold.items() if documents}


def ir_evaluator(
    names: Iterable[str], qrels: Mapping[str, Grades], relevant: int
) -> Callable[[dict[str, dict[str, float]]], dict[str, dict[str, float]]]:
    """Return a function that measures a run with ir_measures: values by measure and topic.

    Every topic of the qrels has a value; one that a run lacks has 0, as in trec_eval -c. Binary
    measures use the grade `relevant` as threshold, unless their name has another.
    """
    import ir_measures

    asked: dict[ir_measures.Measure, list[str]] = {}
    for name in names:
        measure = ir_measures.parse_measure(name)
        takes_rel = "rel" in measure.SUPPORTED_PARAMS and "rel" not in measure.params
        if takes_rel and (relevant != 1 or measure.NAME == "RBP"):
            measure = measure(rel=relevant)
        asked.setdefault(measure, []).append(name)
    # trec_eval's code breaks at grades below -1, and no measure distinguishes them from -1.
    graded = {
        topic: {document: max(grade, -1) for document, grade in grades.items()}
        for topic, grades in qrels.items()
    }
    evaluator = ir_measures.evaluator(list(asked), graded) if graded else None

    def values(run: dict[str, dict[str, float]]) -> dict[str, dict[str, float]]:
        by_measure: dict[ir_measures.Measure, dict[str, float]] = {measure: {} for measure in asked}
        for metric in evaluator.iter_calc(run) if evaluator else ():
            by_measure[metric.measure][metric.query_id] = float(metric.value)
        # A measure can have several names, as MAP and AP.
        return {name: by_measure[measure] for measure, its in asked.items() for name in its}

    return values
