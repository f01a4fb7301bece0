"""TREC's files: topics (SGML and XML), qrels, runs, documents.

Topics in SGML are not XML: fields are not closed, labels ("Narrative:") stand in the text of some
years and not of others. Qrels and runs are columns parted by blanks or tabs. Documents are SGML
with one <DOC> after the other.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import IO, NamedTuple
from xml.parsers import expat
from xml.sax.saxutils import escape, quoteattr

from formats.reading import (
    LAYOUT,
    MAX_RECORD,
    Pairs,
    Seen,
    columns,
    line_ends,
    one_line,
    parse_relevance,
    reader,
    splitter,
    tidy,
    unescape,
    write_lines,
)
from formats.records import Doc, Qrel, RunLine, Topic
from formats.source import MAX_ID, Source, check_id, check_text, excerpt

# --- topics, SGML ---------------------------------------------------------------------------------

_READ_FIELDS = {
    "num": "num",
    "title": "title",
    "query": "title",
    "desc": "desc",
    "description": "desc",
    "narr": "narr",
    "narrative": "narr",
}
# Known, so that they end the field before them; what they hold is not kept.
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
# Only at the start of the field. Without colon the word has the line for itself.
_LABELS = {
    "num": re.compile(r"\s*Number\s*:", re.IGNORECASE),
    "title": re.compile(r"\s*Topic\s*:", re.IGNORECASE),
    "desc": re.compile(r"\s*Description(?:\s*:|[^\S\n]*(?=\n))", re.IGNORECASE),
    "narr": re.compile(r"\s*Narrative(?:\s*:|[^\S\n]*(?=\n))", re.IGNORECASE),
}


class _OpenTopic:
    """A topic whose end has not come yet."""

    def __init__(self, line: int) -> None:
        self.line = line
        self.fields: dict[str, list[str]] = {}
        self.filled: set[str] = set()
        self.field: str | None = None
        self.length = 0
        self.fault: tuple[str, int] | None = None
        self.tag = ""
        # Tags that hold something and are not kept.
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
        return text.strip(LAYOUT) if field == "num" else tidy(text)


@reader("trec-topics", "topic")
def read_topics(source: Source) -> Iterator[Topic]:
    """Topics in TREC's SGML. A field ends at the next tag the format knows, not at any `<`.

    A topic begins at <top> and ends at </top>, at the next <top> or with the file. Kept: number,
    title (on one line), description, narrative (None where the topic has none).
    """
    topic: _OpenTopic | None = None
    seen = Seen()
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
                    yield from _finished(topic, source, seen)
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
        yield from _finished(topic, source, seen)


def _finished(topic: _OpenTopic, source: Source, seen: Seen) -> Iterator[Topic]:
    source.line = topic.line
    source.text = None
    query_id = topic.text("num") or ""
    if topic.fault is not None:
        source.refuse(topic.fault[0], line=topic.fault[1])
        return
    if not query_id:
        source.refuse("a topic without number (<num>)")
        return
    if problem := _id_problem(query_id, "the topic's number"):
        source.refuse(problem)
        return
    if first := seen.first(query_id, topic.line):
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


def _id_problem(value: str, what: str) -> str | None:
    try:
        check_id(value, what)
    except ValueError as error:
        return str(error)
    return None


def write_topics(records: Iterable[Topic], stream: IO[bytes]) -> int:
    """Topics in TREC's SGML, with the labels of robust04.

    SGML topics have no way to write a tag of theirs inside a text: such a text is refused.
    """

    def blocks() -> Iterator[str]:
        for topic in records:
            check_id(topic.query_id, "query_id")
            for what, text in zip(("title", "description", "narrative"), topic[1:], strict=True):
                if text and (match := _TOPIC_TAG.search(text)):
                    raise ValueError(
                        f"the {what} of topic {topic.query_id} holds {match[0]}, "
                        "which ends a field in this format"
                    )
                check_text(text or "", f"the {what} of topic {topic.query_id}")
            title = one_line(topic.title)
            # A title that begins like a label keeps its beginning behind a real one.
            label = "Topic: " if _LABELS["title"].match(title) else ""
            lines = ["<top>", "", f"<num> Number: {topic.query_id}", f"<title> {label}{title}", ""]
            if topic.description:
                lines += ["<desc> Description:", line_ends(topic.description), ""]
            if topic.narrative is not None:
                lines += ["<narr> Narrative:", line_ends(topic.narrative), ""]
            yield "\n".join([*lines, "</top>", ""])

    return write_lines(blocks(), stream)


# --- topics, XML ----------------------------------------------------------------------------------

_XML_FIELDS = {
    "query": "title",
    "title": "title",
    "question": "desc",
    "description": "desc",
    "desc": "desc",
    "narrative": "narr",
    "narr": "narr",
}


# A token that goes on for longer is parsed anew with each block, so it must not.
_MAX_TOKEN = 4 * 1024 * 1024


class _Unsafe(Exception):
    """Raised inside the parser's callbacks to stop it with a sentence."""


