"""Read a layout according to its documentation, with only json and csv.

The results of tools are compared with this. The same functions process the rows that a tool yields,
so that both fill a `Content` in the same way.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from exporters.exports.layouts.reranking import CANDIDATES
from exporters.exports.proof.content import Content
from formats.source import open_source
from formats.trec_qrels import read_qrels

Rows = Iterable[Mapping[str, Any]]
# The sides of a pair's queries, by the suffix of their ids.
SIDES = {"-og": "original", "-changed": "changed", "-reversed": "reversed"}


def json_lines(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the objects of a JSONL file."""
    with path.open("rb") as stream:
        for line in stream:
            yield json.loads(line)


def side_of(query_id: str) -> tuple[str, str]:
    """Return the pair and the side of a query.

    >>> side_of("301-og"), side_of("a-og-changed")
    (('301', 'original'), ('a-og', 'changed'))
    """
    for suffix, side in SIDES.items():
        if query_id.endswith(suffix):
            return query_id.removesuffix(suffix), side
    raise ValueError(f"query {query_id!r} ends with none of {', '.join(SIDES)}")


# --- mteb and hf ----------------------------------------------------------------------------------

FILES = {
    "default": "qrels.jsonl",
    "corpus": "corpus.jsonl",
    "queries": "queries.jsonl",
    "instruction": "instructions.jsonl",
    "top_ranked": "top_ranked.jsonl",
    "qrel_diff": "qrel_diff.jsonl",
}


def mteb(folder: Path) -> Content:
    """Read the JSONL files."""
    return of_configs(lambda config: json_lines(folder / FILES[config]))


def of_configs(load: Callable[[str], Rows]) -> Content:
    """Return the content of the rows of each config; `load` returns the rows of one."""
    content = Content()
    for row in load("corpus"):
        content.add("documents", row["_id"], row["title"], row["text"])
    for row in load("queries"):
        content.add("queries", row["_id"], row["text"])
    for row in load("instruction"):
        content.add("instructions", row["query-id"], row["instruction"])
    for row in load("top_ranked"):
        content.add("candidates", row["query-id"], list(row["corpus-ids"]))
    for row in load("qrel_diff"):
        content.add("changed documents", row["query-id"], list(row["corpus-ids"]))
    for row in load("default"):
        pair, side = side_of(row["query-id"])
        content.add_grade(side, pair, row["corpus-id"], int(row["score"]))
    return content


# --- beir -----------------------------------------------------------------------------------------


def splits(folder: Path) -> list[str]:
    """Return the splits of a BEIR folder."""
    return sorted(path.stem for path in (folder / "qrels").glob("*.tsv"))


def beir(folder: Path) -> Content:
    """Read the folder like BEIR's GenericDataLoader."""
    content = Content()
    for row in json_lines(folder / "corpus.jsonl"):
        content.add("documents", row["_id"], row["title"], row["text"])
    queries = {row["_id"]: row["text"] for row in json_lines(folder / "queries.jsonl")}
    for split in splits(folder):
        lines: dict[str, dict[str, int]] = {}
        with (folder / "qrels" / f"{split}.tsv").open(encoding="utf-8", newline="") as stream:
            table = csv.reader(stream, delimiter="\t")
            next(table)
            for query_id, doc_id, score in table:
                lines.setdefault(query_id, {})[doc_id] = int(score)
        add_split(content, queries, lines)
    return content


def add_split(
    content: Content, queries: Mapping[str, str], qrels: Mapping[str, Mapping[str, int]]
) -> None:
    """Add a split: its grades, and the queries that have one."""
    for query_id, grades in qrels.items():
        content.add("queries", query_id, queries[query_id])
        pair, side = side_of(query_id)
        for doc_id, relevance in grades.items():
            content.add_grade(side, pair, doc_id, relevance)


# --- ir-datasets ----------------------------------------------------------------------------------


def data_of(folder: Path) -> Path:
    """Return the data folder of the package of an ir-datasets layout."""
    return next(folder.glob("irds_*/data"))


def ir_datasets(folder: Path) -> Content:
    """Read the data of the package."""
    content, data = Content(), data_of(folder)
    for row in json_lines(data / "corpus.jsonl"):
        content.add("documents", row["_id"], row["title"], row["text"])
    for path in sorted(data.glob("qrels.*.txt")):
        side = path.name.split(".")[1]
        for row in json_lines(data / f"queries.{side}.jsonl"):
            fields = (row[name] for name in ("query_id", "title", "description", "narrative"))
            content.add(f"queries {side}", *fields)
        with (data / f"candidates.{side}.run").open(encoding="utf-8") as run:
            for line in run:
                query_id, _, doc_id, _, score, _ = line.split(" ")
                content.add(f"candidates {side}", query_id, doc_id, float(score))
        _add_qrels(content, side, path)
    return content


# --- trec -----------------------------------------------------------------------------------------


def trec_files(folder: Path) -> dict[str, Path]:
    """Return the qrels files of a TREC export, by side."""
    files = {side: folder / f"qrels.{side}.txt" for side in SIDES.values()}
    return {side: path for side, path in files.items() if path.exists()}


def trec(folder: Path) -> Content:
    """Read the qrels and the candidates of a TREC export."""
    content = Content()
    for side, path in trec_files(folder).items():
        _add_qrels(content, side, path)
    if (path := candidates_of(folder)).exists():
        with path.open(encoding="utf-8") as run:
            for query_id, _, doc_id, _, score, _ in map(str.split, run):
                content.add("candidates", query_id, doc_id, float(score))
    return content


def candidates_of(folder: Path) -> Path:
    """Return the path of a TREC export's documents to rerank."""
    return folder / CANDIDATES


def _add_qrels(content: Content, side: str, path: Path) -> None:
    if not path.stat().st_size:
        return
    with open_source(path) as source:
        for line in read_qrels(source):
            content.add_grade(side, line.query_id, line.doc_id, line.relevance)
