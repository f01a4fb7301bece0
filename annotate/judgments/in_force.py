"""The answers that count now, their kinds, and the grades in use."""

from __future__ import annotations

from django.db.models import Q, QuerySet

from annotate.collection.answers import AnswerKind, kinds_about_documents
from annotate.collection.models import Candidate
from annotate.collection.shown_documents import shown_to_judges
from annotate.judgments.models import (
    Adjudication,
    ConditionAdjudication,
    Flag,
    Judgment,
    Repeat,
    Statement,
)
from annotate.pairs.pool import judged_narratives
from annotate.projects.models import Project


def answers_in_force(*projects: Project) -> QuerySet[Statement]:
    """Return people's current judgments and final flags of the documents to judge, under current
    narratives.
    """
    return Statement.objects.current().final().of_people().filter(_in_force(*projects))


def judgments_in_force(*projects: Project) -> QuerySet[Judgment]:
    """Return people's current judgments of the documents to judge, under current narratives."""
    return Judgment.objects.current().of_people().filter(_in_force(*projects))


def judgments_in_pools(*projects: Project) -> QuerySet[Judgment]:
    """Return people's current judgments under current narratives, also of documents that the
    projects do not put before their judges: their grades are in the qrels as well.
    """
    judged = Judgment.objects.current().of_people()
    return judged.filter(in_pools(), narrative__in=judged_narratives(*projects))


def flags_in_force(*projects: Project) -> QuerySet[Flag]:
    """Return people's current flags of the documents to judge, under current narratives."""
    return Flag.objects.current().of_people().filter(_in_force(*projects))


def final_flags(*projects: Project) -> QuerySet[Flag]:
    """Return the flags in force other than "later"."""
    return flags_in_force(*projects).exclude(flag=Flag.Kind.LATER)


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


def grades_in_use(project: Project) -> set[int]:
    """Return the grades in a project's judgments, repeats, settling decisions and checks."""
    judged = Statement.objects.filter(annotator__project=project).values_list("relevance")
    settled = Adjudication.objects.filter(by__project=project).values_list("relevance")
    graded = [
        kind.graded().filter(**{f"{kind.narrative}__pair__project": project})
        for kind in kinds_about_documents()
        if kind.graded is not None
    ]
    others = [rows.values_list("relevance") for rows in graded]
    return {value for (value,) in judged.union(settled, *others) if value is not None}


def is_judged(project: Project) -> bool:
    """Return whether a project has any judgments."""
    return Judgment.objects.filter(annotator__project=project).exists()


CLAIMS = AnswerKind(
    singular="claimed label",
    plural="claimed labels",
    current=lambda: Judgment.objects.current().filter(annotator__is_machine=True),
    candidate="candidate",
    has_evidence=True,
)
ANSWERS = (
    AnswerKind(
        singular="judgment",
        plural="judgments",
        current=lambda: Judgment.objects.current().of_people(),
        candidate="candidate",
        has_evidence=True,
    ),
    CLAIMS,
    AnswerKind(
        singular="flag", plural="flags", current=Flag.objects.current, candidate="candidate"
    ),
    AnswerKind(
        singular="repeat", plural="repeats", current=Repeat.objects.current, candidate="candidate"
    ),
    AnswerKind(
        singular="settling decision",
        plural="settling decisions",
        current=Adjudication.objects.current,
        candidate="candidate",
    ),
    AnswerKind(
        singular="settled condition",
        plural="settled conditions",
        current=ConditionAdjudication.objects.current,
        candidate="candidate",
    ),
)
