"""Counts of the answers under each narrative and of each pool, recomputed only after a change.

The number of judgments grows, and pages count them on every request. So database triggers give each
narrative and each pool a revision (`annotate.judgments.models.Revision`): a random number that
changes in every transaction that changes a count. A process caches the counts of a narrative
together with the revision it read before counting; while the database returns the same revision,
the cached counts are valid. A cached count can only be newer than its revision, and is then never
used. The cache is in memory only: no stored count can be wrong, and reading a page writes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

from django.db.models import QuerySet, Sum

from annotate.judgments.models import Revision
from annotate.pairs.models import Narrative
from annotate.pairs.pool import WHOLE_POOL
from annotate.projects.models import Project
from base.current_request import read_once
from base.prepared_queries import Built, prepared

Counted = TypeVar("Counted")
Rules = TypeVar("Rules", bound=Hashable)

# The most narratives that one kind of count caches in a process; then its cache is cleared.
MAX_CACHED = 20_000
_caches: list[dict[Any, Any]] = []


def clear_caches() -> None:
    """Clear every cached count of this process."""
    for known in _caches:
        known.clear()


class NarrativeState(NamedTuple):
    """A narrative and the revision of its answers and candidates; 0 if there never was one."""

    narrative: int
    pair: int
    project: int
    side: str
    revision: int
    # The sum of the keys of machine members: counts of people's answers depend on who is a machine.
    machines: int

    @property
    def key(self) -> int:
        """The key of the counted narrative or query."""
        return self.narrative


class PoolState(NamedTuple):
    """A query and the revision of its pool; 0 if it has none."""

    query: int
    project: int
    revision: int
    machines: int = 0

    @property
    def key(self) -> int:
        """The key of the counted narrative or query."""
        return self.query


class CachedCounts(Generic[Rules, Counted]):
    """One kind of count, cached by narrative or by query.

    `count` takes rules and narratives or queries (by key), and returns counts by key; those with
    nothing to count may be missing. For narratives it may depend only on these arguments, on their
    statements and candidates, and on which members are machines; for queries on their candidates.
    """

    def __init__(self, count: Callable[[Rules, list[int]], Mapping[int, Counted]]) -> None:
        self._count = count
        self._known: dict[tuple[Hashable, ...], tuple[int, Counted | None]] = {}
        _caches.append(self._known)

    def of(
        self, states: Iterable[NarrativeState | PoolState], rules: Mapping[int, Rules]
    ) -> dict[int, Counted]:
        """Return the counts of narratives or queries by key: at most one query per distinct rule.

        `rules`: the rules of the count, by the key of the project.
        """
        found: dict[int, Counted] = {}
        unknown: dict[Rules, list[NarrativeState | PoolState]] = {}
        for state in states:
            if not state.revision:
                continue
            rule = rules[state.project]
            revision, counted = self._known.get(_key(state, rule), (0, None))
            if revision != state.revision:
                unknown.setdefault(rule, []).append(state)
            elif counted is not None:
                found[state.key] = counted
        for rule, several in unknown.items():
            new = self._count(rule, [state.key for state in several])
            found.update(new)
            if len(self._known) > MAX_CACHED:
                self._known.clear()
            for state in several:
                self._known[_key(state, rule)] = (state.revision, new.get(state.key))
        return found


def _key(state: NarrativeState | PoolState, rule: Hashable) -> tuple[Hashable, ...]:
    return state.key, state.machines, rule


def states_in_force(projects: Sequence[Project]) -> list[NarrativeState]:
    """Return the states of the narratives that are judged now in these projects: one query.

    These are the altered narratives and, in projects that judge the whole pool, the originals of
    pairs without an altered one.
    """
    whole_pool = {project.pk for project in projects if project.judge_scope in WHOLE_POOL}
    newest = states_of_newest([project.pk for project in projects])
    rewritten = {one.pair for one in newest if one.side == Narrative.Side.ALTERED}
    return [
        one
        for one in newest
        if one.side == Narrative.Side.ALTERED
        or (
            one.side == Narrative.Side.ORIGINAL
            and one.project in whole_pool
            and one.pair not in rewritten
        )
    ]


def states_of_newest(projects: Sequence[int]) -> list[NarrativeState]:
    """Return the states of the newest narratives of every side in these projects (by key), except
    of removed pairs: one query.
    """
    return read_once(
        (_newest, *projects),
        lambda: [NarrativeState(*row) for row in _newest.rows(project=projects)],
    )


def states_of_every(projects: Sequence[int]) -> list[NarrativeState]:
    """Return the states of every narrative version in these projects (by key), including those of
    removed pairs: one query.
    """
    return [NarrativeState(*row) for row in _every_version.rows(project=projects)]


def states_of_pools(queries: Mapping[int, int]) -> list[PoolState]:
    """Return the states of the pools of these queries: one query.

    `queries`: the project of each query, all by key.
    """
    rows = _of_pools.rows(queries=list(queries))
    return [PoolState(query, queries[query], revision) for query, revision in rows]


@prepared("queries")
def _of_pools(queries: int) -> Built:
    found = Revision.objects.filter(query__in=[queries]).order_by().values_list("query")
    return found.annotate(revision=Sum("value"))


@prepared("project")
def _newest(project: int) -> Built:
    return _with_revisions(Narrative.objects.in_force([project]))


@prepared("project")
def _every_version(project: int) -> Built:
    return _with_revisions(Narrative.objects.filter(pair__project__in=[project]))


def _with_revisions(narratives: QuerySet[Narrative]) -> Built:
    columns = narratives.order_by().values_list(
        "pk", "pair_id", "pair__project_id", "side", "pair__query_id"
    )
    sql, parameters = columns.query.sql_with_params()
    # Revisions of queries and conditions are aggregated before the join. In a subquery for each
    # narrative, SQLite would scan them all each time: it avoids an index of mostly null values.
    # CROSS JOIN makes it begin with the conditions instead of all revisions.
    return (
        f"""
        WITH n (narrative, pair, project, side, query) AS ({sql}),
        of_query (query, value) AS (
            SELECT r.query_id, SUM(r.value) FROM annotate_revision r
            WHERE r.query_id IN (SELECT query FROM n) GROUP BY r.query_id
        ),
        of_condition (narrative, value) AS (
            SELECT k.narrative_id, SUM(r.value) FROM annotate_condition k
            CROSS JOIN annotate_revision r
            WHERE k.narrative_id IN (SELECT narrative FROM n) AND r.condition_id = k.id
            GROUP BY k.narrative_id
        ),
        machines (project, value) AS (
            SELECT m.project_id, SUM(m.id) FROM annotate_membership m
            WHERE m.is_machine AND m.project_id IN (SELECT project FROM n) GROUP BY m.project_id
        )
        SELECT n.narrative, n.pair, n.project, n.side, CAST(
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
