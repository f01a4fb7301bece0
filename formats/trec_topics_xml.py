"""TREC topics as XML."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import IO, NamedTuple
from xml.parsers import expat
from xml.sax.saxutils import escape, quoteattr

from formats.reading import (
    LAYOUT,
    MAX_RECORD,
    SeenKeys,
    id_problem,
    normalize_line_ends,
    one_line,
    reader,
    strip_lines,
)
from formats.records import Topic
from formats.source import Source
from formats.texts import CannotHold, check_id, check_text, excerpt

_XML_FIELDS = {
    "query": "title",
    "title": "title",
    "question": "desc",
    "description": "desc",
    "desc": "desc",
    "narrative": "narr",
    "narr": "narr",
}


# A longer token is refused: expat would parse it from its start again with each block.
_MAX_TOKEN = 4 * 1024 * 1024


class _Unsafe(Exception):
    """Raised in the parser's callbacks to stop it with a sentence."""


class _XmlTopic(NamedTuple):
    """One topic that was read; `others` are its elements and attributes that are not kept."""

    line: int
    number: str | None
    fields: dict[str, str]
    others: dict[str, None]
    # Text outside of the topic's elements.
    text: str


class _XmlTopics:
    """The parser's callbacks: collect finished topics with the line on which each began."""

    def __init__(self) -> None:
        self.finished: list[_XmlTopic] = []
        self.lines = 1
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._text
        # A DTD may declare elements (the web track's does). Entities can be bombs or read files.
        self.parser.EntityDeclHandler = self._entity
        self.parser.ExternalEntityRefHandler = self._external
        self.parser.SkippedEntityHandler = self._skipped
        self._depth = 0
        self._topic_depth: int | None = None
        self._field_depth: int | None = None
        self._field = ""
        self._number: str | None = None
        self._line = 0
        self._fields: dict[str, str] = {}
        self._others: dict[str, None] = {}
        self._parts: list[str] = []
        self._outside: list[str] = []
        self._length = 0

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        tag = tag.lower()
        if self._topic_depth is None:
            if tag in ("topic", "top"):
                self._topic_depth = self._depth
                self._number = attributes.get("number") or attributes.get("id")
                self._line = self.parser.CurrentLineNumber
                self._fields = {}
                self._others = dict.fromkeys(attributes.keys() - {"number", "id"})
                self._outside = []
                self._length = 0
        elif self._depth == self._topic_depth + 1 and tag in (*_XML_FIELDS, "num", "number"):
            self._field = _XML_FIELDS.get(tag, "num")
            self._field_depth = self._depth
            self._parts = []
        elif self._depth == self._topic_depth + 1:
            self._others[f"<{tag}>"] = None

    def _text(self, text: str) -> None:
        if self._field_depth is not None or self._depth == self._topic_depth:
            (self._outside if self._field_depth is None else self._parts).append(text)
            self._length += len(text)
            if self._length > MAX_RECORD:
                raise _Unsafe("a topic is longer than 64 MiB")

    def _end(self, tag: str) -> None:
        if self._depth == self._field_depth:
            if self._field in self._fields:
                raise _Unsafe(f"a second <{tag}> in one topic")
            text = "".join(self._parts)
            self._fields[self._field] = (
                text.strip(LAYOUT) if self._field == "num" else strip_lines(text)
            )
            self._field_depth = None
        elif self._depth == self._topic_depth:
            number = self._number or self._fields.get("num")
            text = one_line("".join(self._outside))
            self.finished.append(_XmlTopic(self._line, number, self._fields, self._others, text))
            self._topic_depth = None
        self._depth -= 1

    def _entity(self, *_: object) -> None:
        raise _Unsafe("the file declares XML entities; write out what they stand for")

    def _external(self, *_: object) -> int:
        raise _Unsafe("the file refers to another file (external entity)")

    def _skipped(self, name: str, *_: object) -> None:
        raise _Unsafe(f"the entity &{name}; is not known")


@reader("trec-topics-xml", "topic")
def read_topics_xml(source: Source) -> Iterator[Topic]:
    """Yield topics in XML: <topic number="…"> with query, question (or description), narrative.

    `title` is another name of `query`. The text of a topic without any of these elements is its
    title. Other elements of a topic (subtopics) are not kept. Entity declarations are refused.
    """
    topics = _XmlTopics()
    seen = SeenKeys()
    fed = 0
    for start, lines in source.blocks():
        # Refused lines become blank lines, so that the line numbers stay correct.
        text = "\n" * (start - topics.lines) + "\n".join(lines) + "\n"
        topics.lines = start + len(lines)
        fed += len(text.encode())
        if not _parse(topics, source, text, start, lines):
            return
        if fed - topics.parser.CurrentByteIndex > _MAX_TOKEN:
            source.refuse_all("a tag does not end: is this XML?")
            return
        yield from _drain_topics(topics, source, seen)
    if not source.refused:
        _parse(topics, source, "", topics.lines, [], final=True)


def _parse(
    topics: _XmlTopics,
    source: Source,
    text: str,
    start: int,
    lines: list[str],
    *,
    final: bool = False,
) -> bool:
    try:
        topics.parser.Parse(text, final)
    except _Unsafe as error:
        sentence = str(error)
    except expat.ExpatError as error:
        sentence = f"not well-formed XML: {expat.ErrorString(error.code)}"
    else:
        return True
    number = topics.parser.ErrorLineNumber
    has_line = 0 <= number - start < len(lines)
    source.refuse(sentence, line=number, text=lines[number - start] if has_line else None)
    return False


def _drain_topics(topics: _XmlTopics, source: Source, seen: SeenKeys) -> Iterator[Topic]:
    for line, number, fields, others, text in topics.finished:
        source.line, source.text = line, None
        if not number:
            source.refuse("a topic has no number")
        elif problem := id_problem(number, "the topic's number"):
            source.refuse(problem)
        elif first := seen.first_line(number, line):
            source.refuse(f"topic {number} was already on line {first}")
        elif text and any(value for name, value in fields.items() if name != "num"):
            source.refuse(f"text outside of a field in topic {number}: {excerpt(text, 60)}")
        else:
            for name in others:
                source.leave_out(name)
            yield Topic(
                number,
                text or one_line(fields.get("title", "")),
                fields.get("desc", ""),
                fields.get("narr"),
            )
    topics.finished.clear()


_NOT_XML = re.compile("[\ufffe\uffff]")


def write_topics_xml(records: Iterable[Topic], stream: IO[bytes]) -> int:
    """Write topics in XML, in the shape of TREC-COVID (query, question, narrative)."""

    def element(tag: str, text: str, topic: Topic) -> str:
        check_text(text, f"the {tag} of topic {topic.query_id}")
        if _NOT_XML.search(text):
            raise CannotHold(
                f"the {tag} of topic {topic.query_id} contains a character that XML does not allow"
            )
        return f"    <{tag}>{escape(normalize_line_ends(text))}</{tag}>\n"

    stream.write(b"<topics>\n")
    count = 0
    for topic in records:
        check_id(topic.query_id, "query_id")
        if _NOT_XML.search(topic.query_id):
            raise CannotHold(
                f"query_id {topic.query_id!r} contains a character that XML does not allow"
            )
        text = f"  <topic number={quoteattr(topic.query_id)}>\n"
        text += element("query", one_line(topic.title), topic)
        if topic.description:
            text += element("question", topic.description, topic)
        if topic.narrative is not None:
            text += element("narrative", topic.narrative, topic)
        stream.write((text + "  </topic>\n").encode())
        count += 1
    stream.write(b"</topics>\n")
    return count
