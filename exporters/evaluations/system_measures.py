"""Measure systems on original and changed qrels: every measure that their runs and labels allow,
values with intervals, and differences.

Works on records and numbers, without the database: `exporters.evaluations.measuring` reads the runs
and saves the results.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any, NamedTuple

import ir_measures

from exporters.evaluations.options import IR, JUDGED, NAMES, name_of
from exporters.exports.selection.labels import Grades, compliance, gold_documents, ir_evaluator
from measures import (
    Measurement,
    Scores,
    clustered,
    compare,
    holm,
    irs,
    m_sicr,
    m_wise,
    mdcr,
    nfr,
    p_mrr,
    robustness,
    sicr,
    wise,
)
from measures.followir import changed_documents, moves_of
from measures.measurement import Bootstrap, IntervalKind, summarise
from measures.runs import count_queries, list_ids
from measures.significance import Test

# The end of a ranking that is left out contributes less than this to RBP.
_NEGLIGIBLE = 1e-12
# cwl-eval reads this many documents of a ranking.
_MOST_READ = 1_000


Qrels = dict[str, Grades]
Scored = Mapping[str, dict[str, float]]
Options = Mapping[str, Mapping[str, Any]]

# How many moves of documents an evaluation stores for each system.
MOST_MOVES = 20_000
# Measures where lower is better.
LOWER = {"nfr"}


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


class Collection(NamedTuple):
    """The labels that systems are measured on, under the ids of pairs.

    Attributes:
        original, changed: Grades before and after the change.
        reverse: Grades under reversed narratives, or empty.
        claimed: Claimed labels, for IRS and NFR, or empty.
        relevant: Lowest grade that is relevant.
        documents: How many documents the collection has.
        cores: The core query of each topic, if topics share one; else empty.
        verdicts: Whether a document meets a condition, by topic, document and condition.
        conditions: The conditions of each topic.
    """

    original: Qrels
    changed: Qrels
    reverse: Qrels
    claimed: Qrels
    relevant: int
    documents: int
    cores: Mapping[str, str] = {}
    verdicts: Mapping[str, Mapping[str, Mapping[str, bool]]] = {}
    conditions: Mapping[str, tuple[str, ...]] = {}


@dataclass(frozen=True)
class RankedSystem:
    """A system with the scores of its runs, by side."""

    name: str
    runs: Mapping[str, Scored]

    def only(self, topics: Container[str]) -> RankedSystem:
        """Return the system with its runs for these topics."""
        return RankedSystem(
            self.name,
            {
                side: {topic: its for topic, its in run.items() if topic in topics}
                for side, run in self.runs.items()
            },
        )

    @cached_property
    def scores(self) -> dict[str, Scores]:
        """Return the runs as `Scores`, which compute every rank once for all measures."""
        return {side: Scores(run, f"{side} run") for side, run in self.runs.items()}


class PreparedCollection:
    """A collection, and data computed once to measure every system on it.

    Args:
        collection: The grades.
        options: As `read_options` returns them.
        queries: The query of each topic, if intervals are over queries.
        values_only: Compute no intervals, and only measures that are quick and depend on the
            changed qrels.
    """

    def __init__(
        self,
        collection: Collection,
        options: Options,
        queries: Mapping[str, str] | None = None,
        *,
        values_only: bool = False,
    ) -> None:
        self.collection = collection
        self.options = options
        self.interval: IntervalKind = None if values_only else "bootstrap"
        by = str(options["intervals"].get("clusters", "pair"))
        clusters = {"query": queries or {}, "core": {**(queries or {}), **collection.cores}}
        self.clusters = clusters.get(by)
        names = tuple(options["ir"].get("measures", IR))
        if values_only:
            # The others take many times as long as those of trec_eval.
            self.ir_names = tuple(n for n in names if not n.startswith(("RBP", "Judged")))
        else:
            self.ir_names = names if JUDGED in names else (*names, JUDGED)
        self._ir_sides = ("changed",) if values_only else ("original", "changed")

    def function_options(self, measure: str) -> dict[str, Any]:
        """Return the options to pass to a function of `measures`."""
        options = dict(self.options[measure])
        return options if self.interval else {**options, "interval": None}

    @cached_property
    def ir(self) -> dict[str, IrMeasures]:
        """Return the evaluators of ir_measures, by side."""
        sides = {"original": self.collection.original, "changed": self.collection.changed}
        return {
            side: IrMeasures(self.ir_names, qrels, self.collection.relevant)
            for side, qrels in sides.items()
            if qrels and side in self._ir_sides
        }

    @cached_property
    def gold(self) -> dict[str, tuple[str, ...]]:
        """Return the documents that WISE and SICR follow."""
        its = self.collection
        return gold_documents(its.changed, its.reverse, its.relevant)

    @cached_property
    def relevant_to_core(self) -> dict[str, int] | None:
        """Return how many documents are relevant to each topic's core query, the N of WISE.

        None if topics share no core query.
        """
        its = self.collection
        if not its.cores:
            return None
        relevant_documents: dict[str, set[str]] = {}
        for topic, grades in its.original.items():
            relevant = {document for document, grade in grades.items() if grade >= its.relevant}
            relevant_documents.setdefault(its.cores.get(topic, topic), set()).update(relevant)
        return {
            topic: max(1, len(relevant_documents.get(its.cores.get(topic, topic), ())))
            for topic in self.gold
        }

    @cached_property
    def compliance(self) -> tuple[dict[str, set[str]], dict[str, set[str]]]:
        """Return the documents that comply with claimed labels, and those that violate them."""
        its = self.collection
        return compliance(its.original, its.claimed, its.relevant)

    def with_interval(self, measurement: Measurement) -> Measurement:
        """Return the measurement, with a clustered interval if the options ask for one."""
        if self.interval is None or self.clusters is None or measurement.value is None:
            return measurement
        options = {
            name: measurement.options.get(name) for name in ("interval", "resamples", "seed")
        }
        return clustered(
            measurement,
            self.clusters,
            **{name: value for name, value in options.items() if value is not None},
        )


def measure_system(
    prepared: PreparedCollection, runs: Mapping[str, Scores]
) -> dict[str, Measurement]:
    """Measure one system by every measure that its runs, by side, and the collection allow."""
    collection = prepared.collection
    measurements: dict[str, Measurement] = {}
    original, changed = runs.get("original"), runs.get("changed")
    if original is not None and changed is not None:
        measurements["p-mrr"] = p_mrr(
            original=original,
            changed=changed,
            qrels_original=collection.original,
            qrels_changed=collection.changed,
            relevant=collection.relevant,
            **{"unjudged": "left_out", **prepared.function_options("p-mrr")},
        )
        if "reversed" in runs and (gold := prepared.gold):
            three_runs: Any = {
                "original": original.only(gold),
                "instructed": changed.only(gold),
                "reversed": runs["reversed"].only(gold),
                "gold": gold,
            }
            sizes: Any = {"N": prepared.relevant_to_core}
            measurements["wise"] = wise(
                **three_runs, **{**sizes, **prepared.function_options("wise")}
            )
            measurements["sicr"] = sicr(**three_runs, **prepared.function_options("sicr"))
        comply, violate = prepared.compliance
        if comply:
            two_runs: Any = {
                "with_instruction": changed.only(comply),
                "without": original.only(comply),
            }
            size: Any = {"tables": collection.documents}
            irs_options = {**size, **prepared.function_options("irs")}
            measurements["irs"] = irs(**two_runs, positive=comply, violating=violate, **irs_options)
            nfr_options = {**size, **prepared.function_options("nfr")}
            measurements["nfr"] = nfr(**two_runs, trap=violate, **nfr_options)
    if collection.conditions and prepared.interval is not None:
        measurements |= _measure_by_conditions(prepared, runs)
    if changed is not None and collection.cores and prepared.interval is not None:
        measurements["robustness"] = _measure_robustness(prepared, changed)
    measurements |= _measure_before_and_after(prepared, runs)
    return {key: prepared.with_interval(measurement) for key, measurement in measurements.items()}


def _measure_by_conditions(
    prepared: PreparedCollection, runs: Mapping[str, Scores]
) -> dict[str, Measurement]:
    """Compute mWISE, mSICR and MDCR, from the conditions (attributes) that documents meet."""
    its = prepared.collection
    measurements: dict[str, Measurement] = {}
    if "changed" in runs:
        measurements["mdcr"] = mdcr(
            run=runs["changed"].only(its.conditions),
            verdicts=its.verdicts,
            dimensions=its.conditions,
            **prepared.function_options("mdcr"),
        )
    # One gold document per topic: the first one with an answer for every condition.
    met: dict[str, int] = {}
    gold: dict[str, str] = {}
    for topic, documents in prepared.gold.items():
        for document in documents:
            answers = its.verdicts.get(topic, {}).get(document, {})
            if topic not in gold and len(answers) == len(its.conditions.get(topic, ())) > 0:
                gold[topic], met[topic] = document, sum(answers.values())
    if gold and {"original", "changed", "reversed"} <= runs.keys():
        three_runs: Any = {
            "original": runs["original"].only(gold),
            "instructed": runs["changed"].only(gold),
            "reversed": runs["reversed"].only(gold),
            "gold": gold,
        }
        sizes = {topic: len(its.conditions[topic]) for topic in gold}
        measurements["m-wise"] = m_wise(
            **three_runs, satisfied=met, conditions=sizes, **prepared.function_options("m-wise")
        )
        measurements["m-sicr"] = m_sicr(**three_runs, **prepared.function_options("m-sicr"))
    return measurements


def _measure_robustness(prepared: PreparedCollection, changed: Scores) -> Measurement:
    """Compute Robustness@k, from the lowest nDCG@k of each core query."""
    its, options = prepared.collection, prepared.function_options("robustness")
    name = f"nDCG@{options.get('k', 10)}"
    by_topic = IrMeasures((name,), its.changed, its.relevant).values(changed.only(its.changed))
    groups = {topic: its.cores.get(topic, topic) for topic in its.changed}
    return robustness(by_topic[name], groups, **options)


def _measure_before_and_after(
    prepared: PreparedCollection, runs: Mapping[str, Scores]
) -> dict[str, Measurement]:
    """Compute the measures of ir_measures before and after the change, and their differences."""
    collection = prepared.collection
    sides = {"before": ("original", collection.original), "after": ("changed", collection.changed)}
    values: dict[tuple[str, str], dict[str, float]] = {}
    warnings: dict[str, list[str]] = {}
    for when, (side, qrels) in sides.items():
        if side not in runs or side not in prepared.ir:
            continue
        scores = runs[side].only(qrels)
        for name, by_topic in prepared.ir[side].values(scores).items():
            values[name, when] = by_topic
        warnings[when] = _missing_topics(qrels, scores, side)
    measurements = {}
    for name in prepared.ir_names:
        for when in sides:
            if (name, when) in values:
                by_topic = values[name, when]
                measurements[f"{name} {when}"] = _summarise(
                    prepared, name, by_topic, warnings[when]
                )
        if {(name, when) for when in sides} <= values.keys() and name != JUDGED:
            before, after = values[name, "before"], values[name, "after"]
            change = {topic: after[topic] - before[topic] for topic in after if topic in before}
            both = [*warnings["before"], *warnings["after"]]
            measurements[f"{name} change"] = _summarise(prepared, name, change, both)
    return measurements


def _summarise(
    prepared: PreparedCollection, name: str, by_topic: Mapping[str, float], warnings: Sequence[str]
) -> Measurement:
    return summarise(
        name,
        dict(by_topic),
        bootstrap=Bootstrap(prepared.interval),
        options={},
        warnings=warnings,
        undefined="the qrels have no topic",
    )


def _missing_topics(qrels: Qrels, run: Scores, side: str) -> list[str]:
    lacking = [topic for topic in qrels if topic not in run]
    if not lacking:
        return []
    missing = f"{count_queries(len(lacking))} ({list_ids(lacking)})"
    return [f"the {side} run lacks {missing}, which count as 0"]


def evaluate(
    prepared: PreparedCollection,
    systems: Sequence[RankedSystem],
    baseline: str,
    report: Callable[[int], None] = lambda _: None,
) -> dict[str, Any]:
    """Measure every system, compare each with the baseline, and return the results to store.

    `report` is called after each system. The keys: `measures` (key, name, whether lower is better),
    `systems` (values by measure, and the moves of documents), `by_query` (values by measure, system
    and topic), `differences` (by measure and system), `baseline`.
    """
    measurements: dict[str, dict[str, Measurement]] = {}
    by_system = []
    for system in systems:
        for key, measurement in measure_system(prepared, system.scores).items():
            measurements.setdefault(key, {})[system.name] = measurement
        moved = moves(prepared.collection, system, prepared.options["p-mrr"])
        by_system.append({"name": system.name, "moves": moved})
        report(1)
    return {
        "measures": [
            {"key": key, "name": name_of(key), "lower": key in LOWER}
            for key in _in_order(measurements)
        ],
        "systems": [
            {
                **system,
                "values": {
                    key: _value_of(its[system["name"]])
                    for key, its in measurements.items()
                    if system["name"] in its
                },
            }
            for system in by_system
        ],
        "by_query": {
            key: {name: dict(measurement.by_query) for name, measurement in its.items()}
            for key, its in measurements.items()
        },
        "baseline": baseline,
        "differences": differences(
            measurements,
            baseline,
            prepared.clusters,
            prepared.options["differences"].get("test", "randomization"),
        )
        if baseline
        else {},
    }


def _in_order(measured: Iterable[str]) -> list[str]:
    keys = list(measured)
    return [key for key in NAMES if key in keys] + [key for key in keys if key not in NAMES]


def moves(
    collection: Collection, system: RankedSystem, options: Mapping[str, Any]
) -> list[list[Any]]:
    """Return the ranks of every document that p-MRR counts: [topic, document, old, new]."""
    if not {"original", "changed"} <= system.runs.keys():
        return []
    wanted, _warnings = changed_documents(
        collection.original,
        collection.changed,
        options.get("documents", "newly_irrelevant"),
        unjudged=options.get("unjudged", "left_out"),
        relevant=collection.relevant,
    )
    moved, _warnings = moves_of(
        system.scores["original"],
        system.scores["changed"],
        wanted,
        missing=options.get("missing", "after_last"),
        ties=options.get("ties", "id_descending"),
    )
    every = (
        [topic, document, old, new]
        for topic, its in moved.items()
        for document, old, new in zip(*its, strict=True)
    )
    return list(islice(every, MOST_MOVES))


def differences(
    measurements: Mapping[str, Mapping[str, Measurement]],
    baseline: str,
    clusters: Mapping[str, str] | None = None,
    test: Test = "randomization",
) -> dict[str, dict[str, Any]]:
    """Compare every system with the baseline by measure; Holm over the systems of a measure."""
    compared_by: dict[str, dict[str, Any]] = {}
    for key, its in measurements.items():
        if baseline not in its:
            continue
        compared = {
            name: compare(measurement, its[baseline], test=test, clusters=clusters)
            for name, measurement in its.items()
            if name != baseline
        }
        adjusted = holm({name: comparison.p for name, comparison in compared.items()})
        compared_by[key] = {
            name: {
                "difference": comparison.difference,
                "low": comparison.interval.low if comparison.interval else None,
                "high": comparison.interval.high if comparison.interval else None,
                "note": comparison.interval_note,
                "n": comparison.n,
                "p": comparison.p,
                "p_holm": adjusted[name],
                "reason": comparison.reason,
                "warnings": list(comparison.warnings),
            }
            for name, comparison in compared.items()
        }
    return compared_by


def _value_of(measurement: Measurement) -> dict[str, Any]:
    interval = measurement.interval
    return {
        "value": measurement.value,
        "low": interval.low if interval else None,
        "high": interval.high if interval else None,
        "n": measurement.n,
        "reason": measurement.reason,
        "note": measurement.interval_note,
        "options": dict(measurement.options),
        "warnings": list(measurement.warnings),
    }
