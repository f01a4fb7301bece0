"""Counts of the answers under each narrative, recomputed only after a change.

The number of judgments grows, and pages count them on every request. So database triggers give each
narrative and each pool a revision (`annotate.judgments.models.Revision`): a random number that
changes in every transaction that changes a count. A process caches the counts of a narrative
together with the revision it read before counting; while the database returns the same revision,
the cached counts are valid. A cached count can only be newer than its revision, and is then never
used. The cache is in memory only: no stored count can be wrong, and reading a page writes nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

from django.db.models import QuerySet, Sum, Value

from annotate.judgments.models import Revision
from annotate.pairs.models import Narrative
from annotate.pairs.pool import judged_narratives
from annotate.projects.models import Project
from base.requests import read_once

Counted = TypeVar("Counted")
Rules = TypeVar("Rules", bound=Hashable)

# Above this number of narratives, a kind of count keeps in a process only those that were asked for
# last: a project may have more of them.
MAX_CACHED = 20_000
_caches: list[dict[Any, Any]] = []


def clear_caches() -> None:
    """Clear every cached count of this process."""
    for cache in _caches:
        cache.clear()


class NarrativeState(NamedTuple):
    """A narrative and the revision of its answers and candidates; 0 if there never was one."""

    narrative: int
    pair: int
    query: int
    project: int
    revision: int


class CachedCounts(Generic[Rules, Counted]):
    """One kind of count, cached by narrative.

    `count` takes rules and narratives (by key), and returns counts by narrative; those with nothing
    to count may be missing. It may depend only on these arguments, and on the statements and
    candidates of these narratives.
    """

    def __init__(self, count: Callable[[Rules, list[int]], Mapping[int, Counted]]) -> None:
        self._count = count
        self._cache: dict[tuple[int, Rules], tuple[int, Counted | None]] = {}
        _caches.append(self._cache)

    def of(self, states: Iterable[NarrativeState], rules: Rules) -> dict[int, Counted]:
        """Return the counts by narrative."""
        states = list(states)
        counts: dict[int, Counted] = {}
        outdated: list[NarrativeState] = []
        for state in states:
            revision, counted = self._cache.get((state.narrative, rules), (0, None))
            if revision != state.revision:
                outdated.append(state)
            elif counted is not None:
                counts[state.narrative] = counted
        if outdated:
            new = self._count(rules, [state.narrative for state in outdated])
            counts.update(new)
            for state in outdated:
                key = (state.narrative, rules)
                self._cache[key] = (state.revision, new.get(state.narrative))
            if len(self._cache) > MAX_CACHED:
                # Another thread may do the same meanwhile.
                asked_last = {(state.narrative, rules) for state in states}
                for key in set(self._cache) - asked_last:
                    self._cache.pop(key, None)
        return counts


def states_in_force(projects: Sequence[Project]) -> list[NarrativeState]:
    """Return the states of the narratives that are judged now in these projects: two queries, once
    in a request.
    """
    return _read_states("in force", projects, judged_narratives(*projects))


def states_of_newest(projects: Sequence[Project]) -> list[NarrativeState]:
    """Return the states of the newest narratives of every side in these projects, except of removed
    pairs: two queries, once in a request.
    """
    newest = Narrative.objects.in_force([project.pk for project in projects])
    return _read_states("newest", projects, newest)


def states_of_every(projects: Sequence[Project]) -> list[NarrativeState]:
    """Return the states of every narrative version in these projects, including those of removed
    pairs: two queries, once in a request.
    """
    return _read_states("every", projects, Narrative.objects.filter(pair__project__in=projects))


def _read_states(
    which: str, projects: Sequence[Project], narratives: QuerySet[Narrative]
) -> list[NarrativeState]:
    keys = sorted(project.pk for project in projects)
    if not keys:
        return []

    def read() -> list[NarrativeState]:
        # Read first: a count may be newer than its revision, never older.
        revisions = read_once((_read_revisions, *keys), lambda: _read_revisions(keys))
        columns = ("pk", "pair_id", "pair__query_id", "pair__project_id")
        return [
            NarrativeState(
                narrative,
                pair,
                query,
                project,
                revisions["narrative", narrative] + revisions["query", query],
            )
            for narrative, pair, query, project in narratives.order_by().values_list(*columns)
        ]

    return read_once((_read_states, which, *keys), read)


def _read_revisions(projects: Sequence[int]) -> Counter[tuple[str, int]]:
    """Return the revisions of narratives and of queries."""
    narratives, queries = (
        Revision.objects.filter(**{f"{path}__in": projects})
        .order_by()
        .values_list(Value(name), key)
        .annotate(total=Sum("value"))
        for name, key, path in (
            ("narrative", "narrative_id", "narrative__pair__project"),
            ("query", "query_id", "query__project"),
        )
    )
    rows = narratives.union(queries, all=True)
    return Counter({(name, key): total for name, key, total in rows})
