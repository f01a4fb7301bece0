"""On the embedded database, no write is acknowledged before it is on the disk.

SQLite is set not to wait for the disk at each commit (`synchronous=NORMAL`): waiting there would
block every other writer. A request that may have written waits here instead, when it holds no lock,
so that many requests can wait for the disk at the same time. When SQLite moves data from the
write-ahead log (the -wal file) into the database itself, it waits for the disk.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from django.core.exceptions import MiddlewareNotUsed
from django.db import connection
from django.http import HttpRequest
from django.http.response import HttpResponseBase

# Methods that change nothing, as HTTP defines them.
SAFE = {"GET", "HEAD", "OPTIONS", "TRACE"}


def kept_on_disk(
    get_response: Callable[[HttpRequest], HttpResponseBase],
) -> Callable[[HttpRequest], HttpResponseBase]:
    """Middleware: hold the response to a request that may have written until it is on the disk.

    Raises OSError if the disk fails. With PostgreSQL there is nothing to do: it waits itself.
    """
    if connection.vendor != "sqlite":
        raise MiddlewareNotUsed
    # `NAME` is read later: it names the test database only once the tests have begun.
    settings = connection.settings_dict

    def answer(request: HttpRequest) -> HttpResponseBase:
        response = get_response(request)
        if request.method not in SAFE and not connection.in_atomic_block:
            sync(Path(f"{settings['NAME']}-wal"))
        return response

    return answer


def sync(file: Path) -> None:
    """Wait until a file is on the disk; do nothing if it does not exist."""
    try:
        opened = os.open(file, os.O_RDONLY)
    except FileNotFoundError:
        # The last connection was closed, which moved the whole log into the database.
        return
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
