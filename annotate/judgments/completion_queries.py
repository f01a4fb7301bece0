"""Prepared queries for `completion`: work that is wanted, answered and reviewed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from django.db.models import Count, Exists, OuterRef, QuerySet

from annotate.collection.models import Candidate
from annotate.judgments.in_force import (
    flags_that_count,
    judgments_in_force,
    judgments_that_count,
)
from annotate.judgments.models import Flag, Judgment, RejudgeRequest
from annotate.pairs.models import InstructionPair
from annotate.pairs.pool import (
    PoolRules,
    common_rules,
    in_scope_of_any,
    judged_narratives,
    pairs_with_pool,
)
from annotate.projects.models import Project
from base.prepared_queries import Built, Prepared, count_of, prepared

# Returns a query of submitted reviews, whose rows have `of_pair` and `of_member`: those of the
# current altered narratives of projects (by key), or for None of any narrative. Reviews belong to
# an app above this one, which registers the function.
ReviewSource = Callable[[Sequence[int] | None], QuerySet[Any]]
_reviews: list[ReviewSource] = []


def register_reviews(provider: ReviewSource) -> None:
    """Register the source of reviews; called once, when the app that has them starts."""
    if provider not in _reviews:
        _reviews.append(provider)


def reviews_in_force(projects: Sequence[int]) -> QuerySet[Any]:
    """Return the submitted reviews of current narratives, with `of_pair` and `of_member`."""
    return _reviews[0](projects)


def submitted_reviews() -> QuerySet[Any]:
    """Return the submitted reviews of any narrative, with `of_pair` and `of_member`."""
    return _reviews[0](None)


def run_by_rules(
    query: Prepared, projects: Sequence[Project], **values: Any
) -> list[tuple[Any, ...]]:
    """Run a query with the common rules of one or more projects (`common_rules`)."""
    rules = common_rules(projects)
    if rules.scope == Project.Scope.RELEVANT:
        values["relevant_from"] = rules.relevant_from
    return query.rows(rules.scope, project=[one.pk for one in projects], **values)


def _project_stub(scope: str, project: int, relevant_from: int) -> Project:
    """Return an unsaved project, or several, with only the rules set."""
    return PoolRules(scope, relevant_from).stub(project)


def _answers_cte(judgments: QuerySet[Judgment], flags: QuerySet[Flag]) -> tuple[str, list[Any]]:
    """Return the SQL of `WITH answered (narrative, candidate, annotator)` and its parameters.

    A person with both a judgment and a flag on a document is one row.
    """
    columns = ("narrative_id", "candidate_id", "annotator_id")
    same = {name: OuterRef(name) for name in columns}
    judged = Judgment.objects.current().filter(**same)
    parts: list[str] = []
    parameters: list[Any] = []
    # Duplicates are removed here, where there are few flags: a UNION would sort both long lists.
    for rows in (judgments, flags.filter(~Exists(judged))):
        sql, more = rows.order_by().values_list(*columns).query.sql_with_params()
        parts.append(sql)
        parameters += more
    answered = " UNION ALL ".join(parts)
    return f"WITH answered (narrative, candidate, annotator) AS ({answered})", parameters


@prepared("project", "relevant_from")
def pairs_ready(scope: str, project: int, relevant_from: int) -> Built:
    """Return the pairs that can be judged: pair, query, project."""
    ready = pairs_with_pool(_project_stub(scope, project, relevant_from))
    return ready.order_by("pk").values_list("pk", "query_id", "project_id")


@prepared("project", "relevant_from", "queries")
def pairs_ready_of(scope: str, project: int, relevant_from: int, queries: int) -> Built:
    """Return the pairs of these queries that can be judged: pair, query, project."""
    ready = pairs_with_pool(_project_stub(scope, project, relevant_from)).filter(
        query__in=[queries]
    )
    return ready.order_by("pk").values_list("pk", "query_id", "project_id")


@prepared("relevant_from", "queries")
def documents_of_queries(scope: str, relevant_from: int, queries: int) -> Built:
    """Count the documents to judge: query, the pair they were made for or None, documents."""
    candidates = Candidate.objects.filter(query__in=[queries])
    found = in_scope_of_any(PoolRules(scope, relevant_from).stub(0), candidates)
    return found.order_by().values_list("query_id", "made_for_id").annotate(n=Count("pk"))


@prepared("relevant_from", "narratives")
def documents_by_answers(scope: str, relevant_from: int, narratives: int) -> Built:
    """Count documents by their number of people's answers: narrative, answers, documents."""
    with_answered, parameters = _statements_under(scope, relevant_from, narratives)
    sql = f"""
        {with_answered}, counted (narrative, candidate, answers) AS (
            SELECT narrative, candidate, COUNT(*) FROM answered GROUP BY narrative, candidate
        )
        SELECT narrative, answers, COUNT(*) FROM counted GROUP BY narrative, answers
    """  # noqa: S608 (Django's own query)
    return sql, parameters


