"""Keyset pagination: a page of a long list costs the same wherever it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from django.db.models import Model, QuerySet
from django.http import QueryDict

Row = TypeVar("Row", bound=Model)


@dataclass(frozen=True)
class Page(Generic[Row]):
    """Rows of one page, and the query strings of the previous and next page ("": none)."""

    rows: list[Row]
    previous: str
    next: str


def page_by_key(
    rows: QuerySet[Row], query: QueryDict, size: int = 50, *, of: str = ""
) -> Page[Row]:
    """Return the page that `?after=KEY` or `?before=KEY` asks for, in the order of primary keys.

    `of`: the name of the list, for a page with several; its parameters begin with it.
    """
    next_name, previous_name = f"{of}after", f"{of}before"
    after, before = parse_key(query.get(next_name, "")), parse_key(query.get(previous_name, ""))

    def link(name: str, key: int) -> str:
        return _link(query, name, key, replaces=(next_name, previous_name))

    if before is not None:
        rows_of_page = list(rows.filter(pk__lt=before).order_by("-pk")[: size + 1])
        more, rows_of_page = len(rows_of_page) > size, rows_of_page[:size][::-1]
        return Page(
            rows_of_page,
            link(previous_name, rows_of_page[0].pk) if more else "",
            link(next_name, before - 1),
        )
    rows_of_page = list(rows.filter(pk__gt=after or 0).order_by("pk")[: size + 1])
    more, rows_of_page = len(rows_of_page) > size, rows_of_page[:size]
    return Page(
        rows_of_page,
        link(previous_name, rows_of_page[0].pk if rows_of_page else after + 1) if after else "",
        link(next_name, rows_of_page[-1].pk) if more else "",
    )


def page_in_order(
    rows: QuerySet[Row], keys: Sequence[int], query: QueryDict, size: int = 50
) -> Page[Row]:
    """Return the page that `?after=KEY` or `?before=KEY` asks for, in the order of `keys`.

    A key that is not in `keys` asks for the first page.
    """
    place = {key: number for number, key in enumerate(keys)}
    after, before = parse_key(query.get("after", "")), parse_key(query.get("before", ""))
    if before in place:
        first = max(place[before] - size, 0)
        last = place[before]
    else:
        first = place[after] + 1 if after in place else 0
        last = first + size
    by_key = rows.in_bulk(keys[first:last])
    return Page(
        [by_key[key] for key in keys[first:last] if key in by_key],
        _link(query, "before", keys[first]) if 0 < first < len(keys) else "",
        _link(query, "after", keys[last - 1]) if last < len(keys) else "",
    )


def newest_by_key(rows: QuerySet[Row], query: QueryDict, size: int = 50) -> Page[Row]:
    """Return the page that `?before=KEY` or `?after=KEY` asks for, the highest keys first."""
    after, before = parse_key(query.get("after", "")), parse_key(query.get("before", ""))
    if after is not None:
        rows_of_page = list(rows.filter(pk__gt=after).order_by("pk")[: size + 1])
        more, rows_of_page = len(rows_of_page) > size, rows_of_page[:size][::-1]
        return Page(
            rows_of_page,
            _link(query, "after", rows_of_page[0].pk) if more else "",
            _link(query, "before", after + 1),
        )
    if before is not None:
        rows = rows.filter(pk__lt=before)
    rows_of_page = list(rows.order_by("-pk")[: size + 1])
    more, rows_of_page = len(rows_of_page) > size, rows_of_page[:size]
    return Page(
        rows_of_page,
        _link(query, "after", rows_of_page[0].pk if rows_of_page else (before or 1) - 1)
        if before
        else "",
        _link(query, "before", rows_of_page[-1].pk) if more else "",
    )


def parse_key(value: str) -> int | None:
    """Parse a key from an address or a form; return None if it is not one."""
    return int(value) if value.isascii() and value.isdecimal() and len(value) < 19 else None


def _link(
    query: QueryDict, name: str, key: int, replaces: Sequence[str] = ("after", "before")
) -> str:
    """Return the current query string with another position in the list."""
    link = query.copy()
    for old in replaces:
        link.pop(old, None)
    link[name] = str(key)
    return "?" + link.urlencode()
