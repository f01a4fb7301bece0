"""ORM queries that are compiled once and then executed with different values.

Compiling a query takes Django longer than executing it, and a page executes the same queries every
time. A prepared query returns plain values: numbers and strings, no datetimes. For model instances,
pass its `sql` to `base.raw_sql.all_rows`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any, NamedTuple

from django.db import connection
from django.db.models import QuerySet

# The placeholder for a value while a query is compiled: no other number in a query is as large, and
# Django accepts it for any integer column.
_MARK = 2_000_000_000
# The placeholder for a datetime.
_MOMENT = datetime(3999, 1, 1, tzinfo=UTC)

# The types of a single value.
_ONE = (int, str, datetime)

Built = QuerySet[Any, Any] | tuple[str, Sequence[Any]]
# A value, or a list of values that replaces the one mark in a list of the query.
Value = int | str | datetime | Sequence[int]


class _Statement(NamedTuple):
    """The text of a query, split at its parameters, and the parameters."""

    parts: list[str]
    # The name of a value, or a fixed parameter in a tuple of one.
    parameters: list[str | tuple[Any]]


class Prepared:
    """A compiled query with placeholders for values.

    `build(*shape, **marks)` builds the query: `shape` is whatever changes its text; each mark is an
    int (`names`) or a datetime (`moments`) in place of the value of that name (a shape need not use
    all of them). It returns a QuerySet, or SQL and its parameters. A mark in a list
    (`pk__in=[mark]`) is replaced by a list of values.
    """

    def __init__(
        self, build: Callable[..., Built], *names: str, moments: Sequence[str] = ()
    ) -> None:
        self.build = build
        self.names = names
        self.moments = moments
        # One statement for each shape; it depends on nothing else.
        self._statement = cache(self._compile)

    def rows(self, *shape: Any, **values: Value) -> list[tuple[Any, ...]]:
        """Execute with these values and return all rows. An empty list of values finds nothing."""
        if any(not isinstance(value, _ONE) and not value for value in values.values()):
            return []
        sql, parameters = self.sql(*shape, **values)
        with connection.cursor() as cursor:
            cursor.execute(sql, parameters)
            found: list[tuple[Any, ...]] = cursor.fetchall()
        return found

    def value(self, *shape: Any, **values: Value) -> Any:
        """Execute with these values; return the first column of the first row, or None."""
        found = self.rows(*shape, **values)
        return found[0][0] if found else None

    def sql(self, *shape: Any, **values: Value) -> tuple[str, list[Any]]:
        """Return the query's SQL and parameters, for use in a larger query."""
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

    def _compile(self, _vendor: str, *shape: Any) -> _Statement:
        given: dict[str, Any] = {name: _MARK + number for number, name in enumerate(self.names)}
        marks: dict[Any, str] = {mark: name for name, mark in given.items()}
        for number, name in enumerate(self.moments):
            given[name] = _MOMENT + timedelta(days=number)
            marks[connection.ops.adapt_datetimefield_value(given[name])] = name
        built = self.build(*shape, **given)
        sql, parameters = built if isinstance(built, tuple) else built.query.sql_with_params()
        return _Statement(
            # Do not split at "%%s", an escaped "%s".
            re.split(r"(?<!%)%s", sql),
            [marks.get(one, (one,)) for one in parameters],
        )


def prepared(
    *names: str, moments: Sequence[str] = ()
) -> Callable[[Callable[..., Built]], Prepared]:
    """Decorate a function that builds a query; it is compiled once per shape (see `Prepared`)."""
    return lambda build: Prepared(build, *names, moments=moments)


def count_of(rows: QuerySet[Any, Any]) -> tuple[str, Sequence[Any]]:
    """Return the query that counts the rows, or groups, of another query."""
    rows = rows.order_by()
    if rows.query.group_by is None:
        rows = rows.values("pk")
    sql, parameters = rows.query.sql_with_params()
    return f"SELECT COUNT(*) FROM ({sql}) AS counted", parameters  # noqa: S608 (Django's own)
