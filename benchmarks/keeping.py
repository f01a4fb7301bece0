"""Speed and memory of writing and restoring a backup.

    python -m benchmarks.keeping [--rows 1000000] [--from sqlite] [--to postgresql]

Fills a new database with a project of that many candidates and as many judgments (and another one
with a tenth of them), writes a backup of each, restores it into an empty installation on the other
database, and purges and restores the project in the first. In the same run it measures a bound for
writing: one SELECT of each table through the driver, one line of JSON per row. Prints JSON: rows,
seconds, rows per second, megabytes of the file, and the peak memory of each process.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.bare import timed
from benchmarks.export import fill
from benchmarks.serving import DATABASES, Steps, installation, parse_options, run_step

SLUG = "bench"


class _NoProgress:
    def start(self, total: int | None, step: str) -> None:
        pass

    def advance(self, n: int = 1) -> None:
        pass


def main() -> None:
    """Run every step in its own process, so that its memory is measured alone."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--from", dest="one", choices=DATABASES, default="sqlite")
    parser.add_argument("--to", dest="other", choices=DATABASES, default="postgresql")
    options = parse_options(parser, STEPS)
    figures = {
        str(rows): _measure(rows, options.one, options.other)
        for rows in (options.rows // 10, options.rows)
    }
    print(json.dumps({"from": options.one, "to": options.other, "rows": figures}, indent=2))


def _measure(rows: int, one: str, other: str) -> dict[str, Any]:
    with (
        tempfile.TemporaryDirectory() as kept,
        installation(one) as (here, _data),
        installation(other) as (there, _other_data),
    ):
        found: dict[str, Any] = {}
        for names, env in (
            (("fill", "bare", "backup", "backup-project", "purge", "restore-project"), here),
            (("prepare", "restore"), there),
        ):
            for name in names:
                figures = run_step(name, "--rows", rows, env={**env, "KEPT": kept})
                if figures:
                    found[name] = figures
        return found


def _figures(figures: dict[str, Any]) -> dict[str, Any]:
    return {
        "rows": figures["lines"],
        "seconds": round(figures["seconds"], 2),
        "rows_per_second": round(figures["lines"] / figures["seconds"]),
        "memory_before_mb": figures["before_mb"],
        "memory_peak_mb": figures["peak_mb"],
    }


def _file(name: str) -> Path:
    return Path(os.environ["KEPT"]) / f"{name}.zip"


def _bare(_options: argparse.Namespace) -> dict[str, Any]:
    """Write only a line of JSON for every row."""
    with timed() as figures, _file("bare").open("wb", 1024 * 1024) as stream:
        from django.db import connection

        from keeping import tables

        for model in tables.kept_tables():
            with connection.chunked_cursor() as cursor:
                cursor.execute(f'SELECT * FROM "{model._meta.db_table}"')  # noqa: S608 (ours)
                while some := cursor.fetchmany(2_000):
                    for row in some:
                        stream.write(json.dumps(row, default=str).encode() + b"\n")
                    figures["lines"] += len(some)
    return _figures(figures)


def _backup(project: str | None) -> Callable[[argparse.Namespace], dict[str, Any]]:
    def write(_options: argparse.Namespace) -> dict[str, Any]:
        """Write a backup as the command does."""
        path = _file(project or "all")
        with timed() as figures:
            from keeping.backup import back_up

            done = back_up(path=path, project=project, progress=_NoProgress())
        figures["lines"] = done.rows
        return {**_figures(figures), "megabytes": round(done.bytes / 1e6, 1)}

    return write


def _restore(project: str | None) -> Callable[[argparse.Namespace], dict[str, Any]]:
    def restore_backup(_options: argparse.Namespace) -> dict[str, Any]:
        """Restore a backup as the command does."""
        with timed() as figures:
            from keeping.restore import restore

            done = restore(path=_file(project or "all"), progress=_NoProgress())
        figures["lines"] = done.rows
        return _figures(figures)

    return restore_backup


def _prepare(_options: argparse.Namespace) -> dict[str, Any]:
    """Make the tables, which takes long in an empty installation whatever is restored."""
    with timed():
        from django.core.management import call_command

        call_command("migrate", verbosity=0)
    return {}


def _purge(_options: argparse.Namespace) -> dict[str, Any]:
    """Purge the project as the command does."""
    with timed() as figures:
        from django.utils import timezone

        from annotate.models import Project, User
        from keeping.purge import purge

        Project.objects.update(archived_at=timezone.now(), archived_by=User.objects.get())
        figures["lines"] = purge(slug=SLUG, typed=SLUG).rows
    return _figures(figures)


STEPS: Steps = {
    "fill": fill,
    "prepare": _prepare,
    "bare": _bare,
    "backup": _backup(None),
    "backup-project": _backup(SLUG),
    "restore": _restore(None),
    "restore-project": _restore(SLUG),
    "purge": _purge,
}


if __name__ == "__main__":
    main()
