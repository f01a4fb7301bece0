"""Consistent reads of a whole project while people go on judging."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from django.db import connection, connections, transaction
from django.db.models import Model

Of = TypeVar("Of", bound=Model)
Given = ParamSpec("Given")
Read = TypeVar("Read")

# What functions with `once_in_snapshot` have read in the current snapshot; None outside of one.
_read: ContextVar[dict[Any, Any] | None] = ContextVar("read", default=None)


@contextmanager
def snapshot() -> Iterator[None]:
    """Let all reads inside see one snapshot of the database, without blocking writers.

    Nothing may be written inside. Within an open transaction, that transaction's view is used.
    """
    if _read.get() is not None:
        yield
        return
    token = _read.set({})
    try:
        with _one_view():
            yield
    finally:
        _read.reset(token)


def once_in_snapshot(
    function: Callable[Concatenate[Of, Given], Read],
) -> Callable[Concatenate[Of, Given], Read]:
    """Read something of a row (of a project) once in a snapshot, whoever asks for it again.

    The callers share one result: nobody may change it.
    """

    @wraps(function)
    def read(of: Of, /, *args: Given.args, **kwargs: Given.kwargs) -> Read:
        results = _read.get()
        if results is None:
            return function(of, *args, **kwargs)
        key = (function, of.pk, args, tuple(sorted(kwargs.items())))
        if key not in results:
            results[key] = function(of, *args, **kwargs)
        result: Read = results[key]
        return result

    return read


@contextmanager
def _one_view() -> Iterator[None]:
    if connection.in_atomic_block:
        yield
    elif connection.vendor == "postgresql":
        with transaction.atomic():
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
                # All rows are fetched, so plan for the total time, not for the first rows.
                cursor.execute("SET LOCAL cursor_tuple_fraction = 1")
            yield
    else:
        # By our settings every transaction begins as a writer. This one only reads: with SQLite's
        # write-ahead log a reader sees one snapshot and does not block the writer.
        connection.ensure_connection()
        sqlite: Any = connections[connection.alias]
        mode, sqlite.transaction_mode = sqlite.transaction_mode, "DEFERRED"
        try:
            with transaction.atomic():
                yield
        finally:
            sqlite.transaction_mode = mode
