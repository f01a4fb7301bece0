"""Read the papers' layouts: with json and csv alone, and with Rejudge's own readers."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from exporters.exports.layouts.multiconir import TABLE
from exporters.exports.proof.content import Content
from exporters.exports.proof.plain import json_lines
from formats import multi_infosearch as records_of
from formats.records import Claim, Doc, JudgmentRecord, PairRecord, Qrel
from formats.registry import lookup

# The file that a format reads in the layout's folder, if not the folder itself.
FILES = {"multiconir": TABLE, "multi-infosearch": records_of.RECORDS}
SIDES = {"qrels_og": "original", "qrels_changed": "changed", "qrels_reversed": "reversed"}
CHANGED = {"altered": "changed", "reversed": "reversed"}


def load_with_own_reader(layout: str, folder: Path) -> Content:
    """Read the folder with the format's reader, as `manage.py load` does."""
    content = Content()
    queries: dict[str, list[str]] = {}
    prior: list[Qrel] = []
    kind = lookup(layout)
    with kind.open(folder / FILES.get(layout, "")) as source:
        for record in kind.read(source):
            if isinstance(record, Doc):
                content.add("documents", record.text or "")
            elif isinstance(record, PairRecord):
                queries.setdefault(record.query_id, []).append(record.pair_id)
                for narrative in record.narratives:
                    if narrative.text:
                        content.add(f"narratives {narrative.side}", record.pair_id, narrative.text)
            elif isinstance(record, Qrel):
                prior.append(record)
            elif isinstance(record, Claim):
                content.add_grade("changed", record.pair_id, record.doc_id, record.relevance)
            elif isinstance(record, JudgmentRecord):
                side = CHANGED[record.side or "altered"]
                content.add_grade(side, record.pair_id or "", record.doc_id, record.relevance)
    for line in prior:
        for pair_id in queries.get(line.query_id, ()):
            content.add_grade("original", pair_id, line.doc_id, line.relevance)
    return content


def _add_narratives(content: Content, pair_id: str, **texts: str) -> None:
    for side, text in texts.items():
        if text:
            content.add(f"narratives {side}", pair_id, text)


def followtable(folder: Path) -> Content:
    """Read the list of queries and the tables."""
    content = Content()
    entries = json.loads((folder / "query_instruction.json").read_bytes())
    numbers = folder / "index_map.json"
    ids = json.loads(numbers.read_bytes()) if numbers.exists() else {}
    tables = sorted((folder / "tables").glob("*.txt"))
    for path in tables:
        # Readers that split lines do not count the last line end as text.
        content.add("documents", path.read_text(encoding="utf-8").removesuffix("\n"))
    named: dict[str, None] = {}
    for place, entry in enumerate(entries):
        positive = _table_names(entry["query_positive"])
        pools = [
            _table_names(out["all_tables"] + out["instruction_positive"]) for out in entry["outs"]
        ]
        pool = {name: None for its in (*pools, positive) for name in its}
        named |= pool
        for number, (out, its) in enumerate(zip(entry["outs"], pools, strict=True)):
            pair_id = f"{ids.get(str(place), place)}_{number}"
            _add_narratives(content, pair_id, altered=out["instruction"])
            good = _table_names(out["instruction_positive"])
            for name in its:
                content.add_grade("changed", pair_id, name, int(name in good))
            for name in pool:
                content.add_grade("original", pair_id, name, int(name in positive))
    if not tables:
        for _name in named:
            content.add("documents", "")
    return content


def _table_names(tables: list[str]) -> dict[str, None]:
    return dict.fromkeys(name.removesuffix(".txt") for name in tables)


def infosearch(folder: Path) -> Content:
    """Read queries, corpus and the three qrels."""
    content = Content()
    for row in json_lines(folder / "corpus.jsonl"):
        content.add("documents", row["text"])
    for row in json_lines(folder / "queries.jsonl"):
        _add_narratives(
            content,
            row["_id"],
            original=row["instruction_og"],
            altered=row["instruction_changed"],
            reversed=row["instruction_reversed"],
        )
    for name, side in SIDES.items():
        path = folder / name / "test.tsv"
        if not path.exists():
            continue
        for line in path.read_text(encoding="utf-8").splitlines()[1:]:
            query_id, doc_id, score = line.split("\t")
            content.add_grade(side, query_id, doc_id, int(score))
    return content


def multiconir(folder: Path) -> Content:
    """Read the table by the names of its columns."""
    content = Content()
    with (folder / TABLE).open(encoding="utf-8", newline="") as stream:
        table = list(csv.DictReader(stream))
    natural = any(name.startswith("Natural_Query") for name in (table or [{}])[0])
    for number, row in enumerate(table):
        most = sum(name.startswith("Query") and bool(text) for name, text in row.items())
        documents: dict[str, set[int]] = {f"{number}_positive": set()}
        content.add("documents", row["Positive"])
        for k in range(1, most + 1):
            if text := row.get(f"HN{k}"):
                documents[f"{number}_hn{k}"] = set(range(1, k + 1)) if natural else {k}
                content.add("documents", text)
        for mark, column in (("", "Query"), ("n", "Natural_Query")):
            for k in range(1, most + 1):
                if text := row.get(f"{column}{k}"):
                    pair_id = f"{number}_{k}{mark}"
                    _add_narratives(content, pair_id, altered=text)
                    for doc_id, broken in documents.items():
                        met = k - sum(condition <= k for condition in broken)
                        content.add_grade("changed", pair_id, doc_id, met)
                        content.add_grade("original", pair_id, doc_id, most - len(broken))
    return content


def multi_infosearch(folder: Path) -> Content:
    """Read the records."""
    content = Content()
    rows = list(json_lines(folder / records_of.RECORDS))
    numbers: dict[str, dict[str, int]] = {}
    relevance: dict[tuple[str, int], int] = {}
    for row in rows:
        its = numbers.setdefault(row["query_id"], {})
        if row["document"] not in its:
            its[row["document"]] = len(its) + 1
            relevance[row["query_id"], len(its)] = row["relevance"]
            content.add("documents", row["document"])
    pairs: dict[str, list[str]] = {}
    for row in rows:
        pairs.setdefault(row["query_id"], []).append(f"{row['query_id']}_{row['combo_id']}")
    for row in rows:
        pair_id = f"{row['query_id']}_{row['combo_id']}"
        _add_narratives(
            content, pair_id, altered=row["instructed_query"], reversed=row["reversed_query"]
        )
        for doc_id, text, grade in _two_documents(pair_id, row):
            content.add("documents", text)
            content.add_grade("changed", pair_id, doc_id, grade)
    for query_id, its_pairs in pairs.items():
        for pair_id in its_pairs:
            for number in numbers[query_id].values():
                doc_id = f"{query_id}_document{number}"
                content.add_grade("original", pair_id, doc_id, relevance[query_id, number])
            for other in its_pairs:
                for kind in ("positive", "negative"):
                    content.add_grade("original", pair_id, f"{other}_{kind}", 1)
    return content


def _two_documents(pair_id: str, row: dict[str, Any]) -> Iterator[tuple[str, str, int]]:
    yield f"{pair_id}_positive", row["positive_doc"], 1
    yield f"{pair_id}_negative", row["hard_negative_doc"], 0
