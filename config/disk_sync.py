"""On the embedded database, nothing is acknowledged before the disk has it.

SQLite is set not to wait for the disk at each commit (`synchronous=NORMAL`): waiting there would
keep every other writer waiting as well. A request that may have written waits here instead, when it
holds no lock, so that many wait for the disk at the same time. What has been moved from the journal
of the database (its -wal file) into the database itself has been waited for by SQLite.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from django.core.exceptions import MiddlewareNotUsed
from django.db import connection
from django.http import HttpRequest
from django.http.response import HttpResponseBase

# Those that change nothing, by the protocol's own word.
SAFE = {"GET", "HEAD", "OPTIONS", "TRACE"}


def kept_on_disk(
    get_response: Callable[[HttpRequest], HttpResponseBase],
) -> Callable[[HttpRequest], HttpResponseBase]:
    """Answer what may have changed something once the disk has it; OSError where it cannot take it.

    With PostgreSQL there is nothing to do: it waits for the disk itself.
    """
    if connection.vendor != "sqlite":
        raise MiddlewareNotUsed
    # The name is that of the tests' own database only once they have begun.
    settings = connection.settings_dict

    def answer(request: HttpRequest) -> HttpResponseBase:
        response = get_response(request)
        if request.method not in SAFE and not connection.in_atomic_block:
            sync(Path(f"{settings['NAME']}-wal"))
        return response

    return answer


def sync(file: Path) -> None:
    """Wait until the disk has a file; one that is not there has nothing to wait for."""
    try:
        opened = os.open(file, os.O_RDONLY)
    except FileNotFoundError:
        # The last connection was closed, which moved all of it into the database.
        return
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
