"""The layouts `mteb` and `hf`: JSONL files that `datasets` loads by the configs of README.md.

Shape: mteb 2.26, RetrievalDatasetLoader and Core17InstructionRetrieval. MTEB treats every query
whose id does not end in `-og` as a changed one, so reversed narratives are a separate set in the
folder `reversed`.
"""

from __future__ import annotations

from typing import NamedTuple

from annotate.projects.models import Project
from exporters.exports.files import Writer
from exporters.exports.layouts import (
    about,
    card,
    citation,
    croissant,
    descriptive_stats,
    rows,
    task_file,
)
from exporters.exports.layouts.facts import manifest_of
from exporters.exports.layouts.published import ALTERED, ORIGINAL, REVERSED, Published, gather
from exporters.exports.manifest.manifest import Manifest
from exporters.exports.progress import Report
from exporters.exports.selection.selection import Pair

QRELS, INSTRUCTIONS, DIFF = "qrels.jsonl", "instructions.jsonl", "qrel_diff.jsonl"
README, TASK = "README.md", "task.py"
OF_REVERSED = "reversed/"
# MTEB groups queries by the part of their ids before the first separator.
SEPARATOR, REPLACEMENT = "_", "-"


class Config(NamedTuple):
    """One config of a data set: its split, its file and the types of its columns."""

    name: str
    split: str
    file: str
    columns: dict[str, str]


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


def write_mteb(project: Project, into: Writer, report: Report) -> Manifest:
    """Write the folder with a task file that evaluates it without a network."""
    published = gather(project, report)
    sets = _write_sets(published, into, report)
    for prefix in sets:
        with into.file(prefix + TASK, "The task: python task.py MODEL evaluates a model.") as f:
            f.write(task_file.source(published, reverse=bool(prefix)).encode())
        descriptive_stats.write(into, prefix, QRELS, INSTRUCTIONS)
        with into.file(prefix + README, "The file of each config, for datasets.") as f:
            f.write(card.short(published, _parts_of_set(into, prefix)).encode())
    return manifest_of("mteb", published, into.files)


def write_hf(project: Project, into: Writer, report: Report) -> Manifest:
    """Write the folder with a dataset card and the files for its citation."""
    published = gather(project, report)
    sets = _write_sets(published, into, report)
    for prefix in sets:
        with into.file(prefix + README, "The dataset card.") as f:
            f.write(card.full(published, _parts_of_set(into, prefix)).encode())
    croissant.write(published, {prefix: _parts_of_set(into, prefix) for prefix in sets}, into)
    if not citation.missing(published.publication):
        citation.write_files(published, into)
    return manifest_of("hf", published, into.files)


def _write_sets(published: Published, into: Writer, report: Report) -> list[str]:
    """Write the data of each set, and return the folders of the sets."""
    ids = written_ids(published.every_pair)
    sets = {"": ALTERED}
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
    rows.write_pairs_file(published, into)
    about.write(published.project, into)
    return list(sets)


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
                rows.write_json_line(f, {"_id": query_id, "text": rows.query_text(pair)})
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
    return [
        card.Part(*config, file["lines"], file["bytes"], file["sha256"])
        for config in CONFIGS
        for file in [facts[prefix + config.file]]
    ]
