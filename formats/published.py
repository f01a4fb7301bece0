"""Read published sets: folders of MTEB and the Hugging Face hub, and BEIR with both sides.

They have a query once for each narrative, as `301-og` and `301-changed`. The readers make one query
with one instruction pair of these. `pairs.jsonl`, which Rejudge writes beside the other files, has
the full ids and queries.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from formats import beir
from formats.beir import read_corpus, read_qrels_file
from formats.fields import Fields, parse_each, read_jsonl
from formats.folders import Folder
from formats.jsonl_pairs import read_pairs
from formats.reading import SeenKeys, SeenPairs, reader
from formats.records import (
    Doc,
    JudgmentRecord,
    NarrativeRecord,
    PairRecord,
    Pooled,
    Qrel,
    Topic,
)
from formats.source import Source
from formats.texts import check_id

# The rater of a published set's grades. No person of the project gave them, so they are loaded as a
# machine's: they count in no figures about people and can be checked.
ANNOTATOR = "published"
PAIRS, IDS = "pairs.jsonl", "pair_ids.tsv"
CORPUS, QUERIES, INSTRUCTIONS = "corpus.jsonl", "queries.jsonl", "instructions.jsonl"
QRELS, TOP_RANKED, DIFF = "qrels.jsonl", "top_ranked.jsonl", "qrel_diff.jsonl"
# The subfolder of the set in which the changed narratives are the reversed ones.
REVERSED = "reversed/"
SIDES = {"-og": "original", "-changed": "altered", "-reversed": "reversed"}

Record = PairRecord | Doc | Qrel | Pooled | JudgmentRecord


class _KnownPairs(NamedTuple):
    """The pairs of a folder: their ids by the names used in it, and their queries."""

    pair_ids: dict[str, str]
    queries: dict[str, str]

    def resolve(self, query_id: str) -> tuple[str, str, str]:
        """Return query, pair and side of a query's id; raise ValueError if the pair is unknown."""
        for suffix, side in SIDES.items():
            name_in_folder = query_id.removesuffix(suffix)
            if name_in_folder != query_id:
                pair_id = self.pair_ids.get(name_in_folder, name_in_folder)
                if pair_id in self.queries:
                    return self.queries[pair_id], pair_id, side
        raise ValueError(f"query {query_id} is not a side of a pair in the folder")


@reader("mteb", "query, document or qrels line")
def read_mteb(folder: Folder) -> Iterator[Record]:
    """Yield pairs, documents, candidates, earlier relevance, and claims about the changed one.

    Without `pairs.jsonl`, each pair is a separate query with the query's text as its title.
    """
    names = folder.names()
    if missing := [name for name in (QUERIES, INSTRUCTIONS, QRELS) if name not in names]:
        folder.refuse_all(f"no {' and no '.join(missing)} in this folder")
        return
    seen_pairs = _KnownPairs(_read_pair_ids(folder, names), {})
    pairs = _read_pair_records(folder) if PAIRS in names else _build_pairs(folder)
    for pair in pairs:
        seen_pairs.queries[pair.pair_id] = pair.query_id
        yield pair
    if CORPUS in names:
        yield from _read_documents(folder)
    if TOP_RANKED in names:
        yield from _read_candidates(folder.source(TOP_RANKED), seen_pairs)
    for prefix, changed in (("", "altered"), (REVERSED, "reversed")):
        if prefix + QRELS in names:
            yield from _read_grades(folder.source(prefix + QRELS), seen_pairs, changed)


@reader("hf", "query, document or qrels line")
def read_hf(folder: Folder) -> Iterator[Record]:
    """Read a data set of the hub with a dataset card: the same files as in `mteb`."""
    yield from read_mteb(folder)


def read_beir(folder: Folder) -> Iterator[Record | Topic]:
    """Read a BEIR folder, or a published set if it has pairs and a split for each side."""
    if {PAIRS, "qrels/original.tsv", "qrels/changed.tsv"} <= set(folder.names()):
        yield from _read_sides(folder)
    else:
        yield from beir.read_beir(folder)


def _read_sides(folder: Folder) -> Iterator[Record]:
    """Read a folder in the release layout `beir`."""
    names = folder.names()
    seen_pairs = _KnownPairs({}, {})
    for pair in _read_pair_records(folder):
        seen_pairs.queries[pair.pair_id] = pair.query_id
        yield pair
    if CORPUS in names:
        yield from _read_documents(folder)
    if TOP_RANKED in names:
        yield from _read_candidates(folder.source(TOP_RANKED), seen_pairs)
    for split in ("original", "changed", "reversed"):
        if (name := f"qrels/{split}.tsv") in names:
            source = folder.source(name)
            for line in read_qrels_file(source, SeenPairs()):
                yield from _grade_records(source, seen_pairs, *line[:3])


