"""Read a layout according to its documentation, with only json and csv.

The results of tools are compared with this. The same functions process the rows that a tool yields,
so that both fill a `Content` in the same way.
"""

from __future__ import annotations

import csv
import hashlib
import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Any

from exporters.exports.layouts.card import OF_REVERSED
from exporters.exports.layouts.mteb import CONFIGS
from exporters.exports.layouts.multiconir import TABLE
from exporters.exports.layouts.paired_qrels import CANDIDATES
from formats import multi_infosearch as records_of
from formats.records import Claim, Doc, JudgmentRecord, PairRecord, Qrel
from formats.registry import lookup
from formats.source import open_source
from formats.trec_qrels import read_qrels

Rows = Iterable[Mapping[str, Any]]
# Grades by side (original, changed, reversed), pair and document.
Qrels = dict[str, dict[str, dict[str, int]]]
# Pair or query, document, and its grade or score.
Grade = tuple[str, str, int]
Score = tuple[str, str, float]
# The sides of a pair's queries, by the suffix of their ids.
SIDES = {"-og": "original", "-changed": "changed", "-reversed": "reversed"}
FILES = {config.name: config.file for config in CONFIGS}
# The file that a format reads in the layout's folder, if not the folder itself.
FORMAT_FILES = {"multiconir": TABLE, "multi-infosearch": records_of.RECORDS}
QRELS_SIDES = {"qrels_og": "original", "qrels_changed": "changed", "qrels_reversed": "reversed"}
CHANGED = {"altered": "changed", "reversed": "reversed"}


@dataclass
class Checksum:
    """The number of records, and a checksum over all their fields that ignores their order."""

    count: int = 0
    total: int = 0

    def add(self, *fields: object) -> None:
        """Count one record."""
        text = json.dumps(fields, ensure_ascii=True).encode()
        self.count += 1
        self.total = (self.total + int.from_bytes(hashlib.sha256(text).digest())) % (1 << 256)

    @property
    def digest(self) -> str:
        """Return the checksum in hexadecimal digits."""
        return f"{self.total:064x}"


def _grades() -> Qrels:
    return defaultdict(lambda: defaultdict(dict))


@dataclass
class Content:
    """Everything that one tool read: checksums by part (documents, queries, …), and grades."""

    parts: dict[str, Checksum] = field(default_factory=dict)
    qrels: Qrels = field(default_factory=_grades)

    def add(self, part: str, *fields: object) -> None:
        """Count one record of a part."""
        self.parts.setdefault(part, Checksum()).add(*fields)

    def add_grade(self, side: str, pair: str, doc_id: str, relevance: int) -> None:
        """Add one line of the qrels of a side."""
        self.add(f"qrels {side}", pair, doc_id, relevance)
        self.qrels[side][pair][doc_id] = relevance


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


def mteb(folder: Path) -> Content:
    """Read the JSONL files of each set."""
    return of_sets(folder, lambda prefix, config: json_lines(folder / prefix / FILES[config]))


def of_sets(folder: Path, load: Callable[[str, str], Rows]) -> Content:
    """Return the content of each set; `load` returns the rows of a config by the set's prefix."""
    content = Content()
    for prefix in prefixes(folder):
        _add_set(content, prefix, partial(load, prefix))
    return content


def prefixes(folder: Path) -> list[str]:
    """Return the prefix of each set: "", and that of the reversed narratives if there are any."""
    return ["", OF_REVERSED] if (folder / OF_REVERSED).is_dir() else [""]


def _add_set(content: Content, prefix: str, load: Callable[[str], Rows]) -> None:
    """Add the rows of each config of a set.

    The parts of the reversed set have its name in front. Its grades are not the oracle's: there,
    `-changed` is the reversed narrative.
    """
    under = prefix.replace("/", " ")
    for row in load("corpus"):
        content.add(f"{under}documents", row["_id"], row["title"], row["text"])
    for row in load("queries"):
        content.add(f"{under}queries", row["_id"], row["text"])
    for row in load("instruction"):
        content.add(f"{under}instructions", row["query-id"], row["instruction"])
    for row in load("top_ranked"):
        content.add(f"{under}candidates", row["query-id"], list(row["corpus-ids"]))
    for row in load("qrel_diff"):
        content.add(f"{under}changed documents", row["query-id"], list(row["corpus-ids"]))
    for row in load("default"):
        pair, side = side_of(row["query-id"])
        if prefix:
            content.add(f"{under}qrels {side}", pair, row["corpus-id"], int(row["score"]))
        else:
            content.add_grade(side, pair, row["corpus-id"], int(row["score"]))


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
        for line in _scores(data / f"candidates.{side}.run"):
            content.add(f"candidates {side}", *line)
        for grade in _grades_of(path):
            content.add_grade(side, *grade)
    return content


# --- trec -----------------------------------------------------------------------------------------


def trec(folder: Path) -> Content:
    """Read the qrels and the candidates of a TREC export."""
    return of_trec(folder, _grades_of, _scores)


def of_trec(
    folder: Path,
    read_qrels: Callable[[Path], Iterable[Grade]],
    read_run: Callable[[Path], Iterable[Score]] | None = None,
) -> Content:
    """Return what these functions read of the qrels and the candidates of a TREC export."""
    content = Content()
    for path in sorted(folder.glob("qrels.*.txt")):
        name = path.name.removeprefix("qrels.").removesuffix(".txt")
        for grade in read_qrels(path):
            if name in SIDES.values():
                content.add_grade(name, *grade)
            else:
                # As of claimed labels, which are none of the oracle's.
                content.add(f"qrels {name}", *grade)
    if read_run and (path := folder / CANDIDATES).exists():
        for score in read_run(path):
            content.add("candidates", *score)
    return content


def _grades_of(path: Path) -> Iterator[Grade]:
    if path.stat().st_size:
        with open_source(path) as source:
            yield from map(attrgetter("query_id", "doc_id", "relevance"), read_qrels(source))


def _scores(path: Path) -> Iterator[Score]:
    with path.open(encoding="utf-8") as run:
        for line in run:
            query_id, _, doc_id, _, score, _ = line.split(" ")
            yield query_id, doc_id, float(score)


# --- the papers' layouts --------------------------------------------------------------------------


def load_with_own_reader(layout: str, folder: Path) -> Content:
    """Read the folder with the format's reader, as `manage.py load` does."""
    content = Content()
    queries: dict[str, list[str]] = {}
    prior: list[Qrel] = []
    kind = lookup(layout)
    with kind.open(folder / FORMAT_FILES.get(layout, "")) as source:
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
    for name, side in QRELS_SIDES.items():
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
