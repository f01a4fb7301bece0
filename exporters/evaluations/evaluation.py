"""Measure systems on original and changed qrels: values with intervals, and differences.

Knows records and numbers, no rows: `exporters.evaluations.actions` reads the runs and keeps the
results.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from exporters.exports.labels import Grades, compliance, gold_documents, ir_values

if TYPE_CHECKING:
    from measures import Measurement, Scores

# Measures of trec_eval, unless the option ir.measures names others.
IR = ("nDCG@10", "AP", "RR", "P@10", "R@100", "Bpref")
JUDGED_DEPTH = 10
JUDGED = f"Judged@{JUDGED_DEPTH}"
# What one evaluation may ask for: more would keep a worker busy for hours.
MOST_RESAMPLES, MOST_MEASURES, MOST_CUTOFF = 100_000, 20, 10_000
# Moves of documents that an evaluation keeps for each system.
MOST_MOVES = 20_000
# Of measures that can be told by name in options.
FUNCTIONS = ("p-mrr", "wise", "sicr", "irs", "nfr")
NAMES = {"p-mrr": "p-MRR", "wise": "WISE", "sicr": "SICR", "irs": "IRS", "nfr": "NFR"}
# Measures of which less is better.
LOWER = {"nfr"}

Qrels = dict[str, Grades]
Scored = Mapping[str, dict[str, float]]


class Collection(NamedTuple):
    """What systems are measured on, under the ids of pairs.

    Attributes:
        original, changed: Grades before and after the change.
        reverse: Grades under reversed narratives; empty where there are none.
        claimed: Claimed labels, for IRS and NFR; empty where there are none.
        relevant: Lowest grade that is relevant.
        documents: How many documents the collection has.
    """

    original: Qrels
    changed: Qrels
    reverse: Qrels
    claimed: Qrels
    relevant: int
    documents: int


@dataclass(frozen=True)
class Ranked:
    """A system with the scores of its runs, by side."""

    name: str
    runs: Mapping[str, Scored]

    @cached_property
    def scores(self) -> dict[str, Scores]:
        """The same prepared for measures, which look up every rank once."""
        from measures import Scores

        return {side: Scores(run, f"{side} run") for side, run in self.runs.items()}


def read_options(options: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    """Read options such as {"p-mrr.documents": "changed"} into arguments by measure.

    Raises:
        ValueError: An unknown measure, option or value, with a sentence that says what there is.
    """
    found: dict[str, dict[str, Any]] = {name: {} for name in (*FUNCTIONS, "ir")}
    for name, text in options.items():
        measure, dot, option = name.partition(".")
        if measure not in found or not dot:
            raise ValueError(
                f"{name} is no option: write MEASURE.OPTION=VALUE, where the measure is one of "
                f"{', '.join(found)}"
            )
        known = option_names(measure)
        if option not in known:
            raise ValueError(f"{measure} has no option {option!r}; it has {', '.join(known)}")
        found[measure][option] = text.split() if measure == "ir" else _value(text)
    for measure in FUNCTIONS:
        if found[measure]:
            try:
                _function(measure)(**_EMPTY[measure], **found[measure])
            except TypeError as error:
                said = ", ".join(f"{name}={value}" for name, value in found[measure].items())
                raise ValueError(f"{measure} does not take {said}") from error
        if int(found[measure].get("resamples") or 0) > MOST_RESAMPLES:
            raise ValueError(f"{measure}.resamples is at most {MOST_RESAMPLES:,}")
    _check_ir(found["ir"].get("measures", []))
    return found


def option_names(measure: str) -> list[str]:
    """The options of a measure that can be given."""
    if measure == "ir":
        return ["measures"]
    given = {*_EMPTY[measure], "base", "relevant"}
    return [name for name in inspect.signature(_function(measure)).parameters if name not in given]


_EMPTY: dict[str, dict[str, Any]] = {
    "p-mrr": {"original": {}, "changed": {}, "qrels_original": {}, "qrels_changed": {}},
    "wise": {"original": {}, "instructed": {}, "reversed": {}, "gold": {}},
    "sicr": {"original": {}, "instructed": {}, "reversed": {}, "gold": {}},
    "irs": {"with_instruction": {}, "without": {}, "positive": {}, "violating": {}},
    "nfr": {"with_instruction": {}, "without": {}, "trap": {}},
}


def _function(measure: str) -> Callable[..., Measurement]:
    import measures

    found: Callable[..., Measurement] = getattr(measures, measure.replace("-", "_"))
    return found


def _value(text: str) -> Any:
    if re.fullmatch(r"-?[0-9]{1,9}", text):
        return int(text)
    return {"none": None, "true": True, "false": False}.get(text.casefold(), text)


def _check_ir(names: Iterable[str]) -> None:
    """Refuse what ir_measures cannot compute by trec_eval."""
    import ir_measures

    asked = list(names)
    if len(asked) > MOST_MEASURES:
        raise ValueError(f"ir.measures names at most {MOST_MEASURES} measures")
    for name in asked:
        try:
            cutoff = ir_measures.parse_measure(name).params.get("cutoff") or 1
            if not 0 < cutoff <= MOST_CUTOFF:
                raise ValueError(f"the cutoff of {name} is out of range")
            ir_values([name], {"q": {"d": 1}}, {"one": {"q": {"d": 1.0}}}, 1)
        except (NameError, ValueError, KeyError, TypeError, SyntaxError) as error:
            raise ValueError(
                f"{name!r} is no measure of trec_eval as ir_measures writes it, such as nDCG@10 or "
                "AP(rel=2)"
            ) from error


def evaluate(
    collection: Collection,
    systems: Sequence[Ranked],
    options: Mapping[str, Mapping[str, Any]],
    baseline: str,
    report: Callable[[int], None] = lambda _: None,
) -> dict[str, Any]:
    """Measure every system, compare each with the baseline, and return what is kept.

    `report` is told after each system. The keys: `measures` (key, name, whether lower is better),
    `systems` (values by measure, and the moves of documents), `by_query` (values by measure, system
    and topic), `differences` (by measure and system), `baseline`.
    """
    found: dict[str, dict[str, Measurement]] = {}
    told = []
    for system in systems:
        mine = measure_system(collection, system, options)
        for key, measurement in mine.items():
            found.setdefault(key, {})[system.name] = measurement
        told.append({"name": system.name, "moves": moves(collection, system, options["p-mrr"])})
        report(1)
    return {
        "measures": [
            {"key": key, "name": name_of(key), "lower": key in LOWER} for key in _in_order(found)
        ],
        "systems": [
            {
                **one,
                "values": {
                    key: _value_of(its[one["name"]])
                    for key, its in found.items()
                    if one["name"] in its
                },
            }
            for one in told
        ],
        "by_query": {
            key: {name: dict(measurement.by_query) for name, measurement in its.items()}
            for key, its in found.items()
        },
        "baseline": baseline,
        "differences": differences(found, baseline) if baseline else {},
    }


def _in_order(found: Iterable[str]) -> list[str]:
    keys = list(found)
    return [key for key in FUNCTIONS if key in keys] + [key for key in keys if key not in NAMES]


def name_of(key: str) -> str:
    """What a measure is called in tables."""
    return NAMES.get(key, key)


def measure_system(
    collection: Collection, system: Ranked, options: Mapping[str, Mapping[str, Any]]
) -> dict[str, Measurement]:
    """Measure one system by everything that its runs and the collection allow."""
    from measures import irs, nfr, p_mrr, sicr, wise

    runs = system.scores
    found: dict[str, Measurement] = {}
    original, changed = runs.get("original"), runs.get("changed")
    if original is not None and changed is not None:
        p_mrr_options: Any = {"unjudged": "left_out", **options["p-mrr"]}
        found["p-mrr"] = p_mrr(
            original=original,
            changed=changed,
            qrels_original=collection.original,
            qrels_changed=collection.changed,
            relevant=collection.relevant,
            **p_mrr_options,
        )
        gold = gold_documents(collection.changed, collection.reverse, collection.relevant)
        if "reversed" in system.runs and gold:
            three: Any = {
                name: runs[side].only(gold)
                for name, side in (
                    ("original", "original"),
                    ("instructed", "changed"),
                    ("reversed", "reversed"),
                )
            }
            found["wise"] = wise(**three, gold=gold, **options["wise"])
            found["sicr"] = sicr(**three, gold=gold, **options["sicr"])
        comply, violate = compliance(collection.original, collection.claimed, collection.relevant)
        if comply:
            two: Any = {
                "with_instruction": changed.only(comply),
                "without": original.only(comply),
            }
            size: Any = {"tables": collection.documents}
            found["irs"] = irs(
                **two, positive=comply, violating=violate, **{**size, **options["irs"]}
            )
            found["nfr"] = nfr(**two, trap=violate, **{**size, **options["nfr"]})
    return found | _before_and_after(collection, system, options["ir"].get("measures", IR))


def _before_and_after(
    collection: Collection, system: Ranked, names: Sequence[str]
) -> dict[str, Measurement]:
    """nDCG and the other measures of trec_eval before and after, and what they differ by."""
    sides = {"before": ("original", collection.original), "after": ("changed", collection.changed)}
    values: dict[tuple[str, str], dict[str, float]] = {}
    warnings: dict[str, list[str]] = {}
    asked = (*names, *([JUDGED] if JUDGED not in names else []))
    for when, (side, qrels) in sides.items():
        if side not in system.runs or not qrels:
            continue
        scores = system.scores[side].only(qrels)
        for name, by_topic in _values_of_run(asked, qrels, scores, collection.relevant).items():
            values[name, when] = by_topic
        warnings[when] = _missing(qrels, scores, side)
    found = {}
    for name in asked:
        for when in sides:
            if (name, when) in values:
                found[f"{name} {when}"] = _summary(name, values[name, when], warnings[when])
        if {(name, when) for when in sides} <= values.keys() and name != JUDGED:
            before, after = values[name, "before"], values[name, "after"]
            change = {topic: after[topic] - before[topic] for topic in after if topic in before}
            both = [*warnings["before"], *warnings["after"]]
            found[f"{name} change"] = _summary(name, change, both)
    return found


def _values_of_run(
    names: Sequence[str], qrels: Qrels, scores: Scores, relevant: int
) -> dict[str, dict[str, float]]:
    """Measures of trec_eval and the share judged, by measure and topic. For the share among the
    first ten, ir_measures is given the first ten alone: it would sort every ranking.
    """
    found: dict[str, dict[str, dict[str, float]]] = {}
    if others := [name for name in names if name != JUDGED]:
        # trec_eval's code takes nothing but dict.
        documents = {topic: scores.documents(topic) for topic in scores}
        whole = {t: its if type(its) is dict else dict(its) for t, its in documents.items()}
        found |= ir_values(others, qrels, {"run": whole}, relevant)
    if JUDGED in names:
        first = {topic: scores.first(topic, JUDGED_DEPTH) for topic in scores}
        found |= ir_values([JUDGED], qrels, {"run": first}, relevant)
    return {name: by_system["run"] for name, by_system in found.items()}


def _summary(name: str, by_topic: Mapping[str, float], warnings: Sequence[str]) -> Measurement:
    from measures.intervals import Bootstrap
    from measures.summary import summarise

    return summarise(
        name,
        dict(by_topic),
        bootstrap=Bootstrap(),
        options={},
        warnings=warnings,
        undefined="the qrels have no topic",
    )


def _missing(qrels: Qrels, run: Scores, side: str) -> list[str]:
    from measures.runs import listed, queries_of

    lacking = [topic for topic in qrels if topic not in run]
    if not lacking:
        return []
    return [
        f"the {side} run lacks {queries_of(len(lacking))} ({listed(lacking)}), which count as 0"
    ]


def moves(collection: Collection, system: Ranked, options: Mapping[str, Any]) -> list[list[Any]]:
    """Original and new rank of every document that p-MRR counts: [topic, document, old, new]."""
    from measures.followir import changed_documents, moves_of

    if not {"original", "changed"} <= system.runs.keys():
        return []
    wanted, _warnings = changed_documents(
        collection.original,
        collection.changed,
        options.get("documents", "newly_irrelevant"),
        unjudged=options.get("unjudged", "left_out"),
        relevant=collection.relevant,
    )
    found, _warnings = moves_of(
        system.scores["original"],
        system.scores["changed"],
        wanted,
        missing=options.get("missing", "after_last"),
        ties=options.get("ties", "id_descending"),
    )
    every = (
        [topic, document, old, new]
        for topic, its in found.items()
        for document, old, new in zip(*its, strict=True)
    )
    return list(islice(every, MOST_MOVES))


def differences(
    found: Mapping[str, Mapping[str, Measurement]], baseline: str
) -> dict[str, dict[str, Any]]:
    """Compare every system with the baseline by measure; Holm over the systems of a measure."""
    from measures import compare, holm

    told: dict[str, dict[str, Any]] = {}
    for key, its in found.items():
        if baseline not in its:
            continue
        compared = {
            name: compare(measurement, its[baseline])
            for name, measurement in its.items()
            if name != baseline
        }
        adjusted = holm({name: one.p for name, one in compared.items()})
        told[key] = {
            name: {
                "difference": one.difference,
                "low": one.interval.low if one.interval else None,
                "high": one.interval.high if one.interval else None,
                "n": one.n,
                "p": one.p,
                "p_holm": adjusted[name],
                "reason": one.reason,
                "warnings": list(one.warnings),
            }
            for name, one in compared.items()
        }
    return told


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
