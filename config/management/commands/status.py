"""`manage.py status`: workers, queues, running and failed jobs, as on the status page."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from datetime import datetime
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError
from django.utils import timezone

from base.commands import RejudgeCommand
from config import installation_status
from jobs import queue
from jobs.models import Job
from jobs.status import worker_status, workers


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
            type=int,
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
        status = _read_status(options["failed"])
        self.stdout.write(json.dumps(status, indent=2) if options["json"] else _as_text(status))
        if not (status["workers"]["take_work"] and status["broker"]["up"]) or status["unapplied"]:
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


def _read_status(failed: int) -> dict[str, Any]:
    now = timezone.now()
    messages = installation_status.count_messages()
    unapplied = installation_status.unapplied_migrations()
    if unapplied:
        # The tables that the rest would read may not exist yet.
        return {
            "unapplied": unapplied,
            "broker": {"up": messages is not None, "messages": messages},
            "workers": {"take_work": False, "seen": []},
            "queues": [],
            "running": [],
            "failed": [],
        }
    return {
        "unapplied": [],
        "broker": {"up": messages is not None, "messages": messages},
        "workers": {
            "take_work": worker_status(now=now).alive,
            "seen": [
                {
                    "name": worker.name,
                    "alive": worker.alive,
                    "seen_at": _iso(worker.seen_at),
                    "took_at": _iso(worker.took_at),
                }
                for worker in workers(now=now)
            ],
        },
        "queues": [
            {**row._asdict(), "oldest": _iso(row.oldest)} for row in installation_status.queues()
        ],
        "running": [_job(job) for job in installation_status.running_jobs()],
        "failed": [_job(job) for job in installation_status.failed_jobs(size=failed)[0]],
    }


def _job(job: Job) -> dict[str, Any]:
    return {
        "kind": job.kind,
        "number": job.pk,
        "about": str(job),
        "project": job.project.slug,
        "asked_by": job.by and job.by.user and job.by.user.get_username(),
        "started_at": _iso(job.started_at),
        "finished_at": _iso(job.finished_at),
        "step": job.step,
        "done": job.done,
        "total": job.total,
        "attempts": job.attempts,
        "error": job.error,
        "request": job.request and job.request.hex,
    }


def _iso(time: datetime | None) -> str | None:
    return time.isoformat(timespec="seconds") if time else None


def _as_text(status: dict[str, Any]) -> str:
    lines = []
    if status["unapplied"]:
        lines.append(
            f"The database is new, or older than the code. Run: {settings.COMMAND} prepare"
        )
    broker = status["broker"]
    if broker["up"]:
        lines.append(f"Broker   answers; {broker['messages']:,} messages waiting")
    else:
        lines.append("Broker   does not answer")
    lines.append(
        "Workers  take work" if status["workers"]["take_work"] else "Workers  do not take work"
    )
    lines += [
        f"  {worker['name']}: {'alive' if worker['alive'] else 'silent'}, last seen "
        f"{worker['seen_at']}, last took work {worker['took_at'] or 'never'}"
        for worker in status["workers"]["seen"]
    ]
    for row in status["queues"]:
        since = f" since {row['oldest']}" if row["oldest"] else ""
        lines.append(
            f"{row['name']}: {row['waiting']:,} waiting{since}, {row['running']:,} running, "
            f"{row['failed']:,} failed"
        )
    for job in status["running"]:
        of_total = f" of {job['total']:,}" if job["total"] else ""
        lines.append(f"Running  {_job_title(job)}: {job['step']}, {job['done']:,}{of_total}")
    for job in status["failed"]:
        lines += [
            f"Failed   {_job_title(job)}, {job['finished_at']}",
            f"         {job['error']}",
            f"         retry: {settings.COMMAND} status --retry {job['number']}",
        ]
    return "\n".join(lines)


def _job_title(job: dict[str, Any]) -> str:
    by = f", requested by {job['asked_by']}" if job["asked_by"] else ""
    return f"{job['kind']} {job['number']} ({job['about']}) in {job['project']}{by}"
