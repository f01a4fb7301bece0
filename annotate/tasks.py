"""What workers do for this room."""

from __future__ import annotations

from celery import shared_task

from annotate.collection import loading
from annotate.collection.models import Load
from jobs.runner import run


@shared_task(name=Load.task)
def load(pk: int) -> None:
    """Look through, or load, the file of this row."""
    run(Load, pk, loading.perform_load)
