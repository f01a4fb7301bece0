"""The files that several layouts share, each written the same way."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping
from typing import IO

from exporters.exports.files import Writer
from exporters.exports.layouts.published import Published
from exporters.exports.passages import corpus_rows
from exporters.exports.selection import Pair, QueryRow
from formats.fields import to_json
from formats.jsonl_pairs import write_pairs

CORPUS, QUERIES, PAIRS, IDS = "corpus.jsonl", "queries.jsonl", "pairs.jsonl", "pair_ids.tsv"
TOP_RANKED = "top_ranked.jsonl"
# The ids of pairs in a layout that gives them ids of its own.
IDS_HERE = "ids.tsv"
# What the id of a query ends with, by the side of its narrative.
SUFFIXES = {"original": "-og", "altered": "-changed", "reversed": "-reversed"}


def put(stream: IO[bytes], fields: Mapping[str, object]) -> None:
    """Write one JSON object as a line."""
    stream.write((to_json(dict(fields)) + "\n").encode())


def write_corpus(
    published: Published, into: Writer, name: str = CORPUS, *, passages: bool = False
) -> None:
    """Write every document: `_id`, `title`, `text`. `passages`: where the lead chose so, its
    passages in its place.
    """
    if published.publication.texts:
        holds = "Every candidate: its id, title and newest text."
    else:
        holds = "Every candidate by its id alone: texts may not leave the project."
    with into.file(name, holds) as stream:
        texts = published.texts()
        if passages and published.publication.texts:
            texts = corpus_rows(published.project, texts)
        for one in texts:
            put(stream, {"_id": one.doc_id, "title": one.title, "text": one.text})


def write_pairs_file(published: Published, into: Writer, name: str = PAIRS) -> None:
    """Write the pairs with titles, categories and narratives, to be loaded as `pairs-jsonl`."""
    with into.file(name, "The pairs: query, category, origin, narratives.") as stream:
        write_pairs(published.records(), stream)


def query_text(pair: Pair) -> str:
    """Return the words that stand for the query of a pair."""
    return text_of(pair.query)


def text_of(query: QueryRow) -> str:
    """Return the words that stand for a query: its description, or its title without one."""
    return query.description or query.title


def is_number(text: str) -> bool:
    """Say whether an id is a number from 0 as Python writes it.

    >>> is_number("110"), is_number("051"), is_number("q1")
    (True, False, False)
    """
    return text.isascii() and text.isdigit() and str(int(text)) == text


def suffix_of(pair: Pair) -> str:
    """Return what the id of a pair has behind that of its query, as 2 of 301_2, or ""."""
    _, separator, suffix = pair.pair_id.partition(f"{pair.query.query_id}_")
    return suffix if separator and pair.pair_id.startswith(pair.query.query_id) else ""


def place_in_query(pair: Pair) -> tuple[int, bytes]:
    """Return what the pairs of a query are ordered by: their numbers, then their ids."""
    suffix = suffix_of(pair)
    return (int(suffix) if is_number(suffix) else -1, pair.pair_id.encode())


def table_line(*fields: object) -> bytes:
    """Return a line of a tab-separated table as the csv module reads it back."""
    line = io.StringIO()
    csv.writer(line, delimiter="\t", lineterminator="\n").writerow(fields)
    return line.getvalue().encode()


def yaml_text(text: str) -> str:
    """Return a text as YAML takes it: a JSON string is one."""
    return json.dumps(text, ensure_ascii=False)
