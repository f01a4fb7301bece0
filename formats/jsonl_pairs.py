"""Instruction pairs as JSON, one object per line."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from typing import IO

from formats.fields import Fields, parse_each, read_jsonl, to_json
from formats.reading import SeenKeys, reader, write_lines
from formats.records import (
    SIDES,
    Claim,
    ConditionRecord,
    Generated,
    NarrativeRecord,
    PairRecord,
    fields_to_json,
    writer_of,
)
from formats.source import Source
from formats.texts import check_id, json_name


@reader("pairs-jsonl", "instruction pair")
def read_pairs(source: Source) -> Iterator[PairRecord | Claim | Generated]:
    """Yield instruction pairs with narratives, claims and generated documents, one per line.

    Claims have `"type": "claim"`. Documents written for one instruction have `"type": "generated"`.
    A missing `pair_id` is the query's id. Instead of `narratives`, the fields `original`, `altered`
    and `reversed` may hold texts: version 1 of each.
    """
    seen = SeenKeys()

    def parse(fields: Fields) -> PairRecord | Claim | Generated:
        kind = fields.one_of(tuple(_PARSERS), "type", default="pair")
        record = _PARSERS[kind](fields)
        fields.refuse_unread()
        if kind == "pair" and (first := seen.first_line(record.pair_id, source.line or 0)):
            raise ValueError(f"instruction pair {record.pair_id} was already on line {first}")
        return record

    yield from parse_each(source, read_jsonl(source), parse)


def _parse_generated(fields: Fields) -> Generated:
    return Generated(fields.id("pair_id"), fields.id("doc_id"), fields.optional_text("text"))


def _parse_claim(fields: Fields) -> Claim:
    return Claim(
        fields.id("pair_id"),
        fields.id("doc_id"),
        fields.relevance("relevance"),
        fields.required_text("rater"),
        fields.text("reason"),
    )


def _parse_pair(fields: Fields) -> PairRecord:
    query_id = fields.id("query_id")
    model = fields.text("model")
    origin = fields.one_of(("human", "llm"), "origin", default="llm" if model else "human")
    if model and origin == "human":
        raise ValueError(f"model is {model!r}, but origin is human")
    if restates := fields.text("restates"):
        check_id(restates, "restates")
    return PairRecord(
        pair_id=fields.optional_id("pair_id") or query_id,
        query_id=query_id,
        title=fields.text("title"),
        description=fields.text("description"),
        category=fields.text("category"),
        origin=origin,
        model=model,
        narratives=_parse_narratives(fields),
        domain=fields.text("domain"),
        restates=restates,
        core=fields.text("core"),
        source_fields=_parse_source_fields(fields),
    )


def _parse_source_fields(fields: Fields) -> str:
    value = fields.value("source_fields")
    if value is None or value == "":
        return ""
    if not isinstance(value, dict):
        raise ValueError(f"source_fields must be an object, not {json_name(value)}")
    return fields_to_json(value)


def _parse_writer(entry: Fields) -> tuple[str, str]:
    """Return origin and model of a version from its own entry; empty if it has neither."""
    model = entry.text("model")
    origin = entry.optional_one_of(("human", "llm"), "origin") or ("llm" if model else "")
    if model and origin == "human":
        raise ValueError(f"model of a narrative is {model!r}, but origin is human")
    return origin, model


def _parse_narratives(fields: Fields) -> tuple[NarrativeRecord, ...]:
    narratives: list[NarrativeRecord] = []
    for entry in fields.each("narratives"):
        side = entry.one_of(SIDES, "side")
        versions = [narrative.version for narrative in narratives if narrative.side == side]
        version = entry.optional_integer("version", least=1) or max(versions, default=0) + 1
        if version in versions:
            raise ValueError(f"version {version} of the {side} narrative occurs twice")
        text = entry.optional_text("text")
        if text is None:
            raise ValueError(f"the text of the {side} narrative is missing")
        narratives.append(
            NarrativeRecord(
                side,
                version,
                text,
                entry.optional_text("author"),
                entry.time("at"),
                entry.text("note"),
                _parse_conditions(entry),
                *_parse_writer(entry),
                entry.optional_text("withdrawn_by"),
                entry.time("withdrawn_at"),
            )
        )
    for side in SIDES:
        text = fields.optional_text(side)
        if text is not None:
            if any(narrative.side == side for narrative in narratives):
                raise ValueError(
                    f"the {side} narrative is given both in `narratives` and beside it"
                )
            narratives.append(NarrativeRecord(side, 1, text))
    narratives.sort(key=lambda narrative: (SIDES.index(narrative.side), narrative.version))
    return tuple(narratives)


def _parse_conditions(fields: Fields) -> tuple[ConditionRecord, ...]:
    """Return conditions in order of their numbers: each an object with a text, or only a text."""
    values = fields.value("conditions")
    if values is None:
        return ()
    if not isinstance(values, list):
        raise ValueError(f"conditions must be a list, not {json_name(values)}")
    return tuple(_parse_condition(number, value) for number, value in enumerate(values, 1))


def _parse_condition(number: int, value: object) -> ConditionRecord:
    if isinstance(value, str):
        value = {"text": value}
    if not isinstance(value, dict):
        raise ValueError(f"condition {number} must be an object or text, not {json_name(value)}")
    try:
        fields = Fields(value)
        name, text = fields.text("name"), fields.required_text("text")
        negated = None if fields.value("negated") is None else fields.boolean("negated")
        condition = ConditionRecord(name, text, negated)
        fields.refuse_unread()
    except ValueError as error:
        raise ValueError(f"condition {number}: {error}") from None
    return condition


_PARSERS: dict[str, Callable[[Fields], PairRecord | Claim | Generated]] = {
    "pair": _parse_pair,
    "claim": _parse_claim,
    "generated": _parse_generated,
}
_KINDS = {PairRecord: "pair", Claim: "claim", Generated: "generated"}


def write_pairs(records: Iterable[PairRecord | Claim | Generated], stream: IO[bytes]) -> int:
    """Write one pair, claim or generated document per line, as `read_pairs` reads it."""

    def lines() -> Iterator[str]:
        for record in records:
            check_id(record.pair_id, "pair_id")
            check_id(record[1], record._fields[1])
            fields: dict[str, object] = {"type": _KINDS[type(record)], **record._asdict()}
            if isinstance(record, Claim) and not record.reason:
                del fields["reason"]
            if isinstance(record, Generated) and record.text is None:
                del fields["text"]
            if isinstance(record, PairRecord):
                fields["narratives"] = [
                    _version_fields(record, narrative) for narrative in record.narratives
                ]
                for name in ("domain", "restates"):
                    if not fields[name]:
                        del fields[name]
                del fields["core"], fields["source_fields"]
                if record.core:
                    fields["core"] = record.core
                if record.source_fields:
                    fields["source_fields"] = json.loads(record.source_fields)
            yield to_json(fields)

    return write_lines(lines(), stream)


def _version_fields(pair: PairRecord, narrative: NarrativeRecord) -> dict[str, object]:
    """Return a version's fields, without origin and model if they follow from the pair's.

    Only a withdrawn version says by whom and when.
    """
    fields = narrative._asdict()
    if writer_of(pair, narrative) == writer_of(pair, narrative._replace(origin="")):
        del fields["origin"], fields["model"]
    if narrative.withdrawn_at is None:
        del fields["withdrawn_by"], fields["withdrawn_at"]
    fields["conditions"] = [_condition_fields(condition) for condition in narrative.conditions]
    return fields


def _condition_fields(condition: ConditionRecord) -> dict[str, object]:
    """Return a condition's fields, without `negated` if it is not known."""
    fields = condition._asdict()
    if condition.negated is None:
        del fields["negated"]
    return fields
