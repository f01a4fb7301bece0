"""The task that runs a job, and those that keep jobs going.

`config/celery.py` has the schedule of the latter.
"""

from __future__ import annotations

from celery import Task, shared_task

from jobs import queue, runner, status


@shared_task(name=queue.TASK)
def run(pk: int) -> None:
    """Run the job with this key, unless it is over or already running."""
    runner.run(pk)


@shared_task(name="jobs.heartbeat", bind=True)
def heartbeat(self: Task[[], None]) -> None:
    """Record that this worker takes messages from the broker and reaches the database."""
    status.record_heartbeat(self.request.hostname or "unnamed")


@shared_task(name="jobs.reconcile")
def reconcile_jobs() -> None:
    """Publish forgotten jobs again."""
    queue.reconcile()
