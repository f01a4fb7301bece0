"""Patterns of answers (who gave which value to a unit), counted by the database."""

from __future__ import annotations

from collections import Counter
from typing import Any

from django.db import connection
from django.db.models import Aggregate, CharField, QuerySet, TextField, Value
from django.db.models.functions import Cast, Concat

# The answers on one unit: (member, value) in the order of the members.
Pattern = tuple[tuple[int, int], ...]


Patterns = Counter[Pattern]


class _JoinedTexts(Aggregate):
    """Join the texts of a group with commas, in any order."""

    function = "GROUP_CONCAT"
    template = "%(function)s(%(expressions)s, ',')"
    output_field = TextField()

    def as_postgresql(self, compiler: Any, connection: Any, **context: Any) -> Any:
        """Use PostgreSQL's name of the function."""
        return super().as_sql(compiler, connection, function="STRING_AGG", **context)


def joined_answers(member: str, value: Any) -> _JoinedTexts:
    """Return an aggregate that writes the answers on a unit as text: "12:1,40:0"."""
    return _JoinedTexts(
        Concat(
            Cast(member, CharField()),
            Value(":"),
            Cast(value, CharField()),
            output_field=TextField(),
        )
    )


def count_patterns(units: QuerySet[Any, Any], by: str) -> dict[Any, Patterns]:
    """Count units (rows with `listed`) by a column or expression, and by pattern."""
    sql, parameters = units.order_by().query.sql_with_params()
    counts: dict[Any, Patterns] = {}
    read: dict[str, Pattern] = {}
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT {by}, listed, COUNT(*) FROM ({sql}) units GROUP BY 1, 2",  # noqa: S608 -- ours
            parameters,
        )
        while rows := cursor.fetchmany(10_000):
            for of, listed, times in rows:
                # The same answers in another order are the same pattern.
                pattern = read.get(listed) or read.setdefault(listed, read_pattern(listed))
                counts.setdefault(of, Counter())[pattern] += times
    return counts


def read_pattern(listed: str) -> Pattern:
    """Parse "17:1,18:2" into (member, value) pairs in the order of the members."""
    answers = (answer.split(":") for answer in listed.split(",") if answer)
    # An imported file may hold two answers of one person: the largest one counts everywhere.
    of_each = dict(sorted((int(member), int(value)) for member, value in answers))
    return tuple(of_each.items())
