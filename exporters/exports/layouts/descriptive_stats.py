"""descriptive_stats.json of the layout `mteb`: the statistics that MTEB asks of a new data set.

Shape and arithmetic: mteb 2.26, RetrievalDescriptiveStatistics. Lengths are in characters. A
document is its title and its text, a query its text and its instruction. Of the relevant documents,
the minimum, the maximum and the unique ones include those of grade 0, as in MTEB.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from typing import Any

from exporters.exports.files import Writer
from exporters.exports.layouts import rows

NAME = "descriptive_stats.json"
# MTEB's statistics of what this data set does not have.
NOT_TEXT = dict.fromkeys(
    f"{of}_{kind}_statistics"
    for of in ("documents", "queries")
    for kind in ("image", "audio", "video")
)


def write(into: Writer, prefix: str, qrels: str, instructions: str) -> None:
    """Write the statistics of a set from its files, which are all written."""

    def lines(name: str) -> Iterator[dict[str, Any]]:
        with (into.folder / (prefix + name)).open("rb") as stream:
            for line in stream:
                yield json.loads(line)

    instruction_of = {row["query-id"]: row["instruction"] for row in lines(instructions)}
    documents = _of_texts(f"{row['title']} {row['text']}".strip() for row in lines(rows.CORPUS))
    queries = _of_texts(
        f"{row['text']} {instruction_of[row['_id']]}" for row in lines(rows.QUERIES)
    )
    graded: Counter[str] = Counter()
    relevant, unique = 0, set()
    for row in lines(qrels):
        graded[row["query-id"]] += 1
        relevant += row["score"] != 0
        unique.add(row["corpus-id"])
    ranked = [len(row["corpus-ids"]) for row in lines(rows.TOP_RANKED)]
    facts = {entry["name"]: entry["lines"] for entry in into.files}
    counted = {
        "num_documents": facts[prefix + rows.CORPUS],
        "num_queries": facts[prefix + rows.QUERIES],
    }
    statistics = {
        "num_samples": sum(counted.values()),
        **counted,
        "number_of_characters": documents["total_text_length"] + queries["total_text_length"],
        "documents_text_statistics": documents,
        "queries_text_statistics": queries,
        **NOT_TEXT,
        "relevant_docs_statistics": {
            "num_relevant_docs": relevant,
            "min_relevant_docs_per_query": min(graded.values()),
            "average_relevant_docs_per_query": relevant / len(graded),
            "max_relevant_docs_per_query": max(graded.values()),
            "unique_relevant_docs": len(unique),
        },
        "top_ranked_statistics": {
            "num_top_ranked": sum(ranked),
            "min_top_ranked_per_query": min(ranked),
            "average_top_ranked_per_query": sum(ranked) / counted["num_queries"],
            "max_top_ranked_per_query": max(ranked),
        },
    }
    with into.file(prefix + NAME, "The statistics that MTEB asks of a new data set.") as stream:
        stream.write((json.dumps({"test": statistics}, indent=4) + "\n").encode())


def _of_texts(texts: Iterable[str]) -> dict[str, Any]:
    lengths, unique = [], set()
    for text in texts:
        lengths.append(len(text))
        unique.add(blake2b(text.encode(), digest_size=16).digest())
    return {
        "total_text_length": sum(lengths),
        "min_text_length": min(lengths),
        "average_text_length": sum(lengths) / len(lengths),
        "max_text_length": max(lengths),
        "unique_texts": len(unique),
    }
