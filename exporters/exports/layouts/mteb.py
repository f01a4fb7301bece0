"""The layouts `mteb` and `hf`: JSONL files that `datasets` loads by the configs of README.md.

Shape: mteb 2.26, RetrievalDatasetLoader and Core17InstructionRetrieval. MTEB treats every query
whose id does not end in `-og` as a changed one, so reversed narratives are a separate set in the
folder `reversed`.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from typing import Any

from annotate.projects.models import Project
from exporters.exports.files import Report, Writer
from exporters.exports.layouts import card, citation, rows
from exporters.exports.layouts.card import OF_REVERSED, Config
from exporters.exports.layouts.facts import ONE_TEXT, finish
from exporters.exports.layouts.published import ALTERED, ORIGINAL, REVERSED, Published, gather
from exporters.exports.manifest.manifest import Manifest
from exporters.exports.selection.selection import Pair

QRELS, INSTRUCTIONS, DIFF = "qrels.jsonl", "instructions.jsonl", "qrel_diff.jsonl"
README, TASK = "README.md", "task.py"
# MTEB groups queries by the part of their ids before the first separator.
SEPARATOR, REPLACEMENT = "_", "-"
NOT_HELD = (
    ONE_TEXT,
    "A pair id with an underscore is written with a hyphen; pair_ids.tsv has both.",
)


CONFIGS = (
    Config(
        "default",
        "test",
        QRELS,
        dict.fromkeys(("query-id", "corpus-id"), "string") | {"score": "int32"},
    ),
    Config("corpus", "corpus", rows.CORPUS, dict.fromkeys(("_id", "title", "text"), "string")),
    Config("queries", "queries", rows.QUERIES, dict.fromkeys(("_id", "text"), "string")),
    Config(
        "instruction",
        "instruction",
        INSTRUCTIONS,
        dict.fromkeys(("query-id", "instruction"), "string"),
    ),
    Config(
        "top_ranked", "top_ranked", rows.TOP_RANKED, {"query-id": "string", "corpus-ids": "list"}
    ),
    Config("qrel_diff", "qrel_diff", DIFF, {"query-id": "string", "corpus-ids": "list"}),
)

STATISTICS = "descriptive_stats.json"
# MTEB's statistics of what this data set does not have.
NOT_TEXT = dict.fromkeys(
    f"{of}_{kind}_statistics"
    for of in ("documents", "queries")
    for kind in ("image", "audio", "video")
)

_TASK_SOURCE = '''"""Evaluate a model on this folder, without a network:

    HF_HUB_OFFLINE=1 HF_DATASETS_OFFLINE=1 python task.py MODEL

