from __future__ import annotations

from typing import ClassVar

from django.db import models

from jobs.models import Job


class Errand(Job):
    """A job for tests."""

    task: ClassVar[str] = "errands.go"

    class Kind(models.TextChoices):
        QUICK = "quick"
        # Runs until it is cancelled; on the second attempt it is quick.
        LONG_AT_FIRST = "long"

    kind = models.CharField(max_length=10, choices=Kind, default=Kind.QUICK)
    # How often the job was started, and the last process that ran it.
    begun = models.PositiveSmallIntegerField(default=0)
    process = models.PositiveIntegerField(null=True)

    def __str__(self) -> str:
        return f"{self.kind} errand {self.pk}"
