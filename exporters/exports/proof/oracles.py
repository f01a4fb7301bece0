"""Check what a set of qrels can measure, without any runs.

Three systems are made from the qrels alone: the oracle ranks by the changed qrels, the ignorant
system ranks by the original qrels whatever the narrative says, and the shuffled one ranks at
random. If the oracle misses the best value, or the ignorant system does not get 0, the set says
little about real systems; the warnings name the topics concerned.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict

from annotate.pairs.models import Narrative
from annotate.projects.models import Project
from exporters.exports.selection import claimed, selection
from exporters.exports.selection.labels import Grades, compliance, gold_documents
from exporters.exports.selection.selection import Pair
from formats.records import Qrel
from formats.source import open_source
from formats.trec_qrels import read_qrels

if TYPE_CHECKING:
    from measures import Measurement

SEED = 17
# A smaller difference counts as 0.
_ZERO = 1e-9
SYSTEMS = ("oracle", "ignorant", "shuffled")
IR = ("nDCG@10", "AP", "RR")

ByTopic = dict[str, dict[str, float | None]]
# How many topics are held in memory with their documents at a time.
BATCH = 200
SIDES = ("original", "changed", "reversed")

Rankings = dict[str, dict[str, dict[str, float]]]
# The grades of a few topics, by side and topic.
Topics = dict[str, dict[str, Grades]]


def read_batches(qrels: Mapping[str, Iterable[Qrel]]) -> Iterator[Topics]:
    """Yield the topics of the changed qrels in batches, with their grades on every side.

    Lines of every side must be in ascending order of topics; topics that are not in the changed
    qrels are skipped.
    """
    topics = {side: groupby(lines, attrgetter("query_id")) for side, lines in qrels.items()}
    heads = {side: next(its, None) for side, its in topics.items()}
    batch: Topics = {side: {} for side in qrels}
    while (head := heads["changed"]) is not None:
        topic = head[0]
        for side, its in topics.items():
            while (other := heads[side]) is not None and other[0] < topic:
                heads[side] = next(its, None)
            if other is not None and other[0] == topic:
                batch[side][topic] = {line.doc_id: line.relevance for line in other[1]}
                heads[side] = next(its, None)
        if len(batch["changed"]) == BATCH:
            yield batch
            batch = {side: {} for side in qrels}
    if batch["changed"]:
        yield batch


def rankings(topics: Topics) -> dict[str, Rankings]:
    """Rank the judged documents of each topic as the three systems do, by system and side.

    Documents of equal original grade are ordered to leave the change most to do: those whose grade
    drops come first. Documents of equal changed grade keep that order, with those that dropped
    last.
    """
    made: dict[str, Rankings] = {
        system: {side: {} for side in SIDES if side in topics} for system in SYSTEMS
    }
    for topic in topics["changed"]:
        grades = {side: graded.get(topic, {}) for side, graded in topics.items()}
        before, after = grades["original"], grades["changed"]
        pool = sorted({document for its in grades.values() for document in its})
        kept = {d: d not in after or after[d] >= before.get(d, 0) for d in pool}
        original = sorted(pool, key=lambda d: (-before.get(d, 0), kept[d], after.get(d, 0), d))
        place = {document: number for number, document in enumerate(original)}
        orders = {"original": original}
        orders["changed"] = sorted(pool, key=lambda d: (-after.get(d, 0), not kept[d], place[d]))
        reverse = grades.get("reversed", {})
        orders["reversed"] = sorted(
            pool, key=lambda d: (-reverse.get(d, 0), after.get(d, 0), place[d])
        )
        for side in made["oracle"]:
            made["oracle"][side][topic] = _scores_by_rank(orders[side])
            made["ignorant"][side][topic] = _scores_by_rank(original)
            made["shuffled"][side][topic] = _scores_by_rank(
                sorted(pool, key=lambda d: _shuffle_key(side, topic, d))
            )
    return made


def _scores_by_rank(order: Sequence[str]) -> dict[str, float]:
    return {document: float(len(order) - place) for place, document in enumerate(order)}


def _shuffle_key(*parts: str) -> bytes:
    """Return a digest to sort by, which makes a shuffle that is the same on every machine."""
    return hashlib.sha256("\0".join((str(SEED), *parts)).encode()).digest()


def measure_export(
    folder: Path,
    pairs: Sequence[Pair],
    project: Project,
) -> Result:
    """Measure the three systems on the qrels that an export has written into a folder.

    Args:
        folder: The folder, with the qrels of all sides and of claimed labels.
        pairs: The pairs of the project.
        project: The project, which has the lowest relevant grade.
    """
    files = {side: folder / f"qrels.{side}.txt" for side in SIDES}
    there = {side: _read(path) for side, path in files.items() if path.exists()}
    result = measure(there, project.relevant_from, files["changed"].name)
    changed = folder / claimed.file_name()
    if not changed.exists():
        return result
    earlier = selection.prior_qrels_of_pairs(selection.claimed(pairs))
    claims = {"original": earlier, "changed": _read(changed)}
    reverse = folder / claimed.file_name(Narrative.Side.REVERSED)
    if reverse.exists():
        claims["reversed"] = _read(reverse)
    of_claims = measure(claims, project.relevant_from, changed.name, claims=True)
    result.measures.extend(of_claims.measures)
    result.warnings.extend(f"{changed.name}: {sentence}" for sentence in of_claims.warnings)
    return result


def _read(path: Path) -> Iterator[Qrel]:
    if not path.stat().st_size:
        return
    with open_source(path) as source:
        yield from read_qrels(source)


def measure(
    qrels: Mapping[str, Iterable[Qrel]], relevant: int, name: str, *, claims: bool = False
) -> Result:
    """Measure the three systems by every measure that applies.

    Args:
        qrels: Lines by side, in ascending order of topics: original, changed, perhaps reversed.
        relevant: Lowest grade that is relevant.
        name: The name of the file with the changed qrels.
        claims: Whether a machine claims them, as in FollowTable; if so, IRS and NFR apply.
    """
    values = Values()
    undefined: list[str] = []
    for topics in read_batches(qrels):
        runs = rankings(topics)
        undefined += _add_p_mrr(values, topics, runs, relevant)
        _add_ranking_measures(values, topics, runs, relevant)
        if "reversed" in qrels:
            _add_modes(values, topics, runs, relevant)
        if claims:
            _add_responsiveness(values, topics, runs, relevant)
    result = judge_values(values, name)
    if undefined:
        sentence = "p-MRR is undefined, because no document is relevant before and not after, in: "
        result.warnings.insert(0, sentence + list_first(undefined))
    return result


def _add_responsiveness(
    values: Values, topics: Topics, runs: Mapping[str, Rankings], relevant: int
) -> None:
    """Add IRS and NFR.

    Documents that comply are relevant in the changed qrels; those that violate are relevant in the
    original qrels but not in the changed ones.
    """
    from measures import irs, nfr

    comply, violate = compliance(topics["original"], topics["changed"], relevant)
    for system, its in runs.items():
        arguments: dict[str, Any] = {
            "with_instruction": its["changed"],
            "without": its["original"],
            "interval": None,
        }
        response = irs(positive=comply, violating=violate, **arguments)
        # Where no document can move, IRS is 0 for every system, by definition.
        movable = {t: its for t, its in response.by_query.items() if comply[t] or violate[t]}
        values.add("IRS", system, movable)
        values.add("NFR", system, nfr(trap=violate, **arguments).by_query)


def _add_p_mrr(
    values: Values, topics: Topics, runs: Mapping[str, Rankings], relevant: int
) -> list[str]:
    """Add p-MRR and its best value; return topics that changed but have no p-MRR."""
    from measures import p_mrr
    from measures.followir import changed_documents, pair_score

    before, after = topics["original"], topics["changed"]
    for system, its in runs.items():
        change = p_mrr(
            original=its["original"],
            changed=its["changed"],
            qrels_original=before,
            qrels_changed=after,
            unjudged="left_out",
            relevant=relevant,
            interval=None,
        )
        values.add("p-MRR", system, change.by_query)
    counted, _warnings = changed_documents(before, after, unjudged="left_out", relevant=relevant)
    best = values.best.setdefault("p-MRR", {})
    for topic, documents in counted.items():
        order = list(runs["oracle"]["original"][topic])
        ranks = sorted(order.index(document) + 1 for document in documents)
        last = range(len(order) - len(ranks) + 1, len(order) + 1)
        moved = [pair_score(old, new) for old, new in zip(ranks, last, strict=True)]
        best[topic] = sum(moved) / len(moved)
    return [
        topic
        for topic in after
        if topic not in counted
        and any(before.get(topic, {}).get(d, g) != g for d, g in after[topic].items())
    ]


def _add_ranking_measures(
    values: Values, topics: Topics, runs: Mapping[str, Rankings], relevant: int
) -> None:
    """Add nDCG@10, AP and RR before and after.

    trec_eval's own code is not used, because every export computes them, and the library that wraps
    it is only in installations that measure systems.
    """
    for side, when in (("original", "before"), ("changed", "after")):
        for system, its in runs.items():
            by_topic = {
                topic: ranking_measures(list(its[side][topic]), grades, relevant)
                for topic, grades in topics[side].items()
            }
            for name in IR:
                of_measure = {topic: measured[name] for topic, measured in by_topic.items()}
                values.add(f"{name} {when}", system, of_measure)


def ranking_measures(order: Sequence[str], grades: Grades, relevant: int) -> dict[str, float]:
    """Return nDCG@10, AP and RR of a ranking, as trec_eval computes them.

    A document without a grade is not relevant. Each value is 0 if no document is relevant.
    """
    ranks = [
        rank
        for rank, document in enumerate(order, start=1)
        if grades.get(document, relevant - 1) >= relevant
    ]
    relevant_documents = sum(grade >= relevant for grade in grades.values())
    precisions = [number / rank for number, rank in enumerate(ranks, start=1)]
    best = _gain_at_10(sorted(grades.values(), reverse=True))
    return {
        "nDCG@10": _gain_at_10([grades.get(d, 0) for d in order]) / best if best else 0.0,
        "AP": sum(precisions) / relevant_documents if relevant_documents else 0.0,
        "RR": 1 / ranks[0] if ranks else 0.0,
    }


def _gain_at_10(ranked: Sequence[int]) -> float:
    """Return the discounted cumulative gain of the first ten grades; below 0 there is no gain."""
    return sum(max(grade, 0) / math.log2(rank + 1) for rank, grade in enumerate(ranked[:10], 1))


def _add_modes(values: Values, topics: Topics, runs: Mapping[str, Rankings], relevant: int) -> None:
    """Add WISE and SICR, for the documents that the reversed narrative makes not relevant."""
    from measures import sicr, wise

    gold = gold_documents(topics["changed"], topics["reversed"], relevant)
    measure: Callable[..., Measurement]
    for name, measure in (("WISE", wise), ("SICR", sicr)):
        for system, its in runs.items():
            measured = measure(
                original=its["original"],
                instructed=its["changed"],
                reversed=its["reversed"],
                gold=gold,
                interval=None,
            )
            values.add(name, system, measured.by_query)


# --- what the manifest says of them --------------------------------------------------------------


class Facts(TypedDict):
    """The values of the three systems by one measure. `topics`: how many have a value.

    `short_of_best` names the topics in which the oracle misses the best value,
    `ignorant_not_zero` those in which the ignorant system's value is not 0.
    """

    measure: str
    qrels: str
    topics: int
    oracle: float | None
    ignorant: float | None
    shuffled: float | None
    short_of_best: list[str]
    ignorant_not_zero: list[str]


class Oracles(TypedDict):
    """The block `oracles` of the manifest."""

    rule: str
    seed: int
    measures: list[Facts]


class Expectation(NamedTuple):
    """The values that the oracle and the ignorant system should get by one measure.

    Attributes:
        best: The best value, for all topics or by topic; None if any value above 0 will do.
        zero: Whether a run that ignores the change should get 0.
        short: Warning about topics in which the oracle misses the best value; "" for none.
        ignored: Warning about topics in which the ignorant system does not get 0; "" for none.
    """

    best: Mapping[str, float] | float | None
    zero: bool
    short: str = ""
    ignored: str = ""


class Values:
    """Values by measure, system and topic, collected batch by batch."""

    def __init__(self) -> None:
        self.found: dict[str, ByTopic] = {}
        self.best: dict[str, dict[str, float]] = {}

    def add(self, measure: str, system: str, by_topic: Mapping[str, float | None]) -> None:
        """Add the values of some topics."""
        systems = self.found.setdefault(measure, {name: {} for name in SYSTEMS})
        systems[system].update(by_topic)

    def facts(self, measure: str, qrels: str, check: Expectation) -> Facts:
        """Average over topics, and find the topics that do not tell the systems apart."""
        values = self.found[measure]
        means: dict[str, float | None] = {}
        for system in SYSTEMS:
            defined = [value for value in values[system].values() if value is not None]
            means[system] = round(sum(defined) / len(defined), 6) if defined else None
        oracle, ignorant = values["oracle"], values["ignorant"]
        return Facts(
            measure=measure,
            qrels=qrels,
            topics=sum(value is not None for value in oracle.values()),
            oracle=means["oracle"],
            ignorant=means["ignorant"],
            shuffled=means["shuffled"],
            short_of_best=[
                topic
                for topic, value in oracle.items()
                if value is not None and _is_short(value, topic, check.best)
            ],
            ignorant_not_zero=[
                topic
                for topic, value in ignorant.items()
                if check.zero and value is not None and abs(value) > _ZERO
            ],
        )


def _is_short(value: float, topic: str, best: Mapping[str, float] | float | None) -> bool:
    """Return whether a value misses the best one, or is not above 0 if no best one is known."""
    if best is None:
        return value <= _ZERO
    wanted = best[topic] if isinstance(best, Mapping) else best
    return abs(value - wanted) > _ZERO or (isinstance(best, Mapping) and wanted <= _ZERO)


class Result(NamedTuple):
    """The values of the three systems, and warnings about topics that do not tell them apart."""

    measures: list[Facts]
    warnings: list[str]


def expectations(values: Values) -> dict[str, Expectation]:
    """Return the expected values of each measure, with the warnings if they are missed."""
    follows = "A run that ranks by the changed qrels does not reach the best"
    ignores = "A run that ignores the change gets a value other than 0 for"
    none = "No document is relevant {} the change, so nDCG@10 {} it is 0 for every run, in: "
    return {
        "p-MRR": Expectation(
            best=values.best.get("p-MRR", {}),
            zero=True,
            short=f"{follows} p-MRR, or gets 0, because documents that are no longer relevant have "
            "a higher grade than others, or because no other document could rank above them, in: ",
            ignored=f"{ignores} p-MRR in: ",
        ),
        "nDCG@10 before": Expectation(1.0, zero=False, short=none.format("before", "before")),
        "nDCG@10 after": Expectation(1.0, zero=False, short=none.format("after", "after")),
        **{
            f"{name} {when}": Expectation(1.0, False)
            for name in IR[1:]
            for when in ("before", "after")
        },
        "WISE": Expectation(
            None,
            zero=True,
            short="A run that follows every narrative gets no reward by WISE in: ",
            ignored=f"{ignores} WISE in: ",
        ),
        "SICR": Expectation(
            1.0,
            zero=True,
            short="A run that follows every narrative does not get the best SICR, because a "
            "document ranks first already or does not rise, in: ",
            ignored=f"{ignores} SICR in: ",
        ),
        "IRS": Expectation(
            1.0,
            zero=True,
            short=f"{follows} IRS in: ",
            ignored=f"{ignores} IRS, because the order of the original qrels is ideal already, "
            "in: ",
        ),
        "NFR": Expectation(0.0, zero=False, short=f"{follows} NFR in: "),
    }


def judge_values(values: Values, qrels: str) -> Result:
    """Return the facts and warnings of the manifest for these values."""
    expected = expectations(values)
    result = Result([], [])
    for measure in values.found:
        check = expected[measure]
        facts = values.facts(measure, qrels, check)
        if not facts["topics"]:
            continue
        result.measures.append(facts)
        if check.short and facts["short_of_best"]:
            result.warnings.append(check.short + list_first(facts["short_of_best"]))
        if check.ignored and facts["ignorant_not_zero"]:
            result.warnings.append(check.ignored + list_first(facts["ignorant_not_zero"]))
    return result


def oracles_block(measured: Iterable[Facts]) -> Oracles | None:
    """Return the block `oracles` of the manifest; None if there is nothing to measure."""
    facts = list(measured)
    if not facts:
        return None
    return Oracles(
        rule="Three systems made from the qrels alone rank the judged documents of each topic. The "
        "oracle ranks by the changed qrels, and before the change by the original ones. The "
        "ignorant system always ranks by the original qrels. The shuffled one ranks at random. "
        "short_of_best and ignorant_not_zero name the topics in which a measure does not "
        "tell them apart.",
        seed=SEED,
        measures=facts,
    )


def list_first(names: Sequence[str], most: int = 20) -> str:
    """Return the first names and how many more there are, as the end of a sentence."""
    shown = ", ".join(names[:most])
    return f"{shown} and {len(names) - most:,} more." if len(names) > most else f"{shown}."
