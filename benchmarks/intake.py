"""Speed of loading files compared with the bare driver and the same rows.

    python -m benchmarks.intake [--lines 1000000] [--documents 100000]
                                [--database sqlite|postgresql]

Writes a qrels file and a file of documents, and loads each into a new database in three ways:
  ours         as `manage.py load` does: read, check, stage, write;
  bare         the driver alone (executemany, COPY) with prepared rows and known keys, into the same
               tables with their keys, indexes and constraints;
  bare_plain   the driver alone, into one table without any of these: no loader reaches this bound.
Prints JSON with rows per second, their quotients, and the memory of the loading process, also for a
tenth of the rows: memory does not grow with the file.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.bare import insert, peak_mb
from benchmarks.serving import (
    DATABASES,
    Steps,
    add_databases,
    installation,
    parse_options,
    run_step,
    set_up,
)

TOPICS = 250
WORDS = 300
DIGEST = "0" * 32


def main() -> None:
    """Run every step in its own process, so that its memory is measured alone."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lines", type=int, default=1_000_000)
    parser.add_argument("--documents", type=int, default=100_000)
    add_databases(parser)
    parser.add_argument(
        "--times", type=int, default=3, help="number of repetitions, of which the best counts"
    )
    # The file that a step loads.
    parser.add_argument("--file", type=Path, help=argparse.SUPPRESS)
    options = parse_options(parser, STEPS)
    figures: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        files = {
            "trec-qrels": (_write_qrels, options.lines),
            "docs-jsonl": (_write_documents, options.documents),
        }
        for database in options.database or DATABASES:
            figures[database] = {
                kind: _measure(database, kind, write, rows, Path(folder), options.times)
                for kind, (write, rows) in files.items()
            }
    print(json.dumps(figures, indent=2))


