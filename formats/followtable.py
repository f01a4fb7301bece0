"""FollowTable: query_instruction.json beside a folder of tables.

Source: the data of "FollowTable: a benchmark for instruction-following table retrieval". A query's
id is its position in the list, an instruction's id is `<position>_<n>`, both from 0, as in the BEIR
files made from the same list. A shortened list has its original positions in index_map.json.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from typing import Any, NamedTuple

from formats.fields import Fields, items_with_lines
from formats.folders import Folder
from formats.json_text import NotJson, parse_json
from formats.reading import reader
from formats.records import Claim, Doc, Generated, NarrativeRecord, PairRecord, Qrel, Topic
from formats.source import Source
from formats.tables import markup_of, title_of
from formats.texts import check_id, excerpt, json_name

LIST, POSITIONS, TABLES = "query_instruction.json", "index_map.json", "tables"
# A field of an instruction: why tables violate it, by table name. The published files lack it.
VIOLATIONS = "violations"
# The note of a narrative is this prefix and the instruction type.
TYPE_NOTE = "instruction type "
RATER = "followtable-claims"

# Instruction types of the files -> categories of the paper.
CATEGORIES = {
    "1.1": "C1",
    "1.2": "C2",
    "2.1": "S1",
    "2.2": "S2",
    "2.3.1": "S3",
    "2.3.2": "S3",
    "2.3.3": "S3",
}


class _Instruction(NamedTuple):
    text: str
    kind: str
    positive: tuple[str, ...]
    pool: tuple[str, ...]
    violations: Mapping[str, str]


class _Entry(NamedTuple):
    query_id: str
    line: int
    query: str
    positive: tuple[str, ...]
    instructions: tuple[_Instruction, ...]

    @property
    def pool(self) -> tuple[str, ...]:
        """Return every document named, once each: the pools, then the query's positives."""
        names = [doc_id for instruction in self.instructions for doc_id in instruction.pool]
        return tuple(dict.fromkeys([*names, *self.positive]))

    @property
    def generated(self) -> dict[str, int]:
        """Return the documents written for one instruction, each with the instruction's number.

        A document counts as written for an instruction if only that one of several instructions
        lists it and it is not among the query's positives.
        """
        if len(self.instructions) < 2:
            return {}
        listed: dict[str, list[int]] = {}
        for number, instruction in enumerate(self.instructions):
            for doc_id in dict.fromkeys([*instruction.pool, *instruction.positive]):
                listed.setdefault(doc_id, []).append(number)
        positive = set(self.positive)
        return {
            doc_id: numbers[0]
            for doc_id, numbers in listed.items()
            if len(numbers) == 1 and doc_id not in positive
        }


@reader("followtable", "query")
def read_followtable(
    folder: Folder,
) -> Iterator[Topic | Doc | Qrel | PairRecord | Generated | Claim]:
    """Yield queries, then tables, qrels, instruction pairs, generated tables and claims.

    Qrels: 1 for `query_positive`, 0 for the other tables of the pool; none for generated tables,
    which only one of several instructions lists and which are not in `query_positive`. Claims
    (of the rater "followtable-claims"): 1 for `instruction_positive`, 0 for the rest of the pool,
    with the reason given in `violations`. The seven instruction types become C1, C2, S1, S2, S3;
    the narrative's note keeps the type.
    """
    names = folder.names()
    if LIST not in names:
        folder.refuse_all(f"no {LIST} in this folder")
        return
    positions = _read_positions(folder) if POSITIONS in names else {}
    source = folder.source(LIST)
    entries = _read_entries(source, positions)
    if folder.refused:
        return
    tables = {
        name.rpartition("/")[2].removesuffix(".txt"): name
        for name in names
        if name.endswith(".txt") and not name.startswith("beir/")
    }
    for entry in entries:
        source.line = entry.line
        if tables:
            for doc_id in entry.pool:
                if doc_id not in tables:
                    source.refuse(f"table {doc_id} of query {entry.query_id} is not in the folder")
        yield Topic(entry.query_id, entry.query)
    yield from _read_documents(folder, entries, tables)
    # Open the list again, so that problems with the records below refer to it, not to a table.
    source = folder.source(LIST)
    for entry in entries:
        source.line = entry.line
        positive, generated = set(entry.positive), entry.generated
        for doc_id in entry.pool:
            if doc_id not in generated:
                yield Qrel(entry.query_id, doc_id, int(doc_id in positive))
    for entry in entries:
        source.line = entry.line
        for number, instruction in enumerate(entry.instructions):
            yield _make_pair(entry, number, instruction)
    for entry in entries:
        source.line = entry.line
        for doc_id, number in entry.generated.items():
            yield Generated(f"{entry.query_id}_{number}", doc_id)
    for entry in entries:
        source.line = entry.line
        for number, instruction in enumerate(entry.instructions):
            positive = set(instruction.positive)
            for doc_id in dict.fromkeys([*instruction.pool, *instruction.positive]):
                pair_id = f"{entry.query_id}_{number}"
                reason = instruction.violations.get(doc_id, "")
                yield Claim(pair_id, doc_id, int(doc_id in positive), RATER, reason)


