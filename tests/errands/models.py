from __future__ import annotations

from typing import ClassVar

from django.db import models

from jobs.models import Job


class Errand(Job):
    """A job as short or as long, as good or as bad as a test needs it."""

    task: ClassVar[str] = "errands.go"

    class Kind(models.TextChoices):
        QUICK = "quick"
        # Stays until it is called off; on a second attempt it is quick.
        LONG_AT_FIRST = "long"

    kind = models.CharField(max_length=10, choices=Kind, default=Kind.QUICK)
    # How often the work was begun, and by which process last.
    begun = models.PositiveSmallIntegerField(default=0)
    process = models.PositiveIntegerField(null=True)

    def __str__(self) -> str:
        return f"{self.kind} errand {self.pk}"
