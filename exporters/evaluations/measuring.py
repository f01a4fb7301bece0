"""Measure the systems of an evaluation and save the results: the work of its job.

Import it only where this work is done: it imports numpy and ir_measures, which take much memory.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from django.conf import settings
from django.core.exceptions import ObjectDoesNotExist
from django.db import transaction
from django.db.models import Avg, Count, Max

from annotate.collection.models import Candidate, Document, DocumentText, Run
from annotate.judgments.pair_rules import dropped_share
from annotate.projects.models import Project
from base.errors import Refused
from exporters.evaluations import (
    estimates,
    queue_effects,
    sensitivity,
    settlements,
    system_measures,
    systems,
)
from exporters.evaluations.models import Evaluation
from exporters.evaluations.options import read_options
from exporters.evaluations.system_measures import (
    Collection,
    PreparedCollection,
    Qrels,
    RankedSystem,
)
from exporters.evaluations.systems import MOST_LINES
from exporters.exports import actions
from exporters.exports.files import read_rows
from exporters.exports.manifest.manifest import Manifest
from exporters.releases import actions as releasing
from formats.source import open_source
from formats.trec_qrels import read_qrels
from formats.trec_topics import read_topics
from jobs.errors import JobError
from jobs.runner import Progress, save_result
from measures import CannotMeasure

TOPICS = {"before": "topics.original.txt", "after": "topics.changed.txt"}


FORMAT = "trec"
ORIGINAL, CHANGED, REVERSED = (f"qrels.{side}.txt" for side in systems.SIDES)
WHOLE, CLAIMED, PAIRS = "qrels.original.all.txt", "qrels.claimed.txt", "pairs.tsv"
DISPUTED = "disputed.tsv"
CLAIMED_REVERSED, CORES = "qrels.claimed.reversed.txt", "core_queries.tsv"
VERDICTS = "verdicts.tsv"


def collection_figures(
    collection: Collection, folder: Path, of_pairs: Mapping[str, str], project: Project
) -> dict[str, Any]:
    """Count judged, relevant and dropped documents, for each topic and in total.

    The keys: `topics` (a list, in the order of the qrels), `grades` (how many documents have each
    grade, before and after), `pools` (how many candidates the queries have), `lengths` (words of
    narratives, characters of document texts).
    """
    rows = [_topic_figures(collection, topic, of_pairs[topic]) for topic in collection.changed]
    pools = Candidate.objects.filter(
        query__project=project, query__query_id__in={row["query"] for row in rows}
    )
    sizes = pools.order_by().values("query").annotate(size=Count("pk"))
    sides = {"before": collection.original, "after": collection.changed}
    return {
        "topics": rows,
        "grades": {
            when: Counter(str(grade) for its in qrels.values() for grade in its.values())
            for when, qrels in sides.items()
        },
        "documents": collection.documents,
        "pools": _spread(list(sizes.values_list("size", flat=True))),
        "lengths": {
            "narratives": {
                when: _narrative_lengths(folder / name) for when, name in TOPICS.items()
            },
            "texts": _text_lengths(project),
        },
    }


def _topic_figures(collection: Collection, topic: str, query: str) -> dict[str, Any]:
    before, after = collection.original.get(topic, {}), collection.changed[topic]
    relevant = {d for d, grade in before.items() if grade >= collection.relevant}
    still = {d for d, grade in after.items() if grade >= collection.relevant}
    kept, dropped = len(relevant & still), len((relevant & after.keys()) - still)
    return {
        "topic": topic,
        "query": query,
        "judged_before": len(before),
        "judged_after": len(after),
        "relevant_before": len(relevant),
        "relevant_after": len(still),
        "kept": kept,
        "dropped": dropped,
        "share_dropped": dropped_share(kept, dropped),
    }


def _narrative_lengths(path: Path) -> dict[str, Any]:
    """Return how long the narratives of a topics file are, in words."""
    if not path.exists() or not path.stat().st_size:
        return _spread([])
    with open_source(path) as source:
        return _spread(
            [len(topic.narrative.split()) for topic in read_topics(source) if topic.narrative]
        )


def _text_lengths(project: Project) -> dict[str, Any]:
    """Return how long the texts of the project's documents are, in characters."""
    documents = Document.objects.filter(project=project)
    texts = DocumentText.objects.current().filter(document__in=documents)
    lengths = texts.aggregate(mean=Avg("length"), most=Max("length"))
    return {"mean": lengths["mean"], "most": lengths["most"]}


