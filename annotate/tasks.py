"""Celery tasks of this app."""

from __future__ import annotations

from celery import shared_task

from annotate.collection import load_batches
from annotate.collection.models import Load
from annotate.overview.notice_mail import send_digests
from annotate.pools import actions as pooling
from annotate.pools.models import Pool
from jobs.runner import run


@shared_task(name=Load.task)
def load(pk: int) -> None:
    """Preview or load the file of this row."""
    run(Load, pk, load_batches.perform)


@shared_task(name=Pool.task)
def pool(pk: int) -> None:
    """Make the pool of this row."""
    run(Pool, pk, pooling.make_pool)


@shared_task(name="annotate.notices")
def notices() -> None:
    """Mail new notices to everybody who asked for mail and got none within a day."""
    send_digests()
