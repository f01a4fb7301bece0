"""Write the files and fields that several layouts share."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import IO

from annotate.collection.models import Query
from exporters.exports.files import Writer
from exporters.exports.layouts.published import ORIGINAL, Published, Row
from exporters.exports.selection.collection import corpus_rows
from exporters.exports.selection.selection import Pair
from formats.fields import to_json
from formats.jsonl_pairs import write_pairs

CORPUS, QUERIES, PAIRS, IDS = "corpus.jsonl", "queries.jsonl", "pairs.jsonl", "pair_ids.tsv"
QRELS_HEADER = ("query-id", "corpus-id", "score")
REVERSED_QRELS = "The relevance under the reversed narratives."
TOP_RANKED = "top_ranked.jsonl"
# The ids of pairs in a layout that assigns its own ids.
IDS_HERE = "ids.tsv"
# The suffix of a query's id, by the side of its narrative.
SUFFIXES = {"original": "-og", "altered": "-changed", "reversed": "-reversed"}


def write_json_line(stream: IO[bytes], fields: Mapping[str, object]) -> None:
    """Write one JSON object as a line."""
    stream.write((to_json(dict(fields)) + "\n").encode())


def write_corpus(
    published: Published, into: Writer, name: str = CORPUS, *, passages: bool = False
) -> None:
    """Write every document with `_id`, `title` and `text`.

    `passages`: write passages instead of documents, if the lead chose so.
    """
    if published.publication.texts:
        holds = "Every candidate: its id, title and newest text."
    else:
        holds = "The id of every candidate: texts may not leave the project."
    with into.file(name, holds) as stream:
        texts = published.texts()
        if passages and published.publication.texts:
            texts = corpus_rows(published.project, texts)
        for document in texts:
            text = document.text or ""
            write_json_line(stream, {"_id": document.doc_id, "title": document.title, "text": text})


def write_pairs_file(published: Published, into: Writer, name: str = PAIRS) -> None:
    """Write the pairs with titles, categories and narratives, in the format `pairs-jsonl`."""
    with into.file(name, "The pairs: query, category, origin, narratives.") as stream:
        write_pairs(published.records(), stream)


def write_ids(
    into: Writer,
    written: Iterable[tuple[Pair, str]],
    name: str = IDS_HERE,
    holds: str = "The id of each pair in the project and in these files.",
) -> None:
    """Write the id of each pair, and the id that the layout gives it."""
    with into.file(name, holds) as stream:
        stream.write(table_line("pair_id", "written_as"))
        for pair, written_as in written:
            stream.write(table_line(pair.pair_id, written_as))


def graded(pool: Iterable[Row], side: str) -> Iterator[tuple[str, int]]:
    """Yield each document of a pool that the qrels of a side have, with its relevance there."""
    for row in pool:
        relevance = row.before if side == ORIGINAL else row.after
        if relevance is not None:
            yield row.doc_id, relevance


def write_grades(stream: IO[bytes], query_id: str, pool: Iterable[Row], side: str) -> None:
    """Write the qrels of a query on a side, as lines of a table."""
    for doc_id, relevance in graded(pool, side):
        stream.write(table_line(query_id, doc_id, relevance))


def text_of(query: Query) -> str:
    """Return the text of a query: its description, or its title if it has none."""
    return query.description or query.title


def is_number(text: str) -> bool:
    """Return whether an id is a number from 0 in Python's notation.

    >>> is_number("110"), is_number("051"), is_number("q1")
    (True, False, False)
    """
    return text.isascii() and text.isdigit() and str(int(text)) == text


def suffix_of(pair: Pair) -> str:
    """Return the part of a pair's id after the query's id, as 2 in 301_2, or ""."""
    _, separator, suffix = pair.pair_id.partition(f"{pair.query.query_id}_")
    return suffix if separator and pair.pair_id.startswith(pair.query.query_id) else ""


def sort_key_in_query(pair: Pair) -> tuple[int, bytes]:
    """Return the sort key of a pair within its query: its number, then its id."""
    suffix = suffix_of(pair)
    return (int(suffix) if is_number(suffix) else -1, pair.pair_id.encode())


def table_line(*fields: object, delimiter: str = "\t") -> bytes:
    """Return a line of a table that the csv module can read."""
    line = io.StringIO()
    # A cell with a carriage return is quoted only if the line's end has one, too.
    csv.writer(line, delimiter=delimiter, lineterminator="\r\n").writerow(fields)
    return line.getvalue().removesuffix("\r\n").encode() + b"\n"


def quoted(text: str) -> str:
    """Return a text as a string of YAML and TOML: a JSON string without unprintable characters.

    Both refuse some of those that JSON allows.
    """
    line = json.dumps(text, ensure_ascii=False)
    return "".join(c if c.isprintable() or ord(c) > 0xFFFF else f"\\u{ord(c):04x}" for c in line)
