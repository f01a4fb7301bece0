"""Queries of the ORM that are put together once, and then asked with other values.

To put a query together takes Django longer than to ask it, and a page asks the same ones every
time. What is prepared returns plain values: numbers and strings, no moments. For rows of models,
give its `sql` to `base.raw_sql.every`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any, NamedTuple

from django.db import connection
from django.db.models import QuerySet

# What stands for a value while a query is put together: nothing else in a query is as large, and
# Django takes it for a value of any column of integers.
_MARK = 2_000_000_000
# The same for a moment.
_MOMENT = datetime(3999, 1, 1, tzinfo=UTC)

# What a value is that is no list.
_ONE = (int, str, datetime)

Built = QuerySet[Any, Any] | tuple[str, Sequence[Any]]
# A value, or a list of values for the one value of a list in the query.
Value = int | str | datetime | Sequence[int]


class _Statement(NamedTuple):
    """A query's text between its parameters, and what each of them is."""

    parts: list[str]
    # The name of a value, or the parameter itself in a tuple of one.
    parameters: list[str | tuple[Any]]


class Prepared:
    """A query with values left open.

    `build(*shape, **marks)` puts it together: `shape` is what changes the text of the query, each
    mark is an int that stands for a value (`names`), or a datetime that stands for one (`moments`);
    in one shape some may not occur. It returns a QuerySet, or SQL and its parameters. A mark in a
    list (`pk__in=[mark]`) stands for a list of values.
    """

    def __init__(
        self, build: Callable[..., Built], *names: str, moments: Sequence[str] = ()
    ) -> None:
        self.build = build
        self.names = names
        self.moments = moments
        # One for each shape; what is built depends on nothing else.
        self._statement = cache(self._put_together)

    def rows(self, *shape: Any, **values: Value) -> list[tuple[Any, ...]]:
        """Ask it with these values, and return all rows. An empty list of values finds nothing."""
        if any(not isinstance(value, _ONE) and not value for value in values.values()):
            return []
        sql, parameters = self.sql(*shape, **values)
        with connection.cursor() as cursor:
            cursor.execute(sql, parameters)
            found: list[tuple[Any, ...]] = cursor.fetchall()
        return found

    def value(self, *shape: Any, **values: Value) -> Any:
        """Ask it with these values, and return the first column of its first row; None: no row."""
        found = self.rows(*shape, **values)
        return found[0][0] if found else None

    def sql(self, *shape: Any, **values: Value) -> tuple[str, list[Any]]:
        """The text of the query and its parameters, to be part of a larger one."""
        statement = self._statement(connection.vendor, *shape)
        text = [statement.parts[0]]
        parameters: list[Any] = []
        for part, parameter in zip(statement.parts[1:], statement.parameters, strict=True):
            if isinstance(parameter, tuple):
                given: Sequence[Any] = parameter
            else:
                value = values[parameter]
                if isinstance(value, datetime):
                    given = (connection.ops.adapt_datetimefield_value(value),)
                else:
                    given = (value,) if isinstance(value, int | str) else value
            text += (", ".join(["%s"] * len(given)), part)
            parameters += given
        return "".join(text), parameters

    def _put_together(self, _vendor: str, *shape: Any) -> _Statement:
        given: dict[str, Any] = {name: _MARK + number for number, name in enumerate(self.names)}
        marks: dict[Any, str] = {mark: name for name, mark in given.items()}
        for number, name in enumerate(self.moments):
            given[name] = _MOMENT + timedelta(days=number)
            marks[connection.ops.adapt_datetimefield_value(given[name])] = name
        built = self.build(*shape, **given)
        sql, parameters = built if isinstance(built, tuple) else built.query.sql_with_params()
        return _Statement(
            # Not at "%%s", which stands for "%s" itself.
            re.split(r"(?<!%)%s", sql),
            [marks.get(one, (one,)) for one in parameters],
        )


def prepared(
    *names: str, moments: Sequence[str] = ()
) -> Callable[[Callable[..., Built]], Prepared]:
    """Decorator: what the function returns is put together once for each shape; see `Prepared`."""
    return lambda build: Prepared(build, *names, moments=moments)


def counted(rows: QuerySet[Any, Any]) -> tuple[str, Sequence[Any]]:
    """The query that counts the rows, or the groups, of another one."""
    rows = rows.order_by()
    if rows.query.group_by is None:
        rows = rows.values("pk")
    sql, parameters = rows.query.sql_with_params()
    return f"SELECT COUNT(*) FROM ({sql}) AS counted", parameters  # noqa: S608 (Django's own)
