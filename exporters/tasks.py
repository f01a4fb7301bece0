"""What workers do for this room."""

from __future__ import annotations

from celery import shared_task

from exporters import actions
from exporters.models import Export
from jobs.runner import run


@shared_task(name=Export.task)
def build(pk: int) -> None:
    """Write the export of this row."""
    run(Export, pk, actions.build)
