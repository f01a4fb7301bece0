from __future__ import annotations

from typing import Any, ClassVar

from django.db import models

from annotate.projects.models import Project
from jobs.models import Job


class Errand(Job):
    """A job for tests."""

    KIND: ClassVar[str] = "errand"
    WORK: ClassVar[str] = "tests.errands.work.work"

    class Length(models.TextChoices):
        QUICK = "quick"
        # Runs until it is cancelled; on the second attempt it is quick.
        LONG_AT_FIRST = "long"

    length = models.CharField(max_length=10, choices=Length, default=Length.QUICK)
    # How often the job was started, and the last process that ran it.
    begun = models.PositiveSmallIntegerField(default=0)
    process = models.PositiveIntegerField(null=True)

    def __str__(self) -> str:
        return f"{self.length} errand {self.pk}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Save the row; its project is one for all errands."""
        self.project, _made = Project.objects.get_or_create(slug="errands", name="Errands")
        super().save(*args, **kwargs)
