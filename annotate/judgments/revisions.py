"""Counts of what was said under each narrative, counted again only where something changed since.

The number of judgments grows, and pages count them at every look. So triggers of the database give
each narrative a revision (`annotate.judgments.models.Revision`): a random number that changes in
the transaction of whatever changes a count. A process keeps what it has counted of a narrative
together with the revision it read before it counted; as long as the database says the same
revision, nothing has changed. What is kept can only be newer than its revision says, and is then
never used. It lies in memory alone: no stored count can be wrong, and no page that is read writes.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

from django.db.models import QuerySet

from annotate.pairs.models import Narrative
from annotate.pairs.pool import common_rules, judged_narratives
from annotate.projects.models import Project
from base.prepared_queries import Built, prepared

Counted = TypeVar("Counted")
Rules = TypeVar("Rules", bound=Hashable)

# So many narratives of one kind of count are kept by a process, then it begins anew.
MOST = 20_000


_every: list[dict[Any, Any]] = []


def forget() -> None:
    """Forget every count of this process, to count all of it again."""
    for known in _every:
        known.clear()


class State(NamedTuple):
    """A narrative and the revision of what is said under it; 0 where nothing ever was."""

    narrative: int
    pair: int
    project: int
    revision: int
    # Who is a machine decides what is counted among people's: the sum of their keys.
    machines: int


class Counts(Generic[Rules, Counted]):
    """One kind of count, by narrative.

    `count` takes rules and narratives (by key), and returns their counts by key; those of which
    there is nothing to count may be missing. It may depend on nothing but these, on whether the
    narrative's statements and candidates count, and on who is a machine.
    """

    def __init__(self, count: Callable[[Rules, list[int]], Mapping[int, Counted]]) -> None:
        self._count = count
        self._known: dict[tuple[Hashable, ...], tuple[int, Counted | None]] = {}
        _every.append(self._known)

    def of(self, states: Iterable[State], rules: Mapping[int, Rules]) -> dict[int, Counted]:
        """Return the counts of narratives by key: at most as many queries as there are different
        rules. `rules`: what the count follows, by the key of the project.
        """
        found: dict[int, Counted] = {}
        unknown: dict[Rules, list[State]] = {}
        for state in states:
            if not state.revision:
                continue
            rule = rules[state.project]
            revision, counted = self._known.get(_key(state, rule), (0, None))
            if revision != state.revision:
                unknown.setdefault(rule, []).append(state)
            elif counted is not None:
                found[state.narrative] = counted
        for rule, several in unknown.items():
            new = self._count(rule, [state.narrative for state in several])
            found.update(new)
            if len(self._known) > MOST:
                self._known.clear()
            for state in several:
                self._known[_key(state, rule)] = (state.revision, new.get(state.narrative))
        return found


def _key(state: State, rule: Hashable) -> tuple[Hashable, ...]:
    return state.narrative, state.machines, rule


def states_in_force(projects: Sequence[Project]) -> list[State]:
    """Return the states of the narratives that are judged now in these projects: one query."""
    if not projects:
        return []
    rules = common_rules(projects)
    rows = _in_force.rows(rules.scope, project=[project.pk for project in projects])
    return [State(*row) for row in rows]


def states_of_newest(projects: Sequence[int]) -> list[State]:
    """Return the states of the newest narratives of every side in these projects (by key), of pairs
    that were not removed: one query.
    """
    return [State(*row) for row in _newest.rows(project=projects)]


def states_of_every(projects: Sequence[int]) -> list[State]:
    """Return the states of every version of the narratives in these projects (by key), of pairs
    that were removed as well: one query.
    """
    return [State(*row) for row in _every_version.rows(project=projects)]


@prepared("project")
def _in_force(scope: str, project: int) -> Built:
    return _with_revisions(judged_narratives(Project(pk=project, judge_scope=scope)))


@prepared("project")
def _newest(project: int) -> Built:
    return _with_revisions(
        Narrative.objects.current().filter(
            pair__project__in=[project], pair__removed_at__isnull=True
        )
    )


@prepared("project")
def _every_version(project: int) -> Built:
    return _with_revisions(Narrative.objects.filter(pair__project__in=[project]))


def _with_revisions(narratives: QuerySet[Narrative]) -> Built:
    columns = narratives.order_by().values_list(
        "pk", "pair_id", "pair__project_id", "pair__query_id"
    )
    sql, parameters = columns.query.sql_with_params()
    # Revisions of queries and conditions are put together before they are joined. Looked up for
    # each narrative, they were all read for each: SQLite takes an index for a bad one if most of
    # its values are null.
    return (
        f"""
        WITH n (narrative, pair, project, query) AS ({sql}),
        of_query (query, value) AS (
            SELECT r.query_id, SUM(r.value) FROM annotate_revision r
            WHERE r.query_id IN (SELECT query FROM n) GROUP BY r.query_id
        ),
        of_condition (narrative, value) AS (
            SELECT k.narrative_id, SUM(r.value) FROM annotate_condition k
            JOIN annotate_revision r ON r.condition_id = k.id
            WHERE k.narrative_id IN (SELECT narrative FROM n) GROUP BY k.narrative_id
        ),
        machines (project, value) AS (
            SELECT m.project_id, SUM(m.id) FROM annotate_membership m
            WHERE m.is_machine AND m.project_id IN (SELECT project FROM n) GROUP BY m.project_id
        )
        SELECT n.narrative, n.pair, n.project, CAST(
            COALESCE((
                SELECT SUM(r.value) FROM annotate_revision r WHERE r.narrative_id = n.narrative
            ), 0) + COALESCE(q.value, 0) + COALESCE(c.value, 0) AS bigint),
            CAST(COALESCE(m.value, 0) AS bigint)
        FROM n
        LEFT JOIN of_query q ON q.query = n.query
        LEFT JOIN of_condition c ON c.narrative = n.narrative
        LEFT JOIN machines m ON m.project = n.project
        """,  # noqa: S608 (Django's own query)
        parameters,
    )