def _spread(values: Sequence[int]) -> dict[str, Any]:
    if not values:
        return {"mean": None, "median": None, "least": None, "most": None}
    return {
        "mean": sum(values) / len(values),
        "median": median(values),
        "least": min(values),
        "most": max(values),
    }


def run_figures(systems: Iterable[RankedSystem]) -> list[dict[str, Any]]:
    """Return how many topics each run has, and how deep its rankings go."""
    return [
        {
            "system": system.name,
            "side": side,
            "topics": len(run),
            "depth": _spread([len(documents) for documents in run.values()]),
        }
        for system in systems
        for side, run in system.runs.items()
    ]


def compute_evaluation(job: Evaluation, progress: Progress) -> None:
    """Measure the systems of an evaluation and save the results; safe to repeat."""
    progress.start(2 + 3 * len(job.systems), "Reading the qrels")
    with TemporaryDirectory(prefix="evaluation-", dir=settings.SCRATCH) as scratch:
        folder = Path(scratch)
        try:
            written = (
                actions.write(job.project, FORMAT, folder)
                if job.release is None
                else releasing.copy_format(job.release, FORMAT, folder)
            )
            progress.advance()
            of_pairs = {pair: query for pair, query, *_rest in read_rows(folder / PAIRS)}
            collection, notes = read_collection(folder, written, of_pairs)
            figures = collection_figures(collection, folder, of_pairs, job.project)
            progress.advance()
            topics = {pair: of_pairs[pair] for pair in collection.changed}
            options = read_options(job.options)
            labels = None
            if machine := options["machine"].get("name"):
                since = job.release.requested_at if job.release else None
                labels = estimates.machine_labels(job.project, machine, of_pairs, since)
            read = topics | {pair: of_pairs[pair] for pair in (labels.changed if labels else ())}
            all_ranked, notes_of_runs = _read_systems(job, read, progress)
            ranked = [system.only(topics) for system in all_ranked]
            _refuse_without_lines(ranked, topics)
            progress.step = "Computing the measures"
            prepared = PreparedCollection(collection, options, topics)
            results = system_measures.evaluate(prepared, ranked, job.baseline, progress.advance)
            results["estimates"] = labels and estimates.estimate_measures(
                labels,
                collection,
                earlier_qrels(folder, of_pairs, labels.changed),
                of_pairs,
                all_ranked,
                results["by_query"],
                options,
                folder,
            )
            progress.step = "Measuring what disagreements decide"
            disputes = settlements.read_disputes(folder / DISPUTED)
            results |= sensitivity.measure_disputes(
                prepared, ranked, disputes, results, progress.check
            )
            progress.advance(len(ranked))
        except (Refused, CannotMeasure) as error:
            raise JobError(str(error)) from error
    results |= {
        "collection": figures | {"runs": run_figures(ranked)},
        "notes": [*notes, *notes_of_runs],
        "oracles": written.get("oracles"),
        "warnings": written["warnings"],
        "qrels": _qrels_checksums(written),
    }
    figures_of_documents = results["deciding"].pop("all", [])
    with transaction.atomic():
        save_result(job, results=results, code_version=settings.VERSION)
        queue_effects.save_effects(job, figures_of_documents)


def read_collection(
    folder: Path, written: Manifest, of_pairs: Mapping[str, str]
) -> tuple[Collection, list[str]]:
    """Read the collection that systems are measured on from an exported folder, with notes.

    The lowest relevant grade and the number of documents are those of the folder's manifest,
    `written`. If people have judged nothing under altered narratives and machines claim labels,
    these are the changed qrels.
    """
    changed, claimed = _read_qrels(folder / CHANGED), _read_qrels(folder / CLAIMED)
    original, notes = _read_qrels(folder / ORIGINAL), []
    reverse = _read_qrels(folder / REVERSED)
    if not changed and claimed:
        changed = claimed
        reverse = reverse or _read_qrels(folder / CLAIMED_REVERSED)
        original = earlier_qrels(folder, of_pairs, changed)
        notes.append(
            f"Nobody has judged under altered narratives: the labels of {CLAIMED} are used as the "
            "changed qrels."
        )
    if not changed:
        notes.append(
            "There is nothing to measure on yet: the changed qrels are empty. Judge at least one "
            "pair, or load labels that a machine claims."
        )
    verdicts, conditions = _read_verdicts(folder / VERDICTS)
    cores = {pair: core for pair, _query, core in read_rows(folder / CORES)}
    collection = Collection(
        original=original,
        changed=changed,
        reverse=reverse,
        claimed=claimed,
        relevant=written["relevant_from"],
        documents=written["documents"],
        verdicts=verdicts,
        conditions=conditions,
        cores=_shared_cores(cores or of_pairs, changed),
    )
    return collection, notes


