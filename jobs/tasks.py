"""What workers do to keep the jobs going; `config/celery.py` says how often."""

from __future__ import annotations

from celery import Task, shared_task

from jobs import reconcile, status


@shared_task(name="jobs.heartbeat", bind=True)
def heartbeat(self: Task[[], None]) -> None:
    """Write down that this worker takes work from the broker and reaches the database."""
    status.beat(self.request.hostname or "unnamed")


@shared_task(name="jobs.reconcile")
def keep_going() -> None:
    """Publish what was forgotten."""
    reconcile.reconcile()
