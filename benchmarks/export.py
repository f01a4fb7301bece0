"""Speed of exports compared with a bare cursor and a write loop over the same rows.

    python -m benchmarks.export [--rows 1000000] [--database sqlite|postgresql]

Fills a new database with a project of that many candidates and as many judgments, then writes both
exports and, in the same run, the bare lines: one SELECT in the same order, one write per line.
Prints JSON with lines per second, their quotient, and the memory of the exporting process.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from operator import itemgetter
from pathlib import Path
from typing import Any

from benchmarks.bare import Table, insert, timed
from benchmarks.rows import Shape, judgments, pools
from benchmarks.serving import (
    Steps,
    add_databases,
    installation,
    measure_databases,
    parse_options,
    run_step,
    set_up,
)

POOL = 500
ROUNDS = 3


def main() -> None:
    """Run every step in its own process, so that its memory is measured alone."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    add_databases(parser)
    options = parse_options(parser, STEPS)
    figures = {"candidates": options.rows, "judgments": options.rows}
    measure_databases(figures, _measure, options)


def _measure(database: str, _options: argparse.Namespace) -> dict[str, Any]:
    with installation(database) as (env, _folder):
        run_step("fill", env=env)
        found: dict[str, Any] = {}
        for format_name in ("trec", "jsonl"):
            # In turns, and the best of each, so that other load affects both equally.
            rounds = [
                (run_step(f"bare-{format_name}", env=env), run_step(f"ours-{format_name}", env=env))
                for _ in range(ROUNDS)
            ]
            bare, ours = (
                min(each, key=itemgetter("seconds")) for each in zip(*rounds, strict=True)
            )
            found[format_name] = {
                "lines": ours["lines"],
                "lines_per_second": round(ours["lines"] / ours["seconds"]),
                "bare_lines_per_second": round(bare["lines"] / bare["seconds"]),
                "times_the_bare_loop": _times(ours, bare, "seconds"),
                # Processor time of the process itself, which is steadier on a busy machine.
                "times_the_bare_loop_in_processor_time": _times(ours, bare, "processor"),
                "memory_before_mb": ours["before_mb"],
                "memory_peak_mb": ours["peak_mb"],
            }
        return found


def _times(ours: dict[str, Any], bare: dict[str, Any], what: str) -> float:
    """Return how many times as long a line took."""
    times: float = (ours[what] / ours["lines"]) / (bare[what] / bare["lines"])
    return round(times, 2)


def fill(options: argparse.Namespace) -> dict[str, Any]:
    """Make a project with pools of POOL documents, each with a prior label and one judgment."""
    set_up(migrate=True)
    from annotate.models import Membership, Project, User
    from benchmarks.world import analyze

    project = Project.objects.create(slug="bench", name="Bench", judge_scope="pool")
    user = User.objects.create_user("ada")
    ada = Membership.objects.create(project=project, user=user, name="ada")
    insert(_tables(project.pk, ada.pk, options.rows))
    analyze()
    return {}


