"""TREC topics as SGML.

This SGML is not XML: fields are not closed, and the text has labels ("Narrative:") in some years
and not in others.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import IO

from formats.reading import (
    LAYOUT,
    MAX_RECORD,
    SeenKeys,
    id_problem,
    normalize_line_ends,
    one_line,
    reader,
    strip_lines,
    write_lines,
)
from formats.records import Topic
from formats.source import Source
from formats.texts import CannotHold, check_id, check_text, excerpt

_READ_FIELDS = {
    "num": "num",
    "title": "title",
    "query": "title",
    "desc": "desc",
    "description": "desc",
    "narr": "narr",
    "narrative": "narr",
}
# Known, so that they end the field before them; their content is not kept.
_OTHER_FIELDS = [
    "head",
    "dom",
    "smry",
    "con",
    "fac",
    "nat",
    "def",
    "time",
    "price",
    "docid",
    "url",
    "querytime",
    "querytweettime",
    "topics",
]
_TOPIC_TAG = re.compile(
    rf"<(/?)(top|{'|'.join([*_READ_FIELDS, *_OTHER_FIELDS])})(?:\s[^<>]*)?>", re.IGNORECASE
)
# Only at the start of the field. Without a colon, the word must be alone on its line.
_LABELS = {
    "num": re.compile(r"\s*+Number\s*:", re.IGNORECASE),
    "title": re.compile(r"\s*+Topic\s*:", re.IGNORECASE),
    "desc": re.compile(r"\s*+Description(?:\s*:|[^\S\n]*(?=\n))", re.IGNORECASE),
    "narr": re.compile(r"\s*+Narrative(?:\s*:|[^\S\n]*(?=\n))", re.IGNORECASE),
}


class _OpenTopic:
    """A topic whose end was not read yet."""

    def __init__(self, line: int) -> None:
        self.line = line
        self.fields: dict[str, list[str]] = {}
        self.filled: set[str] = set()
        self.field: str | None = None
        self.length = 0
        self.fault: tuple[str, int] | None = None
        self.tag = ""
        # Tags that have content and are not kept.
        self.others: dict[str, None] = {}

    def add(self, text: str, line: int) -> None:
        if not text:
            return
        self.length += len(text)
        if self.field is not None:
            self.fields[self.field].append(text)
            if not text.isspace():
                self.filled.add(self.field)
                if self.field == "other":
                    self.others[self.tag] = None
        elif not text.isspace() and self.fault is None:
            self.fault = (f"text outside of a field: {excerpt(text.strip(), 60)}", line)

    def begin(self, tag: str, line: int) -> None:
        field = _READ_FIELDS.get(tag, "other")
        if field != "other" and field in self.filled:
            self.fault = self.fault or (f"a second <{tag}> in one topic", line)
        self.field, self.tag = field, tag
        self.fields.setdefault(field, [])

    def text(self, field: str) -> str | None:
        parts = self.fields.get(field)
        if parts is None:
            return None
        text = "".join(parts)
        label = _LABELS[field].match(text)
        text = text[label.end() :] if label else text
        return text.strip(LAYOUT) if field == "num" else strip_lines(text)


@reader("trec-topics", "topic")
def read_topics(source: Source) -> Iterator[Topic]:
    """Yield topics in TREC's SGML. A field ends at the next known tag, not at any `<`.

    A topic begins at <top> and ends at </top>, at the next <top> or with the file. Kept: number,
    title (on one line), description, narrative (None if the topic has none).
    """
    topic: _OpenTopic | None = None
    seen = SeenKeys()
    for line in source.lines():
        number = source.line or 0
        at = 0
        for match in _TOPIC_TAG.finditer(line):
            closing, tag = match[1], match[2].lower()
            if topic is not None:
                topic.add(line[at : match.start()], number)
            at = match.end()
            if tag in ("top", "topics"):
                if topic is not None:
                    yield from _finish_topic(topic, source, seen)
                topic = _OpenTopic(number) if tag == "top" and not closing else None
            elif topic is None:
                source.refuse(f"<{closing}{tag}> outside of a topic, no <top> before it")
            elif closing:
                topic.field = None
            else:
                topic.begin(tag, number)
        if topic is not None:
            topic.add(line[at:] + "\n", number)
            if topic.length > MAX_RECORD:
                source.refuse_all("a topic does not end: it is longer than 64 MiB")
                return
    if topic is not None and not source.broken:
        yield from _finish_topic(topic, source, seen)


def _finish_topic(topic: _OpenTopic, source: Source, seen: SeenKeys) -> Iterator[Topic]:
    source.line = topic.line
    source.text = None
    query_id = topic.text("num") or ""
    if topic.fault is not None:
        source.refuse(topic.fault[0], line=topic.fault[1])
        return
    if not query_id:
        source.refuse("a topic has no number (<num>)")
        return
    if problem := id_problem(query_id, "the topic's number"):
        source.refuse(problem)
        return
    if first := seen.first_line(query_id, topic.line):
        source.refuse(f"topic {query_id} was already on line {first}")
        return
    for tag in topic.others:
        source.leave_out(f"<{tag}>")
    yield Topic(
        query_id,
        one_line(topic.text("title") or ""),
        topic.text("desc") or "",
        topic.text("narr"),
    )


def write_topics(records: Iterable[Topic], stream: IO[bytes]) -> int:
    """Write topics in TREC's SGML, with the labels of robust04.

    SGML topics cannot have one of their own tags inside a text: such a text is refused.
    """

    def blocks() -> Iterator[str]:
        for topic in records:
            check_id(topic.query_id, "query_id")
            for what, text in zip(("title", "description", "narrative"), topic[1:], strict=True):
                if text and (match := _TOPIC_TAG.search(text)):
                    raise CannotHold(
                        f"the {what} of topic {topic.query_id} holds {match[0]}, "
                        "which ends a field in this format"
                    )
                check_text(text or "", f"the {what} of topic {topic.query_id}")
            title = one_line(topic.title)
            # A title that begins like a label gets a real label before it, so that it reads back.
            label = "Topic: " if _LABELS["title"].match(title) else ""
            lines = ["<top>", "", f"<num> Number: {topic.query_id}", f"<title> {label}{title}", ""]
            if topic.description:
                lines += ["<desc> Description:", normalize_line_ends(topic.description), ""]
            if topic.narrative is not None:
                lines += ["<narr> Narrative:", normalize_line_ends(topic.narrative), ""]
            yield "\n".join([*lines, "</top>", ""])

    return write_lines(blocks(), stream)
