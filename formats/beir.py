"""BEIR folders: queries.jsonl, corpus.jsonl and qrels/*.tsv.

Source: beir/datasets/data_loader.py (GenericDataLoader).
"""

from __future__ import annotations

import shutil
import tempfile
import zipfile
from collections.abc import Iterable, Iterator
from typing import IO

from formats.fields import Fields, parse_each, read_jsonl, to_json
from formats.folders import Folder
from formats.jsonl import parse_doc
from formats.reading import SeenKeys, SeenPairs, parse_relevance, reader
from formats.records import Doc, Qrel, Topic
from formats.source import Source
from formats.texts import check_id


@reader("beir", "query, document or qrels line")
def read_beir(folder: Folder) -> Iterator[Topic | Doc | Qrel]:
    """Yield queries, then documents, then the qrels of all splits (test, train, dev) together.

    Queries come from queries.jsonl and any other file beside it named `…queries….jsonl`. Each of
    the three parts may be missing. `metadata` may hold description and narrative.
    """
    names = folder.names()
    queries = [n for n in names if "/" not in n and "queries" in n and _is_jsonl(n)]
    corpora = [n for n in names if n in ("corpus.jsonl", "corpus.jsonl.gz")]
    qrels = [n for n in names if n.startswith("qrels/") and n.endswith((".tsv", ".tsv.gz"))]
    if not queries and not corpora and not qrels:
        folder.refuse_all("no queries.jsonl, corpus.jsonl or qrels/*.tsv in this folder")
        return
    known_queries = SeenKeys()
    for name in queries:
        yield from _read_queries(folder.source(name), known_queries)
    known_documents = SeenKeys()
    for name in corpora:
        yield from read_corpus(folder.source(name), known_documents)
    pairs = SeenPairs()
    for name in qrels:
        yield from read_qrels_file(folder.source(name), pairs)


def _is_jsonl(name: str) -> bool:
    return name.endswith((".jsonl", ".jsonl.gz"))


def _read_queries(source: Source, seen: SeenKeys) -> Iterator[Topic]:
    def parse(fields: Fields) -> Topic:
        topic = _parse_topic(fields)
        if seen.is_repeated(topic.query_id):
            raise ValueError(f"query {topic.query_id} occurs twice")
        return topic

    return parse_each(source, read_jsonl(source), parse)


def _parse_topic(fields: Fields) -> Topic:
    query_id = fields.id("_id", "query_id", "id")
    text = fields.text("text", "query", "title")
    metadata = fields.part("metadata")

    def find_text(*names: str) -> str | None:
        value = fields.optional_text(*names)
        return metadata.optional_text(*names) if value is None else value

    title, narrative = text, find_text("narrative", "instruction")
    query = find_text("origin_query")
    if query is not None and text == f"{narrative} [SEP] {query}":
        # FollowTable joins the two for its models; people read them separately.
        title = query
    return Topic(query_id, title, find_text("description") or "", narrative)


def read_corpus(source: Source, seen: SeenKeys) -> Iterator[Doc]:
    """Yield the documents of a corpus.jsonl; refuse those whose id is in `seen`."""

    def parse(fields: Fields) -> Doc:
        doc = parse_doc(fields, fields.part("metadata"))
        if seen.is_repeated(doc.doc_id):
            raise ValueError(f"document {doc.doc_id} occurs twice")
        return doc

    return parse_each(source, read_jsonl(source), parse)


def read_qrels_file(source: Source, pairs: SeenPairs) -> Iterator[Qrel]:
    """Yield the lines of a qrels file: `query-id TAB corpus-id TAB score`.

    The header line may be missing. A line that contradicts another in `pairs` is refused.
    """
    first = True
    for line in source.lines():
        number = source.line or 0
        if not line.strip():
            continue
        columns = line.split("\t")
        if len(columns) != 3:
            source.refuse(
                "a line has 3 columns separated by tabs (query-id corpus-id score), "
                f"this has {len(columns)}"
            )
            first = False
            continue
        header = first and columns[2].strip().lower() in ("score", "relevance", "label")
        first = False
        if header:
            continue
        try:
            query_id = check_id(columns[0], "query-id")
            doc_id = check_id(columns[1], "corpus-id")
            relevance = parse_relevance(columns[2])
        except ValueError as error:
            source.refuse(str(error))
            continue
        if number % 10_000 == 0:
            pairs.forget_if_many()
        earlier = pairs.of_topic(query_id).setdefault(doc_id, (relevance, number))
        if earlier[0] != relevance:
            source.refuse(
                f"document {doc_id} of query {query_id} has relevance {relevance} here "
                f"and {earlier[0]} before"
            )
            continue
        yield Qrel(query_id, doc_id, relevance)


def write_beir(records: Iterable[Topic | Doc | Qrel], stream: IO[bytes]) -> int:
    """Write a zip archive with queries.jsonl, corpus.jsonl and qrels/test.tsv.

    Files without records are omitted. Records may come in any order. The iteration of a Qrel is not
    written: BEIR has no field for it.
    """
    count = 0
    # The files of a zip archive are written one after the other, so each is collected first.
    with (
        tempfile.TemporaryFile() as queries,
        tempfile.TemporaryFile() as corpus,
        tempfile.TemporaryFile() as qrels,
    ):
        for record in records:
            count += 1
            if isinstance(record, Topic):
                queries.write(_query_line(record))
            elif isinstance(record, Doc):
                corpus.write(_corpus_line(record))
            elif not isinstance(record, Qrel):
                raise ValueError("a BEIR archive can only hold queries, documents and qrels")
            else:
                if not qrels.tell():
                    qrels.write(b"query-id\tcorpus-id\tscore\n")
                query_id = check_id(record.query_id, "query_id")
                doc_id = check_id(record.doc_id, "doc_id")
                qrels.write(f"{query_id}\t{doc_id}\t{record.relevance}\n".encode())
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, part in (
                ("queries.jsonl", queries),
                ("corpus.jsonl", corpus),
                ("qrels/test.tsv", qrels),
            ):
                if part.tell():
                    part.seek(0)
                    # A fixed date, so that the same records give the same bytes.
                    entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
                    entry.compress_type = zipfile.ZIP_DEFLATED
                    with archive.open(entry, "w", force_zip64=True) as target:
                        shutil.copyfileobj(part, target)
    return count


def _query_line(topic: Topic) -> bytes:
    metadata = {}
    if topic.description:
        metadata["description"] = topic.description
    if topic.narrative is not None:
        metadata["narrative"] = topic.narrative
    check_id(topic.query_id, "query_id")
    entry = {"_id": topic.query_id, "text": topic.title, "metadata": metadata}
    return (to_json(entry) + "\n").encode()


def _corpus_line(doc: Doc) -> bytes:
    check_id(doc.doc_id, "doc_id")
    entry: dict[str, object] = {"_id": doc.doc_id, "title": doc.title}
    if doc.text is not None:
        entry["text"] = doc.text
    entry["metadata"] = {"markup": doc.markup}
    return (to_json(entry) + "\n").encode()
