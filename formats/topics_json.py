"""Topics as JSON: an object per line (TREC RAG, BEIR), a list, or one object by id (CODEC)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import IO

from formats.fields import Fields, parse_each, read_json, to_json
from formats.reading import SeenKeys, reader, write_lines
from formats.records import Topic
from formats.source import Source
from formats.texts import check_id

_IDS = ("query_id", "id", "_id", "qid", "topic_id", "number", "tid")


@reader("topics-json", "topic")
def read_topics(source: Source) -> Iterator[Topic]:
    """Yield topics by their usual field names: title, text, query; description; narrative ...

    One object per line is read line by line, any other file as a whole. Other fields are counted
    as left out.
    """
    seen = SeenKeys()

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

    objects = read_json(source, what="a topic")
    return parse_each(source, chain.from_iterable(map(_split_by_id, objects)), parse)


def _split_by_id(fields: Fields) -> Iterable[Fields]:
    """Return the topics of one object by topic id; any other object is one topic."""
    values = fields.values
    if values.keys() & set(_IDS) or not all(isinstance(entry, dict) for entry in values.values()):
        return [fields]
    return [Fields({"query_id": query_id, **entry}) for query_id, entry in values.items()]


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
