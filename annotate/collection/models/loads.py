"""Files that come in, each as a job."""

from __future__ import annotations

from typing import Any, ClassVar

from django.db import models
from django.db.models import Q
from django.urls import reverse
from django.utils.translation import gettext

from annotate.collection.models.runs import Run
from annotate.projects.models import Membership, Project
from jobs.models import Job


class Load(Job):
    """An uploaded file on its way in: a preview first, loaded once a lead has confirmed it."""

    task: ClassVar[str] = "annotate.load"

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="loads")
    by = models.ForeignKey(Membership, on_delete=models.PROTECT, related_name="loads")
    format = models.CharField(max_length=40)
    file = models.FileField(upload_to="uploads", max_length=300)
    # As the person's computer called it.
    file_name = models.CharField(max_length=255)
    # The value in the file that means "no grade", if there is one.
    no_grade = models.IntegerField(null=True, blank=True)
    # Under which narratives a run ranks documents; "" leaves it to the ids on its lines.
    side = models.CharField(max_length=10, choices=Run.Side, blank=True, default="", db_default="")
    # Whether a lead had rows loaded that break rules of the project's kind.
    despite_rules = models.BooleanField(default=False, db_default=False)
    # A preview looks through the file and writes nothing.
    dry_run = models.BooleanField(default=True)
    # The preview a lead confirmed: each is confirmed once at most.
    preview = models.OneToOneField(
        "self", null=True, blank=True, on_delete=models.PROTECT, related_name="confirmed_as"
    )
    # What was read and what would change (or has changed), and the bad lines, as
    # `annotate.collection.intake` reports them.
    report: models.JSONField[dict[str, Any] | None, dict[str, Any] | None] = models.JSONField(
        null=True, blank=True
    )

    class Meta:
        constraints: ClassVar = [
            *Job.Meta.constraints,
            # What writes was previewed and confirmed; what only looks was not.
            models.CheckConstraint(
                name="load_writes_after_preview",
                condition=Q(dry_run=True, preview__isnull=True)
                | Q(dry_run=False, preview__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return self.file_name

    def get_absolute_url(self) -> str:
        """Where its preview and its result are shown."""
        return reverse("annotate:load", args=[self.project.slug, self.pk])

    def why_not_again(self) -> str:
        return "" if self.file else gettext("Its file was put away. Upload it again.")
