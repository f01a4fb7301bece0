"""Script actions of a lead: loading files, choosing topics, requesting pools and results."""

from __future__ import annotations

from typing import Any

from annotate.collection import intake, topics
from annotate.collection.models import Run
from annotate.collection.removal import INSTRUCTIONS, QUERIES
from annotate.guidelines import actions as guidelines
from annotate.loading.load import load_file
from annotate.pools import actions as pools
from annotate.pools import negatives
from annotate.pools.removal import DOCUMENTS
from audit.reports import actions as reports
from base.extras import missing_extra
from config.kind_examples.stage import Stage
from exporters.evaluations import actions as evaluations
from exporters.evaluations.systems import propose_systems
from exporters.exports import actions as exports
from exporters.exports.publishing import set_publication
from exporters.releases import actions as releases


def load(stage: Stage, file: str, format_name: str, **options: Any) -> None:
    """Load a file of the example; `options` are those of `load_file`."""
    report = load_file(
        project=stage.project,
        format_name=format_name,
        # Under its file name only, so that the path of this installation is not revealed.
        file=intake.file_on_disk(str(stage.folder / file))._replace(name=file),
        by=stage.by,
        now=stage.now,
        **options,
    )
    if report.refused:
        raise RuntimeError(str(report.problems[0]))


def write_guideline(stage: Stage, file: str) -> None:
    """Write the next version of the guidelines."""
    latest = stage.project.guidelines.count()
    text = (stage.folder / file).read_text(encoding="utf-8")
    guidelines.write_guideline(text=text, by=stage.by, based_on=latest, now=stage.now)


def draw_topics(stage: Stage, number: int, seed: int, least: int | None = None) -> None:
    """Draw topics; take the others out."""
    topics.draw_topics(
        project=stage.project,
        conditions=topics.Conditions(least=least),
        number=number,
        seed=seed,
        by=stage.by,
        now=stage.now,
    )


def remove_queries(stage: Stage, queries: list[str], reason: str) -> None:
    """Take queries out."""
    QUERIES.remove(
        project=stage.project,
        keys=QUERIES.keys_of(stage.project, queries),
        reason=reason,
        by=stage.by,
        now=stage.now,
    )


def remove_pairs(stage: Stage, pairs: list[str], reason: str) -> None:
    """Take instructions out."""
    INSTRUCTIONS.remove(
        project=stage.project,
        keys=INSTRUCTIONS.keys_of(stage.project, pairs),
        reason=reason,
        by=stage.by,
        now=stage.now,
    )


def remove_documents(stage: Stage, query: str, docs: list[str], reason: str) -> None:
    """Take documents out of the pool of a query."""
    DOCUMENTS.remove(
        project=stage.project,
        keys=DOCUMENTS.keys_of(stage.project, [(query, doc) for doc in docs]),
        reason=reason,
        by=stage.by,
        now=stage.now,
    )


def make_pool(
    stage: Stage, name: str, method: str, runs: list[str], depth: int | None = None
) -> None:
    """Request a pool."""
    recipe = pools.recipe_of(project=stage.project, method=method, runs=runs, depth=depth)
    pools.request_pool(recipe=recipe, name=name, by=stage.by, now=stage.now)


def hard_negatives(stage: Stage, runs: list[str], depth: int) -> None:
    """Choose the systems whose hard negatives a release lists."""
    negatives.choose_hard_negatives(
        project=stage.project, runs=runs, depth=depth, by=stage.by, now=stage.now
    )


def measure(stage: Stage, baseline: str = "") -> None:
    """Request an evaluation of every system with runs, on the current labels.

    `baseline` is the system with which the others are compared. Where ir_measures is not installed,
    the example has no evaluation.
    """
    if missing_extra("evaluation", "The evaluation"):
        return
    runs = list(Run.objects.filter(project=stage.project).order_by("name"))
    evaluations.request_evaluation(
        project=stage.project,
        measured=propose_systems(runs),
        baseline=baseline,
        by=stage.by,
        now=stage.now,
    )


def report_agreement(stage: Stage) -> None:
    """Request an agreement report on the whole project."""
    reports.request_agreement(project=stage.project, by=stage.by, now=stage.now)


def publish(stage: Stage, **changes: Any) -> None:
    """Change the publication settings."""
    set_publication(project=stage.project, changes=changes, by=stage.by, now=stage.now)


def export(stage: Stage, format_name: str) -> None:
    """Request an export."""
    exports.request_export(
        project=stage.project, format_name=format_name, by=stage.by, now=stage.now
    )


def release(stage: Stage, name: str, note: str) -> None:
    """Request a release."""
    releases.request_release(
        project=stage.project, name=name, note=note, by=stage.by, now=stage.now
    )