def _write_qrels(path: Path, rows: int) -> None:
    """Write TOPICS pools from a collection with half as many documents as there are lines."""
    chance = random.Random(1)
    pool = rows // TOPICS
    documents = max(rows // 2, pool)
    with path.open("w") as stream:
        for topic in range(301, 301 + TOPICS):
            for document in sorted(chance.sample(range(documents), pool)):
                grade = chance.choice((0, 0, 0, 0, 1, 1, 2))
                stream.write(f"{topic} 0 FBIS{document % 5}-{document:07d} {grade}\n")


def _write_documents(path: Path, rows: int) -> None:
    """Write documents of WORDS words, about 2 KB each."""
    chance = random.Random(1)
    words = ["".join(chance.choices("abcdefghij", k=chance.randint(3, 9))) for _ in range(5_000)]
    with path.open("w") as stream:
        for number in range(rows):
            text = " ".join(chance.choices(words, k=WORDS))
            doc = {"doc_id": f"FBIS{number % 5}-{number:07d}", "title": text[:60], "text": text}
            stream.write(json.dumps(doc) + "\n")


def _measure(
    database: str,
    kind: str,
    write: Callable[[Path, int], None],
    rows: int,
    folder: Path,
    times: int,
) -> dict[str, Any]:
    file, small = folder / f"{kind}.{rows}", folder / f"{kind}.{rows // 10}"
    for path, count in ((file, rows), (small, rows // 10)):
        if not path.exists():
            write(path, count)
    seconds: dict[str, float] = {}
    repeat_seconds: list[float] = []
    # In turns, so that other load on the machine affects all of them equally.
    for _ in range(times):
        for way in ("bare_plain", "bare", "ours"):
            found = _step(database, f"{way} {kind}", file)
            seconds[way] = min(found["seconds"], seconds.get(way, found["seconds"]))
        repeat_seconds.append(found["again"])
    smaller = _step(database, f"ours {kind}", small)
    return {
        "rows": rows,
        **{f"{way}_rows_per_second": round(rows / seconds[way]) for way in seconds},
        "ours_to_bare": round(seconds["bare"] / seconds["ours"], 2),
        "ours_to_bare_plain": round(seconds["bare_plain"] / seconds["ours"], 2),
        "again_rows_per_second": round(rows / min(repeat_seconds)),
        "memory_before_mb": found["before_mb"],
        "memory_peak_mb": found["peak_mb"],
        "memory_peak_mb_of_a_tenth": smaller["peak_mb"],
    }


def _step(database: str, step: str, path: Path) -> Any:
    """Run one step in a new process, with a new database."""
    with installation(database) as (env, _folder):
        return run_step(step, "--file", path, env=env)


def _set_up() -> Any:
    """Make the tables and an empty project; return the project."""
    set_up(migrate=True)
    from annotate.projects.actions import create_project

    return create_project(slug="bench", grades=(0, 1, 2))


def _ours(kind: str) -> Callable[[Path], dict[str, Any]]:
    def run(path: Path) -> dict[str, Any]:
        """Load the file twice as the command does."""
        project = _set_up()
        from annotate.collection.intake import file_on_disk
        from annotate.loading.load import load_file

        figures: dict[str, Any] = {"before_mb": peak_mb()}
        for name in ("seconds", "again"):
            start = time.perf_counter()
            report = load_file(project=project, format_name=kind, file=file_on_disk(str(path)))
            figures[name] = time.perf_counter() - start
            if report.refused or report.new != (report.read if name == "seconds" else 0):
                raise RuntimeError(f"not loaded as expected: {report.as_json()}")
        return {**figures, "peak_mb": peak_mb()}

    return run


def _records(kind: str, path: Path) -> list[Any]:
    from formats.registry import lookup

    source = lookup(kind).open(path)
    with source:
        return list(lookup(kind).read(source))


def _bare_plain(kind: str) -> Callable[[Path], dict[str, Any]]:
    def run(path: Path) -> dict[str, Any]:
        """Insert the values of the records into one table without keys."""
        _set_up()
        width = 3
        rows = [record[:width] for record in _records(kind, path)]
        from django.db import connection

        with connection.cursor() as cursor:
            cursor.execute("CREATE TABLE plain (a text, b text, c text)")
        return {"seconds": insert([("plain", ("a", "b", "c"), rows)])}

    return run


def _bare_qrels(path: Path) -> dict[str, Any]:
    """Insert queries, documents and candidates into their tables, with known keys."""
    project = _set_up()
    records = _records("trec-qrels", path)
    queries = {q: key for key, q in enumerate(dict.fromkeys(r.query_id for r in records), 1)}
    documents = {d: key for key, d in enumerate(sorted({r.doc_id for r in records}), 1)}
    return {
        "seconds": insert(
            [
                (
                    "annotate_query",
                    ("id", "project_id", "query_id", "title", "description"),
                    [(key, project.pk, query, "", "") for query, key in queries.items()],
                ),
                (
                    "annotate_document",
                    ("id", "project_id", "doc_id", "title", "markup", "digest"),
                    [(key, project.pk, doc, "", "plain", "") for doc, key in documents.items()],
                ),
                (
                    "annotate_candidate",
                    ("query_id", "document_id", "prior_relevance", "origin"),
                    [
                        (queries[r.query_id], documents[r.doc_id], r.relevance, "prior")
                        for r in records
                    ],
                ),
            ]
        )
    }


def _bare_documents(path: Path) -> dict[str, Any]:
    """Insert documents and their texts into their tables, with known keys."""
    project = _set_up()
    records = list(enumerate(_records("docs-jsonl", path), 1))
    return {
        "seconds": insert(
            [
                (
                    "annotate_document",
                    (
                        *("id", "project_id", "doc_id", "title", "markup", "digest", "length"),
                        "text_version",
                    ),
                    [
                        (key, project.pk, doc.doc_id, doc.title, doc.markup, DIGEST, 2_000, 1)
                        for key, doc in records
                    ],
                ),
                (
                    "annotate_documenttext",
                    (
                        *("document_id", "version", "markup", "digest", "length", "created_at"),
                        "text",
                    ),
                    [
                        (key, 1, doc.markup, DIGEST, 2_000, "2026-01-01 00:00:00+00:00", doc.text)
                        for key, doc in records
                    ],
                ),
            ]
        )
    }


LOADERS: dict[str, Callable[[Path], dict[str, Any]]] = {
    "ours trec-qrels": _ours("trec-qrels"),
    "ours docs-jsonl": _ours("docs-jsonl"),
    "bare trec-qrels": _bare_qrels,
    "bare docs-jsonl": _bare_documents,
    "bare_plain trec-qrels": _bare_plain("trec-qrels"),
    "bare_plain docs-jsonl": _bare_plain("docs-jsonl"),
}
STEPS: Steps = {
    name: lambda options, load=load: load(options.file)  # type: ignore[misc]
    for name, load in LOADERS.items()
}


if __name__ == "__main__":
    main()
