"""The files that several layouts share, each written the same way."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping
from typing import IO

from exporters.exports.files import Writer
from exporters.exports.layouts.published import Published
from exporters.exports.selection import Pair
from formats.fields import to_json
from formats.jsonl_pairs import write_pairs

CORPUS, QUERIES, PAIRS, IDS = "corpus.jsonl", "queries.jsonl", "pairs.jsonl", "pair_ids.tsv"
TOP_RANKED = "top_ranked.jsonl"
# What the id of a query ends with, by the side of its narrative.
SUFFIXES = {"original": "-og", "altered": "-changed", "reversed": "-reversed"}


def put(stream: IO[bytes], fields: Mapping[str, object]) -> None:
    """Write one JSON object as a line."""
    stream.write((to_json(dict(fields)) + "\n").encode())


def write_corpus(published: Published, into: Writer, name: str = CORPUS) -> None:
    """Write every document: `_id`, `title`, `text`."""
    if published.publication.texts:
        holds = "Every candidate: its id, title and newest text."
    else:
        holds = "Every candidate by its id alone: texts may not leave the project."
    with into.file(name, holds) as stream:
        for one in published.texts():
            put(stream, {"_id": one.doc_id, "title": one.title, "text": one.text})


def write_pairs_file(published: Published, into: Writer, name: str = PAIRS) -> None:
    """Write the pairs with titles, categories and narratives, to be loaded as `pairs-jsonl`."""
    with into.file(name, "The pairs: query, category, origin, narratives.") as stream:
        write_pairs(published.records(), stream)


def query_text(pair: Pair) -> str:
    """Return the words that stand for the query: its description, or its title without one."""
    return pair.query.description or pair.query.title


def table_line(*fields: object) -> bytes:
    """Return a line of a tab-separated table as the csv module reads it back."""
    line = io.StringIO()
    csv.writer(line, delimiter="\t", lineterminator="\n").writerow(fields)
    return line.getvalue().encode()


def yaml_text(text: str) -> str:
    """Return a text as YAML takes it: a JSON string is one."""
    return json.dumps(text, ensure_ascii=False)
