"""Which grades a project has given: its rules must keep them."""

from __future__ import annotations

from annotate.judgments.models import Adjudication, Judgment
from annotate.projects.models import Project


def grades_in_use(project: Project) -> set[int]:
    """Return the grades of a project's judgments and settling decisions."""
    given = Judgment.objects.filter(annotator__project=project).values_list("relevance")
    settled = Adjudication.objects.filter(by__project=project).values_list("relevance")
    return {value for (value,) in given.union(settled)}


def is_judged(project: Project) -> bool:
    """Whether a project has any judgments."""
    return Judgment.objects.filter(annotator__project=project).exists()
