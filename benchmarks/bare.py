"""The bare driver as a bound, and the time and memory of a step."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.serving import quantiles, set_up

# A table, its columns and its rows.
Table = tuple[str, Sequence[str], Iterable[tuple[Any, ...]]]


def insert(tables: Iterable[Table]) -> float:
    """Fill tables in one transaction with the driver alone; return the seconds it took."""
    from django.db import connection

    connection.ensure_connection()
    driver = connection.connection
    start = time.perf_counter()
    if connection.vendor == "sqlite":
        driver.execute("BEGIN IMMEDIATE")
        for table, columns, rows in tables:
            marks = ", ".join("?" * len(columns))
            driver.executemany(
                f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})",  # noqa: S608
                rows,
            )
        driver.execute("COMMIT")
        return time.perf_counter() - start
    with driver.transaction(), driver.cursor() as cursor:
        for table, columns, rows in tables:
            with cursor.copy(f"COPY {table} ({', '.join(columns)}) FROM STDIN") as copy:
                for row in rows:
                    copy.write_row(row)
    return time.perf_counter() - start


def insert_judgments(seconds: float) -> dict[str, Any]:
    """Insert judgments of the world of `benchmarks.judging` for some time, one transaction each."""
    set_up()
    from uuid import uuid4

    from django.db import connection

    from annotate.models import Membership

    plan = json.loads((Path(os.environ["REJUDGE_DATA"]) / "plan.json").read_text())
    member = Membership.objects.create(project_id=1, name="bare")
    work = plan["warm"][0]["work"][0]
    columns = (
        *("uuid", "narrative_id", "candidate_id", "annotator_id", "relevance", "flag", "note"),
        *("repeat", "evidence", "clauses", "pressed", "source", "at", "ended_at"),
    )
    postgresql = connection.vendor == "postgresql"
    marks = ", ".join(["%s" if postgresql else "?"] * len(columns))
    statement = f"INSERT INTO annotate_statement ({', '.join(columns)}) VALUES ({marks})"  # noqa: S608
    connection.ensure_connection()
    driver = connection.connection
    times: list[float] = []
    at = "2026-01-01 00:00:00+00:00"
    begun = time.monotonic()
    while time.monotonic() - begun < seconds / 2:
        uuid = str(uuid4()) if postgresql else uuid4().hex
        row = (uuid, work["narrative"], work["candidates"][0], member.pk, 1, "", "")
        start = time.perf_counter()
        driver.execute("BEGIN IMMEDIATE" if not postgresql else "BEGIN")
        driver.execute(statement, (*row, False, "[]", "[]", "key", "page", at, at))
        driver.execute("COMMIT")
        times.append(time.perf_counter() - start)
    ended = time.monotonic()
    return {
        "rows_per_second": round(len(times) / (ended - begun)),
        "ms": quantiles([1000 * one for one in times]),
    }


@contextlib.contextmanager
def timed() -> Iterator[dict[str, Any]]:
    """Yield figures: the caller counts "lines"; time and memory are added at the end."""
    set_up()
    figures: dict[str, Any] = {"lines": 0, "before_mb": peak_mb()}
    start, processor_start = time.perf_counter(), time.process_time()
    yield figures
    figures["seconds"] = time.perf_counter() - start
    figures["processor"] = time.process_time() - processor_start
    figures["peak_mb"] = peak_mb()


def peak_mb() -> int:
    """Return the most memory that this process has used, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
