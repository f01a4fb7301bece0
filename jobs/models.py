"""Jobs are rows in the database: a row's state is authoritative, not the broker's messages."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any, ClassVar

from django.apps import apps
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Lower
from django.utils import timezone

from jobs.log_context import current_request


class Job(models.Model):
    """Work for a worker: one row, whatever its kind.

    Each kind is a model of its own (multi-table inheritance), which adds its parameters and its
    result, and says what runs it and where its result is shown. `specific` returns its row.
    """

    class State(models.TextChoices):
        """The state of a job."""

        QUEUED = "queued", "Waiting"
        RUNNING = "running", "Running"
        DONE = "done", "Done"
        FAILED = "failed", "Failed"
        CANCELLED = "cancelled", "Cancelled"

    UNDER_WAY: ClassVar = (State.QUEUED, State.RUNNING)

    # What each kind says: its name, which begins its events in the audit log ("export.cancelled");
    # the function that does the work, called with the row of the kind and its `Progress`; the title
    # of its progress; whether people give each a name.
    KIND: ClassVar[str]
    WORK: ClassVar[str]
    TITLE: ClassVar[str] = ""
    NAMED: ClassVar[bool] = False
    # What became of the work if it was cancelled.
    WHEN_CANCELLED: ClassVar[str] = "Nothing was saved."

    kind = models.CharField(max_length=20, editable=False)
    named = models.BooleanField(default=False, editable=False)
    # "" if its kind is not named.
    name = models.CharField(max_length=60, blank=True)
    project = models.ForeignKey("annotate.Project", on_delete=models.PROTECT, related_name="jobs")
    state = models.CharField(max_length=10, choices=State, default=State.QUEUED)
    # Who requested it; null: a command, which does it itself.
    by = models.ForeignKey(
        "annotate.Membership", null=True, blank=True, on_delete=models.PROTECT, related_name="jobs"
    )
    requested_at = models.DateTimeField(default=timezone.now)
    published_at = models.DateTimeField(null=True, blank=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    # The worker's claim, and until when it is valid without being renewed.
    claim = models.UUIDField(null=True, blank=True, default=None)
    lease_until = models.DateTimeField(null=True, blank=True)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    cancel_requested_at = models.DateTimeField(null=True, blank=True)
    step = models.CharField(max_length=200, blank=True)
    step_began_at = models.DateTimeField(null=True, blank=True)
    done = models.PositiveBigIntegerField(default=0)
    total = models.PositiveBigIntegerField(null=True, blank=True)
    # What went wrong, as a sentence for the person who requested the job.
    error = models.TextField(blank=True)
    # The id of the HTTP request that asked for it, as in the log; the job's log lines repeat it.
    request = models.UUIDField(null=True, blank=True, editable=False, default=current_request)

    class Meta:
        constraints: ClassVar = [
            # A running job has started and has a claim and a lease; any other job has neither.
            models.CheckConstraint(
                name="job_running_has_a_lease",
                condition=Q(
                    state="running",
                    claim__isnull=False,
                    lease_until__isnull=False,
                    started_at__isnull=False,
                )
                | ~Q(state="running") & Q(claim__isnull=True, lease_until__isnull=True),
            ),
            # A job has a finish time if and only if it is over.
            models.CheckConstraint(
                name="job_finished_at_its_end",
                condition=Q(state__in=["queued", "running"], finished_at__isnull=True)
                | Q(state__in=["done", "failed", "cancelled"], finished_at__isnull=False),
            ),
            # A job has an error if and only if it failed.
            models.CheckConstraint(
                name="job_failed_says_why",
                condition=Q(state="failed") & ~Q(error="") | ~Q(state="failed") & Q(error=""),
            ),
            # A cancelled job has a time at which cancelling was requested.
            models.CheckConstraint(
                name="job_cancelled_when_asked",
                condition=~Q(state="cancelled") | Q(cancel_requested_at__isnull=False),
            ),
            # A job has a name if and only if its kind is named.
            models.CheckConstraint(
                name="job_has_a_name_if_named",
                condition=Q(named=True) & ~Q(name="") | Q(named=False, name=""),
            ),
            # A name means one pool or release for ever, ignoring case. One that failed or was
            # cancelled leaves its name free.
            models.UniqueConstraint(
                F("project"),
                F("kind"),
                Lower("name"),
                name="job_name_once",
                condition=Q(named=True, state__in=["queued", "running", "done"]),
            ),
            # Two pools at once would count the same documents as new; two releases could not tell
            # their files apart.
            models.UniqueConstraint(
                name="job_one_named_under_way",
                fields=["project", "kind"],
                condition=Q(named=True, state__in=["queued", "running"]),
            ),
        ]
        indexes: ClassVar = [
            # The newest job of a project.
            models.Index(fields=["project", "-id"], name="job_newest"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.pk}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Save the row; a new one is of the kind of its model."""
        if not self.kind:
            self.kind, self.named = self.KIND, self.NAMED
        super().save(*args, **kwargs)

    def get_absolute_url(self) -> str:
        """Return the URL of the page with its progress and its result."""
        raise NotImplementedError

    @property
    def is_over(self) -> bool:
        """Return whether the job is done, failed or cancelled."""
        return self.state not in self.UNDER_WAY

    def title(self) -> str:
        """Return what the worker does, as in "Writing the files"."""
        return self.TITLE

    def seconds_left(self, now: datetime | None = None) -> float | None:
        """Estimate the time left for the current step from its speed so far; None if unknown."""
        now = now or timezone.now()
        began = self.step_began_at
        if self.state != self.State.RUNNING or began is None or not self.total or not self.done:
            return None
        return (now - began).total_seconds() * (self.total - self.done) / self.done

    def name_in_log(self) -> str:
        """Return how the audit log names it."""
        return str(self)

    def discard(self) -> None:
        """Delete what is of no use once it was cancelled before it began."""

    def why_not_retryable(self) -> str:
        """Return why the failed job cannot be retried, as a sentence; "" if it can."""
        return ""


class Heartbeat(models.Model):
    """The last signs of life of one worker."""

    worker = models.CharField(max_length=200, unique=True)
    # When it last took a message from the broker; null: not yet.
    at = models.DateTimeField(null=True, blank=True, default=None)
    # When its process was last alive, even if all its threads are busy.
    seen_at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return self.worker


def job_kinds() -> dict[str, type[Job]]:
    """Return the model of every kind of job, by its name, in the order of the apps."""
    return {
        model.KIND: model
        for model in apps.get_models()
        if issubclass(model, Job) and model is not Job
    }


def specific(jobs: Iterable[Job]) -> list[Job]:
    """Return the jobs, in their order, as rows of their kinds, with project and person.

    Takes one query for each kind among them. A job that was deleted meanwhile is left out.
    """
    jobs = list(jobs)
    rows: dict[int, Job] = {}
    for kind in {job.kind for job in jobs}:
        of_kind = job_kinds()[kind]._default_manager.select_related("project", "by__user")
        rows |= of_kind.in_bulk([job.pk for job in jobs if job.kind == kind])
    return [rows[job.pk] for job in jobs if job.pk in rows]
