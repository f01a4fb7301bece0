"""A long piece of work is a row: its state is the truth, whatever the broker remembers."""

from __future__ import annotations

from datetime import datetime
from typing import ClassVar

from django.apps import apps
from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from jobs.about import current_request


class Job(models.Model):
    """A piece of work that a worker does. Subclasses add what it is about and name its task."""

    class State(models.TextChoices):
        """Where the work stands."""

        QUEUED = "queued", _("Waiting")
        RUNNING = "running", _("Running")
        DONE = "done", _("Done")
        FAILED = "failed", _("Failed")
        CANCELLED = "cancelled", _("Cancelled")

    # The name of the Celery task that does it.
    task: ClassVar[str]

    state = models.CharField(max_length=10, choices=State, default=State.QUEUED)
    requested_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    requested_at = models.DateTimeField(default=timezone.now)
    published_at = models.DateTimeField(null=True, blank=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    # Who works on it, and until when that is to be believed without a sign of life.
    claim = models.UUIDField(null=True, blank=True, default=None)
    lease_until = models.DateTimeField(null=True, blank=True)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    cancel_requested_at = models.DateTimeField(null=True, blank=True)
    step = models.CharField(max_length=200, blank=True)
    step_began_at = models.DateTimeField(null=True, blank=True)
    done = models.PositiveBigIntegerField(default=0)
    total = models.PositiveBigIntegerField(null=True, blank=True)
    # What went wrong, in a sentence for the person who asked for the work.
    error = models.TextField(blank=True)
    # The request that asked for it, by the id on the log's lines; the work's own lines carry it on.
    request = models.UUIDField(null=True, blank=True, editable=False, default=current_request)

    class Meta:
        abstract = True
        constraints: ClassVar = [
            # A running job has begun and is somebody's, for a time; any other is nobody's.
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
            # A job is finished at a moment, and only then.
            models.CheckConstraint(
                name="%(app_label)s_%(class)s_finished_at_its_end",
                condition=Q(state__in=["queued", "running"], finished_at__isnull=True)
                | Q(state__in=["done", "failed", "cancelled"], finished_at__isnull=False),
            ),
            # What failed says why, and nothing else does.
            models.CheckConstraint(
                name="%(app_label)s_%(class)s_failed_says_why",
                condition=Q(state="failed") & ~Q(error="") | ~Q(state="failed") & Q(error=""),
            ),
            # Nothing is cancelled unasked.
            models.CheckConstraint(
                name="%(app_label)s_%(class)s_cancelled_when_asked",
                condition=~Q(state="cancelled") | Q(cancel_requested_at__isnull=False),
            ),
        ]

    @property
    def is_over(self) -> bool:
        """Whether nothing more will happen to it."""
        return self.state in {self.State.DONE, self.State.FAILED, self.State.CANCELLED}

    def seconds_left(self, now: datetime) -> float | None:
        """Guess how long the step under way will still take, at its speed so far; None until a part
        of it tells.
        """
        began = self.step_began_at
        if self.state != self.State.RUNNING or began is None or not self.total or not self.done:
            return None
        return (now - began).total_seconds() * (self.total - self.done) / self.done

    @classmethod
    def label(cls) -> str:
        """What log, commands and addresses call jobs of this kind, as in exporters.export."""
        return cls._meta.label_lower

    def why_not_again(self) -> str:
        """Say in a sentence why it cannot be done again once it failed; "" where it can."""
        return ""


class Heartbeat(models.Model):
    """The last signs of life of a worker."""

    worker = models.CharField(max_length=200, unique=True)
    # When it last took something from the broker: what is asked for gets done. Null: not yet.
    at = models.DateTimeField(null=True, blank=True, default=None)
    # When its process last said that it is there, also while all its hands are at work.
    seen_at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return self.worker


def job_models() -> list[type[Job]]:
    """Return every kind of job that any room has, in the order of the rooms."""
    return [
        model
        for model in apps.get_models()
        if issubclass(model, Job) and not model._meta.abstract and not model._meta.proxy
    ]
