"""Judgments and flags that count now: current, by people, under the current narratives."""

from __future__ import annotations

from functools import lru_cache

from django.db.models import Q, QuerySet

from annotate.collection.models import Candidate
from annotate.judgments.models import Flag, Judgment
from annotate.pairs.pool import OF_EACH, PoolRules, judged_narratives, shown_to_judges
from annotate.projects.models import Project


def judgments_in_force(project: Project) -> QuerySet[Judgment]:
    """Return people's current judgments of the documents to judge, under current narratives."""
    return _judgments_in_force(project.pk, project.judge_scope, project.relevant_from).all()


def final_flags(project: Project) -> QuerySet[Flag]:
    """Return people's current flags other than "later", under the current narratives."""
    return _final_flags(project.pk, project.judge_scope, project.relevant_from).all()


def in_pools(candidate: str = "candidate") -> Q:
    """Return a filter for rows whose candidate was not taken out of its pool.

    It excludes the few that were by a subquery: a join would read the candidate of every row.
    """
    removed = Candidate.with_removed.filter(removed_at__isnull=False).values("pk")
    return ~Q(**{f"{candidate}__in": removed})


def of_existing(candidate: str = "candidate") -> Q:
    """Return a filter for rows whose candidate was not generated for an instruction."""
    generated = Candidate.with_removed.filter(made_for__isnull=False).values("pk")
    return ~Q(**{f"{candidate}__in": generated})


def judgments_that_count(rules: PoolRules) -> QuerySet[Judgment]:
    """Return people's current judgments of documents put before judges by these rules, under any
    narrative.
    """
    return _judgments_that_count(rules.scope, rules.relevant_from).all()


def flags_that_count(rules: PoolRules) -> QuerySet[Flag]:
    """Return people's current flags other than "later" on such documents, under any narrative."""
    return _flags_that_count(rules.scope, rules.relevant_from).all()


# Cached querysets, never evaluated themselves: a page would build each of them many times.


_PUT_BEFORE_JUDGES = shown_to_judges("narrative__pair__project", "candidate__")


@lru_cache(maxsize=256)
def _judgments_in_force(project: int, scope: str, relevant_from: int) -> QuerySet[Judgment]:
    narratives = judged_narratives(Project(pk=project, judge_scope=scope))
    return _judgments_that_count(scope, relevant_from).filter(narrative__in=narratives)


@lru_cache(maxsize=256)
def _final_flags(project: int, scope: str, relevant_from: int) -> QuerySet[Flag]:
    narratives = judged_narratives(Project(pk=project, judge_scope=scope))
    return _flags_that_count(scope, relevant_from).filter(narrative__in=narratives)


@lru_cache(maxsize=32)
def _judgments_that_count(scope: str, relevant_from: int) -> QuerySet[Judgment]:
    judgments = Judgment.objects.current().of_people().filter(in_pools())
    if scope == Project.Scope.RELEVANT:
        return judgments.filter(candidate__prior_relevance__gte=relevant_from)
    if scope == Project.Scope.EXISTING:
        return judgments.filter(of_existing())
    if scope == OF_EACH:
        return judgments.filter(_PUT_BEFORE_JUDGES)
    return judgments


@lru_cache(maxsize=32)
def _flags_that_count(scope: str, relevant_from: int) -> QuerySet[Flag]:
    flags = Flag.objects.current().filter(in_pools(), annotator__is_machine=False)
    if scope == Project.Scope.RELEVANT:
        flags = flags.filter(candidate__prior_relevance__gte=relevant_from)
    elif scope == Project.Scope.EXISTING:
        flags = flags.filter(of_existing())
    elif scope == OF_EACH:
        flags = flags.filter(_PUT_BEFORE_JUDGES)
    return flags.exclude(kind=Flag.Kind.LATER)
