"""Jobs are rows in the database: a row's state is authoritative, not the broker's messages."""

from __future__ import annotations

from datetime import datetime
from typing import ClassVar

from django.apps import apps
from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from jobs.about import current_request


class Job(models.Model):
    """Work for a worker. Subclasses add their own fields and name the task."""

    class State(models.TextChoices):
        """The state of a job."""

        QUEUED = "queued", "Waiting"
        RUNNING = "running", "Running"
        DONE = "done", "Done"
        FAILED = "failed", "Failed"
        CANCELLED = "cancelled", "Cancelled"

    # The name of the Celery task that runs it.
    task: ClassVar[str]
    # Its name in addresses, and the first word of its events in the audit log: "export.cancelled".
    # "": a job of no project.
    event: ClassVar[str] = ""

    state = models.CharField(max_length=10, choices=State, default=State.QUEUED)
    requested_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
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
        abstract = True
        constraints: ClassVar = [
            # A running job has started and has a claim and a lease; any other job has neither.
            models.CheckConstraint(
                name="%(app_label)s_%(class)s_running_has_a_lease",
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
                name="%(app_label)s_%(class)s_finished_at_its_end",
                condition=Q(state__in=["queued", "running"], finished_at__isnull=True)
                | Q(state__in=["done", "failed", "cancelled"], finished_at__isnull=False),
            ),
            # A job has an error if and only if it failed.
            models.CheckConstraint(
                name="%(app_label)s_%(class)s_failed_says_why",
                condition=Q(state="failed") & ~Q(error="") | ~Q(state="failed") & Q(error=""),
            ),
            # A cancelled job has a time at which cancelling was requested.
            models.CheckConstraint(
                name="%(app_label)s_%(class)s_cancelled_when_asked",
                condition=~Q(state="cancelled") | Q(cancel_requested_at__isnull=False),
            ),
        ]

    def get_absolute_url(self) -> str:
        """Return the URL of the page with its progress and its result."""
        raise NotImplementedError

    @property
    def is_over(self) -> bool:
        """Return whether the job is done, failed or cancelled."""
        return self.state in {self.State.DONE, self.State.FAILED, self.State.CANCELLED}

    def seconds_left(self, now: datetime) -> float | None:
        """Estimate the time left for the current step from its speed so far; None if unknown."""
        began = self.step_began_at
        if self.state != self.State.RUNNING or began is None or not self.total or not self.done:
            return None
        return (now - began).total_seconds() * (self.total - self.done) / self.done

    @classmethod
    def label(cls) -> str:
        """Return the name of this kind of job in logs, commands and addresses: exporters.export."""
        return cls._meta.label_lower

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


def job_models() -> list[type[Job]]:
    """Return every kind of job of all apps, in the order of the apps."""
    return [
        model
        for model in apps.get_models()
        if issubclass(model, Job) and not model._meta.abstract and not model._meta.proxy
    ]
