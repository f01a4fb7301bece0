"""Core queries: queries that ask for the same thing and differ in their instruction alone.

InfoSearch has one query per instruction of a core query. Queries belong together if their file
gives them the same core id, or else if their titles differ only in case and white space.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Iterable, Iterator, Sequence

from django.db.models import Count, QuerySet

from annotate.collection.models import Query
from annotate.projects.models import Project

# A core key holds at most this many characters of a title; a digest follows if it was longer.
_KEPT = 200
_CHUNK = 2_000
# How many siblings a page names.
NAMED = 50


def core_key(title: str) -> str:
    """Return the core key of a title; "" for an empty title.

    >>> core_key("What is  Diabetes?")
    'what is diabetes?'
    """
    words = " ".join(unicodedata.normalize("NFC", title).casefold().split())
    if len(words) <= _KEPT:
        return words
    digest = hashlib.blake2b(words.encode(), digest_size=16).hexdigest()
    return f"{words[:_KEPT]} {digest}"


def queries_with_new_core(queries: Iterable[tuple[int, str, str]]) -> Iterator[Query]:
    """Yield queries to update: those of (pk, title, core) whose core does not match their title."""
    for pk, title, core in queries:
        if (new_core := core_key(title)) != core:
            yield Query(pk=pk, core=new_core)


def set_core_queries(queries: QuerySet[Query]) -> int:
    """Derive the core of these queries from their titles; return how many changed.

    Queries whose core a file gave are left alone.
    """
    rows = queries.filter(core_given=False).order_by("pk").values_list("pk", "title", "core")
    changed: list[Query] = []
    count = 0
    for query in queries_with_new_core(rows.iterator(_CHUNK)):
        changed.append(query)
        count += 1
        if len(changed) == _CHUNK:
            Query.objects.bulk_update(changed, ["core"])
            changed = []
    Query.objects.bulk_update(changed, ["core"])
    return count


def count_queries(project: Project, cores: Sequence[str]) -> dict[str, int]:
    """Return the number of queries of each of these core queries, in one database query.

    Those that are taken out are not counted, as lists of queries leave them out.
    """
    named = {core for core in cores if core}
    queries = Query.objects.filter(project=project, core__in=named, removed_at__isnull=True)
    rows = queries.order_by().values_list("core")
    return dict(rows.annotate(n=Count("pk")))


def listed_siblings(query: Query) -> QuerySet[Query]:
    """Return the siblings that pages name: the first of those that are not taken out."""
    return siblings(query).filter(removed_at__isnull=True)[:NAMED]


def siblings(query: Query) -> QuerySet[Query]:
    """Return the other queries of the same core query, in loading order."""
    if not query.core:
        return Query.objects.none()
    same_core = Query.objects.filter(project=query.project_id, core=query.core)
    return same_core.exclude(pk=query.pk).order_by("pk")