def earlier_qrels(folder: Path, of_pairs: Mapping[str, str], pairs: Iterable[str]) -> Qrels:
    """Return the earlier relevance under these pairs: that of their queries."""
    whole = _read_qrels(folder / WHOLE)
    return {pair: whole.get(of_pairs[pair], {}) for pair in pairs}


def _read_qrels(path: Path) -> Qrels:
    """Read qrels by topic; empty if the file is missing or empty."""
    qrels: Qrels = {}
    if path.exists() and path.stat().st_size:
        with open_source(path) as source:
            for line in read_qrels(source):
                qrels.setdefault(line.query_id, {})[line.doc_id] = line.relevance
    return qrels


def _read_verdicts(
    path: Path,
) -> tuple[dict[str, dict[str, dict[str, bool]]], dict[str, tuple[str, ...]]]:
    """Read which conditions documents meet, and the conditions of each topic.

    Both are empty if the export has no such file. A condition answered "cannot tell", or without
    agreement, has no verdict.
    """
    verdicts: dict[str, dict[str, dict[str, bool]]] = {}
    conditions: dict[str, dict[str, None]] = {}
    for topic, document, condition, answer, _by in read_rows(path):
        conditions.setdefault(topic, {})[condition] = None
        if answer in ("met", "not_met"):
            of_document = verdicts.setdefault(topic, {}).setdefault(document, {})
            of_document[condition] = answer == "met"
    return verdicts, {topic: tuple(its) for topic, its in conditions.items()}


def _shared_cores(cores: Mapping[str, str], topics: Iterable[str]) -> dict[str, str]:
    """Return the core query of each topic; empty if no two topics share one."""
    shared = {topic: cores[topic] for topic in topics if topic in cores}
    return shared if len(set(shared.values())) < len(shared) else {}


def _read_systems(
    job: Evaluation, topics: Mapping[str, str], progress: Progress
) -> tuple[list[RankedSystem], list[str]]:
    """Read the runs of every system, as they were when the evaluation was requested.

    Also return notes about ids that are not measured.
    """
    progress.step = "Reading the runs"
    ranked: list[RankedSystem] = []
    notes: dict[str, None] = {}
    room = MOST_LINES
    for system in job.systems:
        runs = {}
        for side, named in system["runs"].items() if topics else ():
            try:
                run = Run.objects.get(
                    project=job.project, name=named["name"], sha256=named["sha256"]
                )
            except ObjectDoesNotExist as gone:
                raise Refused(f"The run {named['name']} no longer exists.") from gone
            ranking = systems.read_ranking(run, side, topics, room)
            room -= ranking.lines
            runs[side] = ranking.scores
            notes |= dict.fromkeys(ranking.notes)
        ranked.append(RankedSystem(system["name"], runs))
        progress.advance()
    return ranked, list(notes)


def _refuse_without_lines(ranked: Iterable[RankedSystem], topics: Mapping[str, str]) -> None:
    """Refuse a run that ranks none of these topics: only pairs that a machine labelled."""
    for system in ranked:
        for side, run in system.runs.items():
            if topics and not run:
                raise Refused(f"The {side} run of {system.name} names no pair that is judged.")


def _qrels_checksums(written: Manifest) -> dict[str, str]:
    """Return the sha256 of every qrels file that was read."""
    read = {ORIGINAL, CHANGED, REVERSED, WHOLE, CLAIMED, CLAIMED_REVERSED}
    return {entry["name"]: entry["sha256"] for entry in written["files"] if entry["name"] in read}
