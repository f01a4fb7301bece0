"""Celery tasks of this app."""

from __future__ import annotations

from celery import shared_task

from annotate.overview.notices import send_digests


@shared_task(name="annotate.notices")
def notices() -> None:
    """Mail new notices to everybody who asked for mail and got none within a day."""
    send_digests()
