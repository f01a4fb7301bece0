"""Figures of a collection and of its runs, as papers tabulate them for a test set."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from django.db.models import Avg, Count, Max

from annotate.collection.models import Candidate, Document, DocumentText
from annotate.judgments.pair_rules import dropped_share
from annotate.projects.models import Project
from exporters.evaluations.system_measures import Collection, RankedSystem
from formats.source import open_source
from formats.trec_topics import read_topics

TOPICS = {"before": "topics.original.txt", "after": "topics.changed.txt"}


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
            when: dict(
                sorted(Counter(str(g) for its in qrels.values() for g in its.values()).items())
            )
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
