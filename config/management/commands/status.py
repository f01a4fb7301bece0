"""`manage.py status`: workers, queues, running and failed jobs, as on the status page."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from datetime import datetime
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError

from base.commands import RejudgeCommand, number_within
from config import installation_status
from config.api import StatusSerializer
from jobs import queue
from jobs.models import Job


class Command(RejudgeCommand):
    """Exits with 0 if jobs are being done, else with 1."""

    help = (
        "Show workers, queues, running jobs and failed jobs. Exits with 1 if no worker takes work, "
        "the broker does not answer, or the database is older than the code."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add the options for the output, and for the job to retry."""
        parser.add_argument("--json", action="store_true", help="as JSON, for programs")
        parser.add_argument(
            "--failed",
            type=number_within(1, 1_000),
            default=10,
            metavar="N",
            help="number of failed jobs to show (%(default)s)",
        )
        parser.add_argument(
            "--retry",
            type=int,
            metavar="NUMBER",
            help="retry a failed job by its number, as in --retry 7",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Show the status, or retry a job."""
        if options["retry"] is not None:
            self._retry(options["retry"])
            return
        status = installation_status.read_status(failed=options["failed"])
        if options["json"]:
            self.stdout.write(json.dumps(StatusSerializer(status).data, indent=2))
        else:
            self.stdout.write(_as_text(status))
        if not status.is_well:
            raise SystemExit(1)

    def _retry(self, number: int) -> None:
        job = installation_status.find_job(number)
        if job is None:
            raise CommandError(f"There is no job {number}.")
        try:
            installation_status.retry_job(job=job, by=None)
        except queue.CannotRetry as no:
            raise CommandError(str(no)) from no
        self.stdout.write(f"{job.kind} {number} waits for a worker.")


def _iso(time: datetime | None) -> str | None:
    return time.isoformat(timespec="seconds") if time else None


def _as_text(status: installation_status.Status) -> str:
    lines = []
    if status.unapplied:
        lines.append(
            f"The database is new, or older than the code. Run: {settings.COMMAND} prepare"
        )
    if status.messages is None:
        lines.append("Broker   does not answer")
    else:
        lines.append(f"Broker   answers; {status.messages:,} messages waiting")
    lines.append("Workers  take work" if status.worker.alive else "Workers  do not take work")
    lines += [
        f"  {worker.name}: {'alive' if worker.alive else 'silent'}, last seen "
        f"{_iso(worker.seen_at)}, last took work {_iso(worker.took_at) or 'never'}"
        for worker in status.workers
    ]
    for row in status.queues:
        since = f" since {_iso(row.oldest)}" if row.oldest else ""
        lines.append(
            f"{row.name}: {row.waiting:,} waiting{since}, {row.running:,} running, "
            f"{row.failed:,} failed"
        )
    for job in status.running:
        of_total = f" of {job.total:,}" if job.total else ""
        lines.append(f"Running  {_job_title(job)}: {job.step}, {job.done:,}{of_total}")
    for job in status.failed:
        lines += [
            f"Failed   {_job_title(job)}, {_iso(job.finished_at)}",
            f"         {job.error}",
            f"         retry: {settings.COMMAND} status --retry {job.pk}",
        ]
    return "\n".join(lines)


def _job_title(job: Job) -> str:
    by = f", requested by {job.by.user.get_username()}" if job.by and job.by.user else ""
    return f"{job.kind} {job.pk} ({job}) in {job.project.slug}{by}"
