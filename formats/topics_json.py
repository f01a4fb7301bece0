"""Topics as JSON: an object per line (TREC RAG, BEIR), a list, or one object by id (CODEC)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import IO

from formats.fields import Fields, parse_each, to_json
from formats.json_text import NotJson, parse_json
from formats.reading import SeenKeys, reader, write_lines
from formats.records import Topic
from formats.source import MAX_WHOLE, Source
from formats.texts import check_id, json_name

_IDS = ("query_id", "id", "_id", "qid", "topic_id", "number", "tid")


@reader("topics-json", "topic")
def read_topics(source: Source) -> Iterator[Topic]:
    """Yield topics by their usual field names: title, text, query; description; narrative ...

    One object per line is read line by line, any other file as a whole. Other fields are counted
    as left out.
    """
    seen = SeenKeys()
    lines = source.lines()
    for line in lines:
        if not line.strip():
            continue
        value = _parse_object(line)
        if value is None or (not value.keys() & set(_IDS) and _has_objects(value)):
            yield from _read_whole(source, line, lines)
            return
        yield from _parse_topic(source, value, seen)
        break
    for line in lines:
        if not line.strip():
            continue
        try:
            value = parse_json(line)
        except NotJson as error:
            source.refuse(f"{error} at column {error.column}")
            continue
        except ValueError as error:
            source.refuse(str(error))
            continue
        yield from _parse_topic(source, value, seen)


def _parse_object(line: str) -> dict[str, object] | None:
    try:
        value = parse_json(line)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _has_objects(value: dict[str, object]) -> bool:
    """Return whether all values are objects: then the whole file is one object by topic id."""
    return all(isinstance(entry, dict) for entry in value.values())


def _read_whole(source: Source, first: str, lines: Iterator[str]) -> Iterator[Topic]:
    """Yield the topics of a file that is one JSON value and begins with the line `first`."""
    start = source.line or 1
    parts = [first]
    length = len(first)
    for line in lines:
        parts.append(line)
        length += len(line) + 1
        if length > MAX_WHOLE:
            source.refuse_all(f"the file is longer than {MAX_WHOLE:,} characters")
            return
    if source.refused:
        return
    source.line, source.text = start, None
    try:
        value = parse_json("\n".join(parts))
    except NotJson as error:
        number = start + error.line - 1
        source.refuse(str(error), line=number, text=parts[error.line - 1])
        return
    except ValueError as error:
        source.refuse(str(error))
        return
    seen = SeenKeys()
    if isinstance(value, list):
        for entry in value:
            yield from _parse_topic(source, entry, seen)
    elif isinstance(value, dict):
        for query_id, entry in value.items():
            if isinstance(entry, dict):
                entry = {"query_id": query_id, **entry}
            yield from _parse_topic(source, entry, seen)
    else:
        source.refuse(f"topics must be objects, not {json_name(value)}")


def _parse_topic(source: Source, value: object, seen: SeenKeys) -> Iterator[Topic]:
    if not isinstance(value, dict):
        source.refuse(f"a topic must be a JSON object, not {json_name(value)}")
        return

    def parse(fields: Fields) -> Topic:
        topic = Topic(
            fields.id(*_IDS),
            fields.text("title", "Query", "query", "text", "label"),
            fields.text("description", "desc"),
            fields.optional_text("narrative", "Guidelines", "guidelines", "instruction", "narr"),
        )
        if (entries := fields.value("topics")) is not None:
            topic = _parse_languages(source, topic.query_id, entries)
        if seen.is_repeated(topic.query_id):
            raise ValueError(f"topic {topic.query_id} occurs twice")
        return topic

    yield from parse_each(source, [Fields(value)], parse)


def _parse_languages(source: Source, query_id: str, entries: object) -> Topic:
    """Return a NeuCLIR topic in English, or in its first language if it is not in English."""
    texts = (
        [entry for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []
    )
    if not texts:
        raise ValueError(f"topic {query_id} has no text in any language")
    chosen = next((entry for entry in texts if entry.get("lang") == "eng"), texts[0])
    fields = Fields({"topics": chosen})
    entry = fields.part("topics")
    topic = Topic(
        query_id,
        entry.text("topic_title"),
        entry.text("topic_description"),
        entry.optional_text("topic_narrative"),
    )
    language = entry.text("lang")
    if len(texts) > 1:
        source.leave_out(f"topics in other languages than {language}")
    fields.report_unread(source)
    return topic


def write_topics(records: Iterable[Topic], stream: IO[bytes]) -> int:
    """Write one topic per line: query_id, title, description, narrative (null if missing)."""

    def lines() -> Iterator[str]:
        for topic in records:
            check_id(topic.query_id, "query_id")
            yield to_json(topic)

    return write_lines(lines(), stream)