class _XmlTopic(NamedTuple):
    """What was read of one topic; `others` are its elements and attributes that are not kept."""

    line: int
    number: str | None
    fields: dict[str, str]
    others: dict[str, None]


class _XmlTopics:
    """Callbacks of the parser: collects finished topics with the line each began on."""

    def __init__(self) -> None:
        self.finished: list[_XmlTopic] = []
        self.lines = 1
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._text
        # A DTD may declare elements (the web track's does). Entities may be bombs, or files.
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
                self._length = 0
        elif self._depth == self._topic_depth + 1 and tag in (*_XML_FIELDS, "num", "number"):
            self._field = _XML_FIELDS.get(tag, "num")
            self._field_depth = self._depth
            self._parts = []
        elif self._depth == self._topic_depth + 1:
            self._others[f"<{tag}>"] = None

    def _text(self, text: str) -> None:
        if self._field_depth is not None:
            self._parts.append(text)
            self._length += len(text)
            if self._length > MAX_RECORD:
                raise _Unsafe("a topic is longer than 64 MiB")

    def _end(self, tag: str) -> None:
        if self._depth == self._field_depth:
            if self._field in self._fields:
                raise _Unsafe(f"a second <{tag}> in one topic")
            text = "".join(self._parts)
            self._fields[self._field] = text.strip(LAYOUT) if self._field == "num" else tidy(text)
            self._field_depth = None
        elif self._depth == self._topic_depth:
            number = self._number or self._fields.get("num")
            self.finished.append(_XmlTopic(self._line, number, self._fields, self._others))
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
    """Topics in XML: <topic number="…"> with query or title, question or description, narrative.

    Whatever else a topic holds (subtopics) is not kept. Entity declarations are refused.
    """
    topics = _XmlTopics()
    seen = Seen()
    fed = 0
    for start, lines in source.blocks():
        # Lines that were refused leave their place empty, so that the numbers stay right.
        text = "\n" * (start - topics.lines) + "\n".join(lines) + "\n"
        topics.lines = start + len(lines)
        fed += len(text.encode())
        if not _parsed(topics, source, text, start, lines):
            return
        if fed - topics.parser.CurrentByteIndex > _MAX_TOKEN:
            source.refuse_all("a tag does not end: is this XML?")
            return
        yield from _drained(topics, source, seen)
    if not source.refused:
        _parsed(topics, source, "", topics.lines, [], final=True)