def _make_pair(entry: _Entry, number: int, instruction: _Instruction) -> PairRecord:
    narrative = NarrativeRecord("altered", 1, instruction.text, note=TYPE_NOTE + instruction.kind)
    return PairRecord(
        pair_id=f"{entry.query_id}_{number}",
        query_id=entry.query_id,
        title=entry.query,
        category=CATEGORIES[instruction.kind],
        origin="llm",
        narratives=(narrative,),
    )


def _read_documents(folder: Folder, entries: list[_Entry], tables: dict[str, str]) -> Iterator[Doc]:
    """Yield every table of the folder; without tables, the documents named, by id only."""
    if not tables:
        for doc_id in dict.fromkeys(doc_id for entry in entries for doc_id in entry.pool):
            yield Doc(doc_id)
        return
    for doc_id, name in tables.items():
        source = folder.source(name)
        text = source.read_whole()
        if text is None:
            continue
        source.line = 1
        try:
            check_id(doc_id, "the table's name")
        except ValueError as error:
            source.refuse(str(error))
            continue
        markup = markup_of(text)
        yield Doc(doc_id, title_of(text, markup), text, markup)


def _read_positions(folder: Folder) -> dict[int, str]:
    source = folder.source(POSITIONS)
    text = source.read_whole()
    if text is None:
        return {}
    try:
        return {int(key): str(int(value)) for key, value in parse_json(text).items()}
    except (ValueError, TypeError, AttributeError):
        source.refuse_all('this must be an object of positions, like {"0": 8}')
        return {}


def _read_entries(source: Source, positions: dict[int, str]) -> list[_Entry]:
    text = source.read_whole()
    entries: list[_Entry] = []
    if text is None:
        return entries
    try:
        values = parse_json(text)
        if not isinstance(values, list):
            raise ValueError(f"this must be a list of queries, not {json_name(values)}")
        for position, (line, value) in enumerate(items_with_lines(text, values)):
            source.line = line
            query_id = positions.get(position, str(position))
            try:
                fields = _check_object(value)
                entries.append(_parse_entry(query_id, line, fields))
                fields.report_unread(source)
            except ValueError as error:
                source.refuse(f"entry {position}: {error}", line=line)
    except ValueError as error:
        source.refuse(str(error), line=error.line if isinstance(error, NotJson) else 1)
    return entries


def _check_object(value: object) -> Fields:
    if not isinstance(value, dict):
        raise ValueError(f"an entry must be an object, not {json_name(value)}")
    return Fields(value)


def _parse_entry(query_id: str, line: int, fields: Fields) -> _Entry:
    instructions = []
    query_positive = _parse_tables(fields, "query_positive")
    for number, out in enumerate(fields.each("outs")):
        try:
            kind = out.required_text("instruction_type")
            if kind not in CATEGORIES:
                raise ValueError(
                    f"instruction_type is {excerpt(repr(kind), 40)}; "
                    f"it must be one of {', '.join(CATEGORIES)}"
                )
            positive, pool = (
                _parse_tables(out, "instruction_positive"),
                _parse_tables(out, "all_tables"),
            )
            instructions.append(
                _Instruction(
                    out.required_text("instruction"),
                    kind,
                    positive,
                    pool,
                    _parse_violations(out, set(pool) - set(positive)),
                )
            )
            if _positive_names(out.values) == _positive_names(fields.values):
                # It lists the query's tables, if in another order or twice: count it as read.
                out.value("query_positive")
        except ValueError as error:
            raise ValueError(f"instruction {number}: {error}") from None
    return _Entry(
        query_id,
        line,
        fields.required_text("query"),
        query_positive,
        tuple(instructions),
    )


def _parse_violations(fields: Fields, violating: Set[str]) -> dict[str, str]:
    """Return why tables violate the instruction, by table id.

    Raise ValueError for a table that is not in `violating`: the pool without the positives.
    """
    reasons = fields.value(VIOLATIONS)
    if reasons is None:
        return {}
    if not isinstance(reasons, dict):
        raise ValueError(f"{VIOLATIONS} must be an object of reasons, not {json_name(reasons)}")
    by_doc_id = {}
    for name, reason in reasons.items():
        doc_id = check_id(name.removesuffix(".txt"), VIOLATIONS)
        if doc_id not in violating:
            raise ValueError(
                f"{VIOLATIONS} names {doc_id}, which is not among the tables of this instruction "
                "that violate it"
            )
        if not isinstance(reason, str):
            raise ValueError(f"{VIOLATIONS}: a reason must be text, not {json_name(reason)}")
        by_doc_id[doc_id] = reason
    return by_doc_id


def _positive_names(values: Mapping[str, Any]) -> set[str]:
    names = values.get("query_positive")
    return set(map(str, names)) if isinstance(names, list) else set()


def _parse_tables(fields: Fields, name: str) -> tuple[str, ...]:
    """Return table names without `.txt`, as in the BEIR files; repetitions are dropped."""
    names = fields.value(name)
    if not isinstance(names, list):
        raise ValueError(f"{name} must be a list of table names, not {json_name(names)}")
    return tuple(
        dict.fromkeys(
            check_id(table.removesuffix(".txt") if isinstance(table, str) else table, name)
            for table in names
        )
    )
