"""Find the longest list of conditions in a project."""

from __future__ import annotations

from django.db.models import Count

from annotate.pairs.models import Narrative
from annotate.projects.models import Project


def longest_conditions(project: Project) -> tuple[int, str] | None:
    """Return the largest number of conditions of a narrative, and the id of its pair."""
    current = Narrative.objects.in_force([project.pk])
    counted = current.annotate(conditions_set=Count("conditions")).order_by("-conditions_set")
    return counted.values_list("conditions_set", "pair__pair_id").first()