def _parsed(
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
    known = 0 <= number - start < len(lines)
    source.refuse(sentence, line=number, text=lines[number - start] if known else None)
    return False


def _drained(topics: _XmlTopics, source: Source, seen: Seen) -> Iterator[Topic]:
    for line, number, fields, others in topics.finished:
        source.line, source.text = line, None
        if not number:
            source.refuse("a topic without number")
        elif problem := _id_problem(number, "the topic's number"):
            source.refuse(problem)
        elif first := seen.first(number, line):
            source.refuse(f"topic {number} was already on line {first}")
        else:
            for name in others:
                source.leave_out(name)
            yield Topic(
                number,
                one_line(fields.get("title", "")),
                fields.get("desc", ""),
                fields.get("narr"),
            )
    topics.finished.clear()


_NOT_XML = re.compile("[\ufffe\uffff]")


def write_topics_xml(records: Iterable[Topic], stream: IO[bytes]) -> int:
    """Topics in XML, in the shape of TREC-COVID (query, question, narrative)."""

    def element(tag: str, text: str, topic: Topic) -> str:
        check_text(text, f"the {tag} of topic {topic.query_id}")
        if _NOT_XML.search(text):
            raise ValueError(f"the {tag} of topic {topic.query_id} holds what XML cannot")
        return f"    <{tag}>{escape(line_ends(text))}</{tag}>\n"

    stream.write(b"<topics>\n")
    count = 0
    for topic in records:
        check_id(topic.query_id, "query_id")
        if _NOT_XML.search(topic.query_id):
            raise ValueError(f"query_id {topic.query_id!r} holds what XML cannot")
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


# --- qrels ----------------------------------------------------------------------------------------


@reader("trec-qrels", "qrels line")
def read_qrels(source: Source) -> Iterator[Qrel]:
    """`query_id iteration doc_id relevance`, parted by any run of blanks or tabs.

    A line that starts with `#` is a comment. A line that repeats another is let through; one that
    contradicts another of the last 200,000 lines is refused with both numbers.
    """
    grades: dict[str, int] = {}
    pairs = Pairs()
    topic: str | None = None
    documents: dict[str, tuple[int, int]] = {}
    make = tuple.__new__
    for start, lines in source.blocks():
        if pairs.forget_if_many():
            topic = None
        split = splitter(lines)
        # A line of ASCII that is no longer than an id may be has no id that is refused.
        check_ids = split is not str.split or max(map(len, lines)) > MAX_ID
        for number, line in enumerate(lines, start):
            try:
                query_id, iteration, doc_id, relevance = split(line)
                grade = grades[relevance]
            except (ValueError, KeyError):
                if (qrel := _odd_qrel(source, number, line, grades)) is None:
                    if source.broken:
                        return
                    continue
                query_id, doc_id, grade, iteration = qrel
            if query_id != topic and query_id[0] == "#":
                continue
            if check_ids and not _ids_fit(source, number, line, query_id, doc_id):
                continue
            if query_id != topic:
                topic = query_id
                documents = pairs.of(query_id)
            known = documents.get(doc_id)
            if known is None:
                documents[doc_id] = (grade, number)
            elif known[0] != grade:
                source.refuse(
                    f"document {doc_id} of topic {query_id} has relevance {grade} here "
                    f"and {known[0]} on line {known[1]}",
                    line=number,
                    text=line,
                )
                continue
            source.line = number
            source.text = line
            yield make(Qrel, (query_id, doc_id, grade, iteration))


def _odd_qrel(source: Source, number: int, line: str, grades: dict[str, int]) -> Qrel | None:
    """What the quick way did not take: blank lines, comments, a grade met first, bad lines."""
    fields = columns(line)
    if not fields or fields[0].startswith("#"):
        return None
    if len(fields) != 4:
        source.refuse(
            "a qrels line has 4 columns (query_id iteration doc_id relevance), "
            f"this has {_counted(fields)}",
            line=number,
            text=line,
        )
        return None
    query_id, iteration, doc_id, relevance = fields
    try:
        grade = parse_relevance(relevance)
    except ValueError as error:
        source.refuse(str(error), line=number, text=line)
        return None
    if len(grades) < 1_000:
        grades[relevance] = grade
    return Qrel(query_id, doc_id, grade, iteration)


def _counted(fields: list[str]) -> str:
    return "1 column" if len(fields) == 1 else f"{len(fields)} columns"


def _ids_fit(source: Source, number: int, line: str, query_id: str, doc_id: str) -> bool:
    for value, what in ((query_id, "query_id"), (doc_id, "doc_id")):
        if problem := _id_problem(value, what):
            source.refuse(problem, line=number, text=line)
            return False
    return True


def write_qrels(records: Iterable[Qrel], stream: IO[bytes]) -> int:
    """`query_id iteration doc_id relevance`; an id with a blank is refused (ValueError)."""

    def lines() -> Iterator[str]:
        for query_id, doc_id, relevance, iteration in records:
            line = f"{query_id} {iteration} {doc_id} {relevance}"
            if (
                not line.isascii()
                or len(line) > MAX_ID
                or line.split() != [query_id, iteration, doc_id, str(relevance)]
            ):
                check_id(query_id, "query_id")
                check_id(doc_id, "doc_id")
                check_id(iteration, "iteration")
            if query_id[0] == "#":
                raise ValueError(f"query_id {query_id!r} would make the line a comment")
            yield line

    return write_lines(lines(), stream)


# --- runs -----------------------------------------------------------------------------------------


@reader("trec-run", "run line")
def read_run(source: Source) -> Iterator[RunLine]:
    """`query_id Q0 doc_id rank score tag`, parted by any run of blanks or tabs.

    trec_eval passes over what stands after the sixth column. Here it is passed over only where the
    line cannot be one whose document id holds a blank: the rank is a number, and the tag is none.

    Lines come as they stand, in any order: sort with `by_score`. The rank is kept and never
    trusted. A document met twice in a topic (within the last 200,000 lines) is refused with both
    numbers, as trec_eval refuses it.
    """
    ranks: dict[str, int | None] = {}
    pairs = Pairs()
    topic: str | None = None
    documents: dict[str, tuple[int, int]] = {}
    make = tuple.__new__
    for start, lines in source.blocks():
        if pairs.forget_if_many():
            topic = None
        split = splitter(lines)
        check_ids = split is not str.split or max(map(len, lines)) > MAX_ID
        for number, line in enumerate(lines, start):
            try:
                query_id, _, doc_id, rank, score_text, tag = split(line)
                score = float(score_text)
                usual = score - score == 0 and "_" not in score_text and score_text.isascii()
            except ValueError:
                usual = False
            if not usual:
                if (odd := _odd_run_line(source, number, line)) is None:
                    if source.broken:
                        return
                    continue
                query_id, doc_id, rank, score, tag = odd
            if check_ids and not _ids_fit(source, number, line, query_id, doc_id):
                continue
            if query_id != topic:
                topic = query_id
                documents = pairs.of(query_id)
            known = documents.setdefault(doc_id, (number, 0))
            if known[0] != number:
                source.refuse(
                    f"document {doc_id} occurs twice in topic {query_id}: "
                    f"first on line {known[0]}, again on line {number}",
                    line=number,
                    text=line,
                )
                continue
            if rank not in ranks:
                if len(ranks) > 100_000:
                    ranks.clear()
                ranks[rank] = _rank(rank)
            source.line = number
            source.text = line
            yield make(RunLine, (query_id, doc_id, ranks[rank], score, tag))


def _odd_run_line(
    source: Source, number: int, line: str
) -> tuple[str, str, str, float, str] | None:
    """What the quick way did not take: blank lines, more than six columns, bad lines."""
    fields = columns(line)
    if not fields:
        return None
    if len(fields) < 6 or (len(fields) > 6 and not _has_a_rest(fields)):
        hint = "; does an id hold a blank?" if len(fields) > 6 else ""
        source.refuse(
            "a run line has 6 columns (query_id Q0 doc_id rank score tag), "
            f"this has {_counted(fields)}{hint}",
            line=number,
            text=line,
        )
        return None
    query_id, _, doc_id, rank, score_text, tag = fields[:6]
    score = _score(score_text)
    if score is None:
        source.refuse(f"the score {excerpt(score_text, 40)!r} is no number", line=number, text=line)
        return None
    if len(fields) > 6:
        source.leave_out("column 7 and after")
    return query_id, doc_id, rank, score, tag


def _has_a_rest(fields: list[str]) -> bool:
    """Whether a run line of more than six columns reads in one way only."""
    return _rank(fields[3]) is not None and _score(fields[5]) is None


def _score(text: str) -> float | None:
    """A finite number in ASCII, or None."""
    try:
        score = float(text)
    except ValueError:
        return None
    return score if score - score == 0 and "_" not in text and text.isascii() else None


def _rank(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None


def by_score(lines: Iterable[RunLine]) -> list[RunLine]:
    """The lines of one topic in trec_eval's order: score descending, ties by doc_id descending.

    Source: trec_eval 9, form_res_rels.c (comp_sim_docno).
    """
    return sorted(lines, key=lambda line: (line.score, line.doc_id), reverse=True)


def write_run(records: Iterable[RunLine], stream: IO[bytes]) -> int:
    """`query_id Q0 doc_id rank score tag`; scores in the shortest form that reads back the same."""

    def lines() -> Iterator[str]:
        for query_id, doc_id, rank, score, tag in records:
            shown = "-" if rank is None else str(rank)
            line = f"{query_id} Q0 {doc_id} {shown} {score!r} {tag}"
            check_id(tag, "tag")
            check_id(query_id, "query_id")
            check_id(doc_id, "doc_id")
            if score - score != 0:
                raise ValueError(f"the score of {doc_id} in topic {query_id} is {score}")
            yield line

    return write_lines(lines(), stream)


# --- documents ------------------------------------------------------------------------------------

_DOC_TAG = re.compile(r"<(/?)DOC>", re.IGNORECASE)
_DOCNO = re.compile(r"<DOCNO>", re.IGNORECASE)
_TITLE = re.compile(r"<(HEADLINE|HEAD|HL|TITLE|TTL|TI)>", re.IGNORECASE)
_TEXT = re.compile(r"<(/?)TEXT>", re.IGNORECASE)
# Of a document without <TEXT>: what is not for reading.
_NOT_TEXT = re.compile(
    r"<(DOCNO|DOCID|DOCHDR|DOCOLDNO|HEADLINE|HEAD|HL|TITLE|TTL|TI|SCRIPT|STYLE)\b[^<>]*>",
    re.IGNORECASE,
)
_PARAGRAPH = re.compile(r"</?(?:P|BR|H[1-9])(?:\s[^<>]*)?/?>", re.IGNORECASE)
# The tags inside <TEXT> on TREC's disks 1 to 5 and AQUAINT. Any other `<…>` is text.
_INNER = re.compile(
    r"</?(?:F|HT|TI|PHRASE|TABLE|ROWRULE|CELLRULE|TABLEROW|TABLECELL|CVJ|BFRAG|ITAG|FTAG|T[2-4]|"
    r"SUMMARY|SUPPLEM|SIGNER|SIGNJOB|FRFILING|BILLING|FOOTNOTE|FOOTNAME|FOOTCITE|FNOTE|"
    r"TEXT|ANNOTATION|TRAILER|TYPE|SUBJECT|CAPTION)(?:\s[^<>]*)?/?>",
    re.IGNORECASE,
)
# An element that has text of its own, outside of <TEXT>.
_ELEMENT = re.compile(r"<([A-Za-z][A-Za-z0-9_-]*)(?:\s[^<>]*)?>\s*[^<\s]")
_ANY_TAG = re.compile(r"</?[A-Za-z!][^<>]*>")


@reader("trec-docs", "document")
def read_docs(source: Source) -> Iterator[Doc]:
    """Documents in TREC's SGML: <DOC>, <DOCNO>, a headline, <TEXT>, </DOC>.

    Several <TEXT> are joined. Paragraph tags become blank lines, the other tags of TREC's disks
    inside <TEXT> are dropped, character references resolved. Without <TEXT> the text is what is
    left of the document without its tags; nothing left: known by its id only.
    """
    seen = Seen()
    parts: list[str] = []
    begun: int | None = None
    length = 0
    for line in source.lines():
        if begun is not None and "<" not in line:
            parts.append(line)
            length += len(line)
            if length > MAX_RECORD:
                source.refuse_all(f"the document begun on line {begun} does not end")
                return
            continue
        number = source.line or 0
        at = 0
        for match in _DOC_TAG.finditer(line):
            if match[1] and begun is not None:
                parts.append(line[at : match.start()])
                yield from _doc("\n".join(parts), begun, source, seen)
                begun = None
            elif match[1]:
                source.refuse("</DOC> without <DOC>")
            else:
                if begun is not None:
                    source.refuse(f"<DOC> inside the document begun on line {begun}")
                parts, begun, length = [], number, 0
            at = match.end()
            if source.broken:
                return
        if begun is not None:
            parts.append(line[at:])
            length += len(line)
        elif line[at:].strip() and not line[at:].lstrip().startswith("<"):
            source.refuse("text outside of a document")
    if begun is not None and not source.broken:
        source.refuse("the document is not closed (</DOC>): is the file cut off?", line=begun)


def _doc(body: str, line: int, source: Source, seen: Seen) -> Iterator[Doc]:
    source.line, source.text = line, None
    doc_id = (_inside(_DOCNO, "DOCNO", body) or "").strip(LAYOUT)
    if not doc_id:
        source.refuse("a document without <DOCNO>")
    elif problem := _id_problem(doc_id, "the DOCNO"):
        source.refuse(problem)
    elif first := seen.first(doc_id, line):
        source.refuse(f"document {doc_id} was already on line {first}")
    else:
        for tag in _dropped(body):
            source.leave_out(f"<{tag}>")
        yield Doc(doc_id, _title_of(body), _text_of(body))


def _dropped(body: str) -> dict[str, None]:
    """Elements of a document that are not kept, by the names of their tags."""
    outside = _outside_of_text(body)
    if outside is None:
        found = dict.fromkeys(match[1].upper() for match in _NOT_TEXT.finditer(body))
    else:
        found = dict.fromkeys(match[1].upper() for match in _ELEMENT.finditer(outside))
    title = _TITLE.search(body)
    for kept in ("DOCNO", title[1].upper() if title else ""):
        found.pop(kept, None)
    return found


def _outside_of_text(body: str) -> str | None:
    """What stands before, between and after the texts; None where there is no <TEXT>."""
    parts: list[str] = []
    at: int | None = 0
    for tag in _TEXT.finditer(body):
        if not tag[1] and at is not None:
            parts.append(body[at : tag.start()])
            at = None
        elif tag[1] and at is None:
            at = tag.end()
    if not parts:
        return None
    return "\n".join(parts if at is None else [*parts, body[at:]])


def _inside(opening: re.Pattern[str], name: str, body: str) -> str | None:
    """What stands between the first opening tag and the closing tag after it."""
    if (opened := opening.search(body)) is None:
        return None
    closed = _closing(name).search(body, opened.end())
    return body[opened.end() : closed.start()] if closed else None


@cache
def _closing(name: str) -> re.Pattern[str]:
    return re.compile(rf"</{name}\s*>", re.IGNORECASE)


def _title_of(body: str) -> str:
    opened = _TITLE.search(body)
    title = _inside(_TITLE, opened[1].upper(), body) if opened else None
    return one_line(_without(_ANY_TAG, title)) if title else ""


def _for_reading(body: str) -> str:
    """`body` without the elements of _NOT_TEXT; one that is not closed stays."""
    parts: list[str] = []
    at = 0
    endless: set[str] = set()
    for opened in _NOT_TEXT.finditer(body):
        name = opened[1].upper()
        # Searched once for each name that never closes, not once for each of its tags.
        if opened.start() < at or name in endless:
            continue
        closed = _closing(name).search(body, opened.end())
        if closed is None:
            endless.add(name)
        else:
            parts += [body[at : opened.start()], " "]
            at = closed.end()
    return "".join([*parts, body[at:]])


def _text_of(body: str) -> str | None:
    texts: list[str] = []
    start: int | None = None
    for tag in _TEXT.finditer(body):
        if not tag[1]:
            start = tag.end() if start is None else start
        elif start is not None:
            texts.append(_without(_INNER, body[start : tag.start()]))
            start = None
    if start is not None:
        # Not closed: it ends with the document.
        texts.append(_without(_INNER, body[start:]))
    if texts:
        return "\n\n".join(texts)
    return _without(_ANY_TAG, _for_reading(body)) or None


def _without(tags: re.Pattern[str], text: str) -> str:
    if "<" in text:
        text = _PARAGRAPH.sub("\n\n", _without_comments(text))
        text = re.sub(r"\n\s*\n", "\n\n", tags.sub("", text))
    return unescape(text).strip()


def _without_comments(text: str) -> str:
    parts: list[str] = []
    at = 0
    while (start := text.find("<!--", at)) >= 0 and (end := text.find("-->", start + 4)) >= 0:
        parts.append(text[at:start])
        at = end + 3
    return "".join([*parts, text[at:]])


def write_docs(records: Iterable[Doc], stream: IO[bytes]) -> int:
    """Documents in TREC's SGML with <HEADLINE> and <TEXT>; `&`, `<` and `>` as references.

    Plain text only: a table would come back as plain text, so it is refused.
    """

    def blocks() -> Iterator[str]:
        for doc in records:
            check_id(doc.doc_id, "doc_id")
            if doc.markup != "plain":
                raise ValueError(
                    f"document {doc.doc_id} is {doc.markup}; trec-docs holds plain text only"
                )
            if re.search("[<>&]", doc.doc_id):
                raise ValueError(f"doc_id {doc.doc_id!r} holds <, > or &")
            lines = ["<DOC>", f"<DOCNO> {doc.doc_id} </DOCNO>"]
            if doc.title:
                check_text(doc.title, f"the title of document {doc.doc_id}")
                lines.append(f"<HEADLINE> {escape(one_line(doc.title))} </HEADLINE>")
            if doc.text is not None:
                check_text(doc.text, f"the text of document {doc.doc_id}")
                lines += ["<TEXT>", escape(line_ends(doc.text)), "</TEXT>"]
            yield "\n".join([*lines, "</DOC>"])

    return write_lines(blocks(), stream)
