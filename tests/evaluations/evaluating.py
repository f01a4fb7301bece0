"""A project with two systems of two runs each, small enough to be measured by hand."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

from django.core.files.base import ContentFile

from annotate.models import Run
from exporters.evaluations.actions import request_evaluation
from exporters.evaluations.systems import System
from jobs.runner import run
from tests import factories

# Query q: a and b are relevant before, only b after. Ranks under the query and under the pair.
RUNS = {
    "good.original.run": ("q", "abcd"),
    "good.changed.run": ("q_1", "bcda"),
    "still.original.run": ("q", "abcd"),
    "still.changed.run": ("q_1", "abcd"),
}


def store_run(project: Any, name: str, topic: str, order: str) -> Run:
    """Store a run of one topic, as intake does."""
    lines = "".join(
        f"{topic} Q0 {document} {rank} {9 - rank} {name}\n"
        for rank, document in enumerate(order, 1)
    )
    side = Run.Side.ORIGINAL if topic == "q" else Run.Side.ALTERED
    made = Run(project=project, name=name, tag=name, sha256=f"{len(lines):064}", side=side)
    made.file.save(f"{project.pk}/{name}", ContentFile(lines.encode()), save=False)
    made.save()
    return made


def scene() -> SimpleNamespace:
    """Make one judged pair, q_1, and the runs."""
    project = factories.project("tides", overlap_judge=1)
    carla, ada = factories.lead(project), factories.member(project, "ada")
    query = factories.query(project, "q")
    pool = {
        doc: factories.candidate(query, doc, prior)
        for doc, prior in {"a": 1, "b": 1, "c": 0, "d": 0}.items()
    }
    pair = factories.pair(query, pair_id="q_1")
    narrative = factories.altered(pair)
    for doc, grade in {"a": 0, "b": 1, "c": 0, "d": 0}.items():
        factories.judgment(narrative, pool[doc], ada, grade)
    runs = {name: store_run(project, name, *its) for name, its in RUNS.items()}
    return SimpleNamespace(
        project=project, carla=carla, ada=ada, pair=pair, pool=pool, narrative=narrative, runs=runs
    )


def both_systems(made: SimpleNamespace) -> list[System]:
    """Return the two systems."""
    return [
        System(
            name,
            {
                "original": made.runs[f"{name}.original.run"],
                "changed": made.runs[f"{name}.changed.run"],
            },
        )
        for name in ("good", "still")
    ]


def make_evaluation(made: SimpleNamespace, **fields: Any) -> Any:
    """Make an evaluation at once, as a worker would."""
    arguments: dict[str, Any] = {"baseline": "still", "by": made.carla, **fields}
    if "measured" not in arguments:
        arguments["measured"] = both_systems(made)
    with patch("jobs.queue.publish"), patch("jobs.runner.PULSE", 3_600):
        evaluation = request_evaluation(project=made.project, **arguments)
        run(evaluation.pk)
    evaluation.refresh_from_db()
    return evaluation
