"""Celery tasks of this app."""

from __future__ import annotations

from celery import shared_task

from exporters.evaluations.models import Evaluation
from exporters.exports import actions
from exporters.exports.models import Export
from exporters.releases import actions as releasing
from exporters.releases.models import Release
from jobs.runner import run


@shared_task(name=Export.task)
def build(pk: int) -> None:
    """Write the export with this key."""
    run(Export, pk, actions.build)


@shared_task(name=Release.task)
def release(pk: int) -> None:
    """Make the release with this key."""
    run(Release, pk, releasing.build)


@shared_task(name=Evaluation.task)
def evaluate(pk: int) -> None:
    """Measure the systems of the evaluation with this key."""
    from exporters.evaluations.measuring import compute_evaluation

    run(Evaluation, pk, compute_evaluation)