@prepared("relevant_from", "narratives")
def answers_of_people(scope: str, relevant_from: int, narratives: int) -> Built:
    """Count people's answers under each of these narratives: narrative, person, answers."""
    with_answered, parameters = _statements_under(scope, relevant_from, narratives)
    sql = f"""
        {with_answered}
        SELECT narrative, annotator, COUNT(*) FROM answered GROUP BY narrative, annotator
    """  # noqa: S608 (Django's own query)
    return sql, parameters


def _statements_under(scope: str, relevant_from: int, narratives: int) -> tuple[str, list[Any]]:
    rules, under = PoolRules(scope, relevant_from), {"narrative__in": [narratives]}
    return _answers_cte(
        judgments_that_count(rules).filter(**under), flags_that_count(rules).filter(**under)
    )


@prepared("project")
def count_alive(project: int) -> Built:
    """Count the pairs that are not removed."""
    return count_of(InstructionPair.objects.filter(project=project).alive())


@prepared("project")
def count_to_rewrite(project: int) -> Built:
    """Count the pairs that need rewriting."""
    return count_of(InstructionPair.objects.filter(project=project).to_rewrite())


@prepared("pairs")
def pairs_to_rewrite_of(pairs: int) -> Built:
    """Return which of these pairs need rewriting."""
    return InstructionPair.objects.filter(pk__in=[pairs]).to_rewrite().values_list("pk")


@prepared("project", "relevant_from", "pairs")
def narratives_of_pairs(scope: str, project: int, relevant_from: int, pairs: int) -> Built:
    """Return the current narratives of these pairs: pair, then the fields of `JudgedNarrative`."""
    found = judged_narratives(_project_stub(scope, project, relevant_from)).filter(pair__in=[pairs])
    return found.values_list(
        "pair_id", "pk", "side", "version", "pair__query_id", "pair__project_id"
    )


@prepared("project", "relevant_from", "pairs", "people")
def count_rejudge_requests(
    scope: str, project: int, relevant_from: int, pairs: int, people: int
) -> Built:
    """Count the documents that these people are asked to rejudge: pair, person, documents."""
    # A judgment has at most one request that is not withdrawn. Requests are few: filter by them
    # first.
    judgments = judgments_in_force(_project_stub(scope, project, relevant_from)).filter(
        pk__in=RejudgeRequest.objects.not_withdrawn().values("judgment"),
        narrative__pair__in=[pairs],
        annotator__in=[people],
    )
    return (
        judgments.order_by()
        .values_list("narrative__pair_id", "annotator_id")
        .annotate(n=Count("pk"))
    )


@prepared("project")
def pairs_to_review(project: int) -> Built:
    """Return the pairs that can be reviewed."""
    return InstructionPair.objects.filter(project=project).to_review().values_list("pk")


@prepared("project")
def pairs_reviewed(project: int) -> Built:
    """Return the pair of each submitted review."""
    return reviews_in_force([project]).values_list("of_pair")
