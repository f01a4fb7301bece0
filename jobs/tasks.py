"""Periodic tasks that keep jobs going; `config/celery.py` has their schedule."""

from __future__ import annotations

from celery import Task, shared_task

from jobs import reconcile, status


@shared_task(name="jobs.heartbeat", bind=True)
def heartbeat(self: Task[[], None]) -> None:
    """Record that this worker takes messages from the broker and reaches the database."""
    status.record_heartbeat(self.request.hostname or "unnamed")


@shared_task(name="jobs.reconcile")
def reconcile_jobs() -> None:
    """Publish forgotten jobs again."""
    reconcile.reconcile()
