"""Judgments and flags that count now: current, by people, under the current narratives."""

from __future__ import annotations

from django.db.models import Q, QuerySet

from annotate.collection.models import Candidate
from annotate.collection.shown_documents import shown_to_judges
from annotate.judgments.models import Flag, Judgment
from annotate.pairs.pool import judged_narratives
from annotate.projects.models import Project


def judgments_in_force(*projects: Project) -> QuerySet[Judgment]:
    """Return people's current judgments of the documents to judge, under current narratives."""
    return Judgment.objects.current().of_people().filter(_in_force(*projects))


def final_flags(*projects: Project) -> QuerySet[Flag]:
    """Return people's current flags other than "later", under the current narratives."""
    flags = Flag.objects.current().filter(_in_force(*projects), annotator__is_machine=False)
    return flags.exclude(flag=Flag.Kind.LATER)


def in_pools(candidate: str = "candidate") -> Q:
    """Return a filter for rows whose candidate was not taken out of its pool.

    It excludes the few that were by a subquery: a join would read the candidate of every row.
    """
    removed = Candidate.with_removed.filter(removed_at__isnull=False).values("pk")
    return ~Q(**{f"{candidate}__in": removed})


def _in_force(*projects: Project) -> Q:
    """Return a filter for answers to documents to judge, under the narratives judged now."""
    shown = shown_to_judges(*projects, project="narrative__pair__project", candidate="candidate__")
    return in_pools() & shown & Q(narrative__in=judged_narratives(*projects))
