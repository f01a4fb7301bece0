"""Labels as measures take them: which documents comply, violate or are followed, and trec_eval."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

Grades = dict[str, int]


def compliance(
    original: Mapping[str, Grades], labels: Mapping[str, Grades], relevant: int
) -> tuple[dict[str, set[str]], dict[str, set[str]]]:
    """Documents that comply with the instruction and documents that violate it, by topic.

    Topics with neither are left out.
    """
    comply: dict[str, set[str]] = {}
    violate: dict[str, set[str]] = {}
    for topic, grades in labels.items():
        before = original.get(topic, {})
        good = {document for document, grade in grades.items() if grade >= relevant}
        bad = {d for d in grades if before.get(d, 0) >= relevant} - good
        if good or bad:
            comply[topic], violate[topic] = good, bad
    return comply, violate


def gold_documents(
    changed: Mapping[str, Grades], reverse: Mapping[str, Grades], relevant: int
) -> dict[str, tuple[str, ...]]:
    """Documents that WISE and SICR follow: relevant after the change, judged not relevant under the
    reversed narrative.
    """
    found = {
        topic: tuple(
            document
            for document, grade in sorted(grades.items())
            if grade >= relevant and reverse.get(topic, {}).get(document, relevant) < relevant
        )
        for topic, grades in changed.items()
    }
    return {topic: documents for topic, documents in found.items() if documents}


def ir_values(
    names: Iterable[str],
    qrels: Mapping[str, Grades],
    runs: Mapping[str, dict[str, dict[str, float]]],
    relevant: int,
) -> dict[str, dict[str, dict[str, float]]]:
    """Compute measures of trec_eval by ir_measures: values by measure, system and topic.

    Every topic of the qrels has a value; one that a run lacks has 0, as in trec_eval -c.
    """
    import ir_measures

    asked = {}
    for name in names:
        measure = ir_measures.parse_measure(name)
        if relevant != 1 and "rel" in measure.SUPPORTED_PARAMS and "rel" not in measure.params:
            measure = measure(rel=relevant)
        asked[measure] = name
    made: dict[str, dict[str, dict[str, float]]] = {name: {} for name in asked.values()}
    evaluator = ir_measures.evaluator(list(asked), dict(qrels)) if qrels else None
    for system, run in runs.items():
        for by_topic in made.values():
            by_topic[system] = {}
        for metric in evaluator.iter_calc(run) if evaluator else ():
            made[asked[metric.measure]][system][metric.query_id] = float(metric.value)
    return made