def _tables(project: int, annotator: int, rows: int) -> Iterator[Table]:
    shape = Shape(queries=max(1, rows // POOL), pool=POOL, documents=max(POOL, rows // 5))
    yield from pools(project, shape)
    yield from judgments(shape, [[annotator]] * shape.queries, last=POOL)


ORIGINAL = """
    SELECT q.query_id, d.doc_id, c.prior_relevance
    FROM annotate_candidate c
    JOIN annotate_query q ON q.id = c.query_id
    JOIN annotate_document d ON d.id = c.document_id
    WHERE q.project_id = 1 AND c.prior_relevance IS NOT NULL
    ORDER BY q.query_id COLLATE "{bytes}", d.doc_id COLLATE "{bytes}"
"""
CHANGED = """
    SELECT p.pair_id, d.doc_id, j.relevance
    FROM annotate_statement j
    JOIN annotate_narrative n ON n.id = j.narrative_id
    JOIN annotate_instructionpair p ON p.id = n.pair_id
    JOIN annotate_candidate c ON c.id = j.candidate_id
    JOIN annotate_document d ON d.id = c.document_id
    WHERE p.project_id = 1 AND n.side = 'altered' AND j.ended_at IS NULL
    ORDER BY p.pair_id COLLATE "{bytes}", d.doc_id COLLATE "{bytes}"
"""
SAID = """
    SELECT q.query_id, d.doc_id, m.name, j.relevance, n.side, p.pair_id, n.version, j.at, j.note,
           j.uuid, m.is_machine, j.evidence, j.active_ms, j.ended_at, j.withdrawn_at,
           j.clauses, j.pressed, j.made_at
    FROM annotate_statement j
    JOIN annotate_narrative n ON n.id = j.narrative_id
    JOIN annotate_instructionpair p ON p.id = n.pair_id
    JOIN annotate_membership m ON m.id = j.annotator_id
    JOIN annotate_candidate c ON c.id = j.candidate_id
    JOIN annotate_query q ON q.id = c.query_id
    JOIN annotate_document d ON d.id = c.document_id
    WHERE q.project_id = 1
    ORDER BY q.query_id COLLATE "{bytes}", d.doc_id COLLATE "{bytes}", m.name COLLATE "{bytes}"
"""
FIELDS = (
    *("query_id", "doc_id", "annotator", "relevance", "side", "pair_id", "version", "at", "note"),
    *("uuid", "machine", "evidence", "active_ms", "superseded_at", "withdrawn_at"),
    *("clauses", "pressed", "made_at"),
)


def _bare_trec(_options: argparse.Namespace) -> dict[str, Any]:
    """Write only both qrels files."""
    with timed() as figures:
        for name, statement in (("original", ORIGINAL), ("changed", CHANGED)):
            with _rows(statement) as found, _file(name) as stream:
                for topic, doc_id, relevance in found:
                    stream.write(f"{topic} 0 {doc_id} {relevance}\n".encode())
                    figures["lines"] += 1
    return figures


def _bare_jsonl(_options: argparse.Namespace) -> dict[str, Any]:
    """Write only the judgments."""
    with timed() as figures, _rows(SAID) as found, _file("judgments") as stream:
        for row in found:
            line = json.dumps(dict(zip(FIELDS, row, strict=True)), default=str)
            stream.write(f"{line}\n".encode())
            figures["lines"] += 1
    return figures


@contextlib.contextmanager
def _rows(statement: str) -> Iterator[Iterable[tuple[Any, ...]]]:
    """Run one SELECT through the driver's own streaming cursor."""
    from django.db import connection

    connection.ensure_connection()
    if connection.vendor == "sqlite":
        yield connection.connection.execute(statement.format(bytes="BINARY"))
        return
    with (
        connection.connection.transaction(),
        connection.connection.cursor(name="bare") as cursor,
    ):
        cursor.itersize = 5_000
        cursor.execute(statement.format(bytes="C"))
        yield cursor


@contextlib.contextmanager
def _file(name: str) -> Iterator[Any]:
    with (Path(os.environ["REJUDGE_DATA"]) / f"bare.{name}").open("wb", 1024 * 1024) as stream:
        yield stream


def _ours(format_name: str) -> Callable[[argparse.Namespace], dict[str, Any]]:
    def write(_options: argparse.Namespace) -> dict[str, Any]:
        """Write the whole export as the command does."""
        set_up()
        from annotate.models import Project
        from exporters.exports import actions

        project = Project.objects.get(slug="bench")
        with (
            tempfile.TemporaryDirectory(dir=os.environ["REJUDGE_DATA"]) as folder,
            timed() as figures,
        ):
            manifest = actions.write(project, format_name, Path(folder))
        figures["lines"] = sum(entry["lines"] for entry in manifest["files"])
        return figures

    return write


STEPS: Steps = {
    "fill": fill,
    "bare-trec": _bare_trec,
    "bare-jsonl": _bare_jsonl,
    "ours-trec": _ours("trec"),
    "ours-jsonl": _ours("jsonl"),
}


if __name__ == "__main__":
    main()