MODEL is the name of a model that MTEB knows and that is on this machine. Tried with mteb 2.26.24.
"""

import sys
from pathlib import Path

import mteb
from mteb.tasks.instruction_reranking import Core17InstructionRetrieval


class {name}(Core17InstructionRetrieval):
    """{about}"""

    metadata = Core17InstructionRetrieval.metadata.model_copy(
        update={{
            "name": {name!r},
            "description": {about!r},
            "reference": None,
            "dataset": {{"path": str(Path(__file__).resolve().parent), "revision": "local"}},
            "eval_langs": {languages!r},
            "license": {licence!r},
            "bibtex_citation": {citation!r},
        }}
    )


def evaluate(model):
    """Return MTEB's results of a model, or of an object with `index`, `search` and
    `mteb_model_meta`."""
    return mteb.evaluate(model, {name}(), cache=None, co2_tracker=False)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    for result in evaluate(mteb.get_model(sys.argv[1])):
        print(result.task_name, result.scores)
'''


def write_mteb(project: Project, into: Writer, report: Report) -> Manifest:
    """Write the folder with a task file that evaluates it without a network."""
    published = gather(project, report)
    sets = _write_sets(published, into, report)
    for prefix, side in sets.items():
        with into.file(prefix + TASK, "The task: python task.py MODEL evaluates a model.") as f:
            f.write(_task_source(published, reverse=bool(prefix)).encode())
        _write_statistics(into, prefix)
        with into.file(prefix + README, "The file of each config, for datasets.") as f:
            f.write(card.short(published, _parts_of_set(into, prefix), side).encode())
    return finish("mteb", published, into, not_held=NOT_HELD)


def write_hf(project: Project, into: Writer, report: Report) -> Manifest:
    """Write the folder with a dataset card and the files for its citation."""
    published = gather(project, report)
    sets = _write_sets(published, into, report)
    for prefix, side in sets.items():
        with into.file(prefix + README, "The dataset card.") as f:
            f.write(card.full(published, _parts_of_set(into, prefix), side).encode())
    card.write(published, [part for prefix in sets for part in _parts_of_set(into, prefix)], into)
    if not citation.missing(published.publication):
        citation.write_files(published.publication, into)
    return finish("hf", published, into, not_held=NOT_HELD)


def _write_sets(published: Published, into: Writer, report: Report) -> dict[str, str]:
    """Write the data of each set, and return their folders with the side after the change."""
    ids = written_ids(published.every_pair)
    sets: dict[str, str] = {"": ALTERED}
    if published.pairs[REVERSED]:
        sets[OF_REVERSED] = REVERSED
    for prefix, side in sets.items():
        _write_data(published, into, prefix, side, ids, report)
    rows.write_ids(
        into,
        ((pair, ids[pair.pk]) for pair in published.every_pair),
        rows.IDS,
        "The id of each pair in these files and in the project.",
    )
    return sets


def _write_data(
    published: Published,
    into: Writer,
    prefix: str,
    side: str,
    ids: dict[int, str],
    report: Report,
) -> None:
    """Write the files of one set; in the reversed set, reversed narratives are the changed ones."""
    og, changed = rows.SUFFIXES[ORIGINAL], rows.SUFFIXES[ALTERED]
    holds = {
        prefix + QRELS: "The relevance before and after the change, under -og and -changed.",
        prefix + rows.TOP_RANKED: "The documents that a system reranks, for each query.",
        prefix + DIFF: "The documents whose relevance changed, for each pair.",
    }
    with into.open_together(holds) as (qrels, ranked, diff):
        for pair, pool in published.pools(side, report):
            name = ids[pair.pk]
            candidates = [row.doc_id for row in pool]
            for suffix, of in ((og, ORIGINAL), (changed, side)):
                query_id = name + suffix
                for doc_id, relevance in rows.graded(pool, of):
                    rows.write_json_line(
                        qrels, {"query-id": query_id, "corpus-id": doc_id, "score": relevance}
                    )
                rows.write_json_line(ranked, {"query-id": query_id, "corpus-ids": candidates})
            if differing := [row.doc_id for row in pool if row.changed]:
                rows.write_json_line(diff, {"query-id": name, "corpus-ids": differing})
    pairs = published.pairs[side]
    with (
        into.file(prefix + rows.QUERIES, "Each query twice: before and after the change.") as f,
        into.file(prefix + INSTRUCTIONS, "The narrative of each of them.") as instructions,
    ):
        before = published.narratives(ORIGINAL, pairs)
        after = published.narratives(side, pairs)
        for (pair, original), (_pair, narrative) in zip(before, after, strict=True):
            for suffix, words in ((og, original), (changed, narrative)):
                query_id = ids[pair.pk] + suffix
                rows.write_json_line(f, {"_id": query_id, "text": rows.text_of(pair.query)})
                rows.write_json_line(instructions, {"query-id": query_id, "instruction": words})
    rows.write_corpus(published, into, prefix + rows.CORPUS)


def written_ids(pairs: list[Pair]) -> dict[int, str]:
    """Return the unique id under which each pair is written, with `_` replaced."""
    taken = {pair.pair_id for pair in pairs if SEPARATOR not in pair.pair_id}
    written = {}
    for pair in pairs:
        name = pair.pair_id
        if SEPARATOR in name:
            name = name.replace(SEPARATOR, REPLACEMENT)
            while name in taken:
                name += REPLACEMENT
            taken.add(name)
        written[pair.pk] = name
    return written


def _parts_of_set(into: Writer, prefix: str) -> list[card.Part]:
    """Return the configs of a set with the sizes and checksums of their files."""
    facts = {entry["name"]: entry for entry in into.files}
    return [card.Part(config, facts[prefix + config.file]) for config in CONFIGS]


def _task_source(published: Published, *, reverse: bool) -> str:
    """Return the source code of one set's task."""
    publication = published.publication
    words = re.findall(r"[A-Za-z0-9]+", published.project.slug)
    name = "".join(word[:1].upper() + word[1:] for word in words)
    name = ("" if name[:1].isalpha() else "Set") + name + ("Reversed" if reverse else "")
    about = "Instruction reranking on narratives that people rewrote and judged."
    return _TASK_SOURCE.format(
        name=name + "InstructionReranking",
        about=about,
        languages=publication.languages.split() or ["eng-Latn"],
        licence=publication.licence.lower() or None,
        citation=publication.citation,
    )


def _write_statistics(into: Writer, prefix: str) -> None:
    """Write the statistics that MTEB asks of a new data set, from the files of a set.

    Shape and arithmetic: mteb 2.26, RetrievalDescriptiveStatistics. Lengths are in characters. A
    document is its title and its text, a query its text and its instruction. Of the relevant
    documents, the minimum, the maximum and the unique ones include those of grade 0, as in MTEB.
    """

    def lines(name: str) -> Iterator[dict[str, Any]]:
        with (into.folder / (prefix + name)).open("rb") as stream:
            for line in stream:
                yield json.loads(line)

    instruction_of = {row["query-id"]: row["instruction"] for row in lines(INSTRUCTIONS)}
    documents = _of_texts(f"{row['title']} {row['text']}".strip() for row in lines(rows.CORPUS))
    queries = _of_texts(
        f"{row['text']} {instruction_of[row['_id']]}" for row in lines(rows.QUERIES)
    )
    graded: Counter[str] = Counter()
    relevant, unique = 0, set()
    for row in lines(QRELS):
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
    with into.file(
        prefix + STATISTICS, "The statistics that MTEB asks of a new data set."
    ) as stream:
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
