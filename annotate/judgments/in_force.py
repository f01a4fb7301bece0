"""Judgments and flags that count now: current, by people, under the narratives in force."""

from __future__ import annotations

from django.db.models import QuerySet

from annotate.judgments.models import Flag, Judgment
from annotate.pairs.pool import narratives_in_force
from annotate.projects.models import Project


def judgments_in_force(project: Project) -> QuerySet[Judgment]:
    """What people say now of the documents to be judged, under the narratives in force."""
    said = Judgment.objects.current().of_people().filter(narrative__in=narratives_in_force(project))
    if project.judge_scope == Project.Scope.RELEVANT:
        return said.filter(candidate__prior_relevance__gte=project.relevant_from)
    return said


def final_flags(project: Project) -> QuerySet[Flag]:
    """Flags of people that stand instead of a grade, under the narratives in force."""
    flags = Flag.objects.current().filter(
        annotator__is_machine=False, narrative__in=narratives_in_force(project)
    )
    if project.judge_scope == Project.Scope.RELEVANT:
        flags = flags.filter(candidate__prior_relevance__gte=project.relevant_from)
    return flags.exclude(kind=Flag.Kind.LATER)