def _read_pair_ids(folder: Folder, names: list[str]) -> dict[str, str]:
    """Return the id of each pair by its name in the folder."""
    if IDS not in names:
        return {}
    pair_ids = {}
    source = folder.source(IDS)
    for number, line in enumerate(source.lines()):
        columns = line.split("\t")
        if len(columns) != 2:
            source.refuse(f"a line has 2 columns separated by a tab, this has {len(columns)}")
        elif number:
            pair_ids[columns[1]] = columns[0]
    return pair_ids


def _read_pair_records(folder: Folder) -> Iterator[PairRecord]:
    for record in read_pairs(folder.source(PAIRS)):
        if isinstance(record, PairRecord):
            yield record


def _build_pairs(folder: Folder) -> Iterator[PairRecord]:
    """Build pairs from the queries and their instructions."""
    instructed = SeenKeys()

    def parse_instruction(fields: Fields) -> tuple[str, str]:
        query_id = fields.id("query-id")
        if instructed.is_repeated(query_id):
            raise ValueError(f"query {query_id} already has an instruction")
        return query_id, fields.text("instruction")

    source = folder.source(INSTRUCTIONS)
    instructions = dict(parse_each(source, read_jsonl(source), parse_instruction))
    known: set[str] = set()
    titles: dict[str, str] = {}
    narratives: dict[str, list[NarrativeRecord]] = {}
    source = folder.source(QUERIES)
    for query_id, text in parse_each(
        source, read_jsonl(source), lambda fields: (fields.id("_id", "id"), fields.text("text"))
    ):
        suffix = next((ending for ending in SIDES if query_id.endswith(ending)), None)
        if suffix is None:
            source.refuse(f"the id {query_id} does not end with any of {', '.join(SIDES)}")
            continue
        if query_id not in instructions:
            source.refuse(f"query {query_id} has no instruction")
            continue
        if query_id in known:
            source.refuse(f"query {query_id} occurs twice")
            continue
        known.add(query_id)
        pair_id = query_id.removesuffix(suffix)
        if titles.setdefault(pair_id, text) != text:
            source.leave_out("text, where it differs between the queries of a pair")
        narratives.setdefault(pair_id, []).append(
            NarrativeRecord(SIDES[suffix], 1, instructions[query_id])
        )
    if unknown := sorted(instructions.keys() - known):
        source.line = source.text = None
        source.refuse(f"query {unknown[0]} is missing; {INSTRUCTIONS} has an instruction for it")
    for pair_id, title in titles.items():
        sides = sorted(
            narratives[pair_id], key=lambda narrative: list(SIDES.values()).index(narrative.side)
        )
        yield PairRecord(pair_id, pair_id, title, narratives=tuple(sides))


def _read_documents(folder: Folder) -> Iterator[Doc]:
    """Yield the documents; those with neither title nor text are known by id only."""
    for doc in read_corpus(folder.source(CORPUS), SeenKeys()):
        yield doc if doc.title or doc.text else doc._replace(text=None)


def _read_candidates(source: Source, seen_pairs: _KnownPairs) -> Iterator[Pooled]:
    """Yield the candidates of each pair once, from its original side."""

    def parse(fields: Fields) -> tuple[str, str, list[str]]:
        query_id, _, side = seen_pairs.resolve(fields.id("query-id"))
        doc_ids = fields.value("corpus-ids")
        if not isinstance(doc_ids, list):
            raise ValueError("corpus-ids must be a list")
        return query_id, side, [check_id(doc_id, "corpus-ids") for doc_id in doc_ids]

    for query_id, side, candidates in parse_each(source, read_jsonl(source), parse):
        if side == "original":
            for doc_id in candidates:
                yield Pooled(query_id, doc_id)


def _read_grades(
    source: Source, seen_pairs: _KnownPairs, changed: str
) -> Iterator[Qrel | JudgmentRecord]:
    """Yield the grades of one set; of the reversed set only the changed grades."""

    def parse(fields: Fields) -> tuple[str, str, int]:
        return fields.id("query-id"), fields.id("corpus-id"), fields.relevance("score")

    for grade in parse_each(source, read_jsonl(source), parse):
        for line in _grade_records(source, seen_pairs, *grade):
            if isinstance(line, JudgmentRecord):
                yield line._replace(side=changed)
            elif changed == "altered":
                yield line


def _grade_records(
    source: Source, seen_pairs: _KnownPairs, query_id: str, doc_id: str, relevance: int
) -> Iterator[Qrel | JudgmentRecord]:
    """Yield a grade as earlier relevance, or as the set's claim under the changed narrative."""
    try:
        query, pair_id, side = seen_pairs.resolve(query_id)
    except ValueError as error:
        source.refuse(str(error))
        return
    if side == "original":
        yield Qrel(query, doc_id, relevance)
        return
    yield JudgmentRecord(
        query_id=query,
        doc_id=doc_id,
        annotator=ANNOTATOR,
        relevance=relevance,
        side=side,
        pair_id=pair_id,
        version=1,
        machine=True,
    )
