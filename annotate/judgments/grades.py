"""The grades that are in use in a project, which its rules must keep."""

from __future__ import annotations

from annotate.judgments.models import Adjudication, Judgment
from annotate.projects.models import Project


def grades_in_use(project: Project) -> set[int]:
    """Return the grades in a project's judgments and settling decisions."""
    judged = Judgment.objects.filter(annotator__project=project).values_list("relevance")
    settled = Adjudication.objects.filter(by__project=project).values_list("relevance")
    return {value for (value,) in judged.union(settled)}


def is_judged(project: Project) -> bool:
    """Return whether a project has any judgments."""
    return Judgment.objects.filter(annotator__project=project).exists()
