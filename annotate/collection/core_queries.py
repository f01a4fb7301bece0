"""Core queries: queries that ask for the same thing and differ in their instruction alone.

InfoSearch has a query for each instruction of a core query. Queries belong together where their
file gives them one core id, else where their titles are the same but for case and white space.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from django.db.models import Count, QuerySet

from annotate.collection.models import Query
from annotate.projects.models import Project

# Characters of a title that its key keeps; of a longer one a digest follows.
_KEPT = 200
_CHUNK = 2_000
# Siblings that a page names.
NAMED = 50


class Group(NamedTuple):
    """A core query: its key, and how many queries it has."""

    core: str
    size: int


def core_of(title: str) -> str:
    """Return the key of the core query that a title names; "" for an empty one.

    >>> core_of("What is  Diabetes?")
    'what is diabetes?'
    """
    words = " ".join(unicodedata.normalize("NFC", title).casefold().split())
    if len(words) <= _KEPT:
        return words
    digest = hashlib.blake2b(words.encode(), digest_size=16).hexdigest()
    return f"{words[:_KEPT]} {digest}"


def group_by_title(queries: Iterable[tuple[int, str, str]]) -> Iterator[Query]:
    """Yield the queries (key, title, core) whose core query is not that of their title."""
    for pk, title, core in queries:
        if (wanted := core_of(title)) != core:
            yield Query(pk=pk, core=wanted)


def set_core_queries(queries: QuerySet[Query]) -> int:
    """Give these queries the core query of their title, unless a file gave them one; return how
    many changed.
    """
    rows = queries.filter(core_given=False).order_by("pk").values_list("pk", "title", "core")
    changed: list[Query] = []
    count = 0
    for query in group_by_title(rows.iterator(_CHUNK)):
        changed.append(query)
        count += 1
        if len(changed) == _CHUNK:
            Query.objects.bulk_update(changed, ["core"])
            changed = []
    Query.objects.bulk_update(changed, ["core"])
    return count


def sizes(project: Project, cores: Sequence[str]) -> dict[str, int]:
    """Return how many queries each of these core queries has: one database query."""
    wanted = {core for core in cores if core}
    rows = Query.objects.filter(project=project, core__in=wanted).order_by().values_list("core")
    return dict(rows.annotate(n=Count("pk")))


def groups(project: Project) -> list[Group]:
    """Return the core queries of several queries, in the order of their keys."""
    rows = Query.objects.filter(project=project).exclude(core="").order_by("core")
    return [
        Group(core, n)
        for core, n in rows.values_list("core").annotate(n=Count("pk")).filter(n__gt=1)
    ]


def siblings(query: Query) -> QuerySet[Query]:
    """Return the other queries of the same core query, in the order of loading."""
    if not query.core:
        return Query.objects.none()
    found = Query.objects.filter(project=query.project_id, core=query.core)
    return found.exclude(pk=query.pk).order_by("pk")
