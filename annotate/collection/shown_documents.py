"""Which documents of a pool a project shows to judges: one rule, for one row, for queries, in SQL.

Judges of an instruction see those of them that are in its pool (`annotate.pairs.pool`): documents
written for another instruction are not.
"""

from __future__ import annotations

from django.db.models import F, Q

from annotate.projects.models import Project

Scope = Project.Scope


def is_shown_to_judges(project: Project, *, prior: int | None, generated: bool) -> bool:
    """Return whether a project shows judges a candidate with this loaded relevance.

    `generated`: it was written for one instruction.
    """
    if project.judge_scope == Scope.RELEVANT:
        return prior is not None and prior >= project.relevant_from
    return not (generated and project.judge_scope == Scope.EXISTING)


def shown_to_judges(*projects: Project, project: str = "query__project", candidate: str = "") -> Q:
    """Return a filter for rows whose candidate these projects show to judges.

    `project` and `candidate` are the paths from a row to both.
    """
    prior, made_for = f"{candidate}prior_relevance__gte", f"{candidate}made_for__isnull"
    rules = {(asked.judge_scope, asked.relevant_from) for asked in projects}
    if len(rules) > 1:
        # Each row follows the rules of its own project.
        scope = f"{project}__judge_scope"
        return (
            Q(**{scope: Scope.POOL})
            | Q(**{scope: Scope.EXISTING, made_for: True})
            | Q(**{scope: Scope.RELEVANT, prior: F(f"{project}__relevant_from")})
        )
    for scope, relevant_from in rules:
        if scope == Scope.RELEVANT:
            return Q(**{prior: relevant_from})
        if scope == Scope.EXISTING:
            return Q(**{made_for: True})
    return Q()


def shown_to_judges_sql(project: Project, candidate: str) -> str:
    """Return a condition for candidates that the project shows to judges, by the table's alias."""
    if project.judge_scope == Scope.RELEVANT:
        return f"{candidate}.prior_relevance >= {int(project.relevant_from)}"
    return f"{candidate}.made_for_id IS NULL" if project.judge_scope == Scope.EXISTING else "1 = 1"
