"""TREC documents: SGML with one <DOC> after the other."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import IO
from xml.sax.saxutils import escape

from formats.reading import (
    LAYOUT,
    MAX_RECORD,
    SeenKeys,
    id_problem,
    normalize_line_ends,
    one_line,
    reader,
    unescape,
    write_lines,
)
from formats.records import Doc
from formats.source import Source
from formats.texts import CannotHold, check_id, check_text

_DOC_TAG = re.compile(r"<(/?)DOC>", re.IGNORECASE)
_DOCNO = re.compile(r"<DOCNO>", re.IGNORECASE)
_TITLE = re.compile(r"<(HEADLINE|HEAD|HL|TITLE|TTL|TI)>", re.IGNORECASE)
_TEXT = re.compile(r"<(/?)TEXT>", re.IGNORECASE)
# Elements of a document without <TEXT> that are not part of its text.
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
# An element outside <TEXT> that begins with text.
_ELEMENT = re.compile(r"<([A-Za-z][A-Za-z0-9_-]*)(?:\s[^<>]*)?>\s*[^<\s]")
_ANY_TAG = re.compile(r"</?[A-Za-z!][^<>]*>")


@reader("trec-docs", "document")
def read_docs(source: Source) -> Iterator[Doc]:
    """Yield documents in TREC's SGML: <DOC>, <DOCNO>, a headline, <TEXT>, </DOC>.

    Several <TEXT> are joined. Paragraph tags become blank lines, the other tags of TREC's disks
    inside <TEXT> are dropped, character references are resolved. Without <TEXT>, the text is the
    rest of the document without its tags; if that is empty, it is known by its id only.
    """
    seen = SeenKeys()
    parts: list[str] = []
    start_line: int | None = None
    length = 0
    for line in source.lines():
        if start_line is not None and "<" not in line:
            parts.append(line)
            length += len(line)
            if length > MAX_RECORD:
                source.refuse_all(f"the document that begins on line {start_line} does not end")
                return
            continue
        number = source.line or 0
        at = 0
        for match in _DOC_TAG.finditer(line):
            if match[1] and start_line is not None:
                parts.append(line[at : match.start()])
                yield from _read_doc("\n".join(parts), start_line, source, seen)
                start_line = None
            elif match[1]:
                source.refuse("</DOC> without <DOC>")
            else:
                if start_line is not None:
                    source.refuse(f"<DOC> inside the document that begins on line {start_line}")
                parts, start_line, length = [], number, 0
            at = match.end()
            if source.broken:
                return
        if start_line is not None:
            parts.append(line[at:])
            length += len(line)
        elif line[at:].strip() and not line[at:].lstrip().startswith("<"):
            source.refuse("text outside of a document")
    if start_line is not None and not source.broken:
        source.refuse("the document is not closed (</DOC>): is the file cut off?", line=start_line)


def _read_doc(body: str, line: int, source: Source, seen: SeenKeys) -> Iterator[Doc]:
    source.line, source.text = line, None
    doc_id = (_text_inside(_DOCNO, "DOCNO", body) or "").strip(LAYOUT)
    if not doc_id:
        source.refuse("a document has no <DOCNO>")
    elif problem := id_problem(doc_id, "the DOCNO"):
        source.refuse(problem)
    elif first := seen.first_line(doc_id, line):
        source.refuse(f"document {doc_id} was already on line {first}")
    else:
        for tag in _dropped_tags(body):
            source.leave_out(f"<{tag}>")
        yield Doc(doc_id, _title_of(body), _text_of(body))


def _dropped_tags(body: str) -> dict[str, None]:
    """Return the names of the tags whose elements in a document are not kept."""
    outside = _text_outside(body)
    if outside is None:
        tags = dict.fromkeys(match[1].upper() for match in _NOT_TEXT.finditer(body))
    else:
        tags = dict.fromkeys(match[1].upper() for match in _ELEMENT.finditer(outside))
    title = _TITLE.search(body)
    for kept in ("DOCNO", title[1].upper() if title else ""):
        tags.pop(kept, None)
    return tags


def _text_outside(body: str) -> str | None:
    """Return everything before, between and after the texts; None if there is no <TEXT>."""
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


def _text_inside(opening: re.Pattern[str], name: str, body: str) -> str | None:
    """Return the text between the first opening tag and the closing tag after it, or None."""
    if (opened := opening.search(body)) is None:
        return None
    closed = _closing_tag(name).search(body, opened.end())
    return body[opened.end() : closed.start()] if closed else None


@cache
def _closing_tag(name: str) -> re.Pattern[str]:
    return re.compile(rf"</{name}\s*>", re.IGNORECASE)


def _title_of(body: str) -> str:
    opened = _TITLE.search(body)
    title = _text_inside(_TITLE, opened[1].upper(), body) if opened else None
    return one_line(_strip_tags(_ANY_TAG, title)) if title else ""


def _readable_part(body: str) -> str:
    """Return `body` without the elements of _NOT_TEXT; keep elements that are not closed."""
    parts: list[str] = []
    at = 0
    unclosed: set[str] = set()
    for opened in _NOT_TEXT.finditer(body):
        name = opened[1].upper()
        # A name that is never closed is searched once, not once for each of its tags.
        if opened.start() < at or name in unclosed:
            continue
        closed = _closing_tag(name).search(body, opened.end())
        if closed is None:
            unclosed.add(name)
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
            texts.append(_strip_tags(_INNER, body[start : tag.start()]))
            start = None
    if start is not None:
        # The last text is not closed: it ends with the document.
        texts.append(_strip_tags(_INNER, body[start:]))
    if texts:
        return "\n\n".join(texts)
    return _strip_tags(_ANY_TAG, _readable_part(body)) or None


def _strip_tags(tags: re.Pattern[str], text: str) -> str:
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
    """Write documents in TREC's SGML with <HEADLINE> and <TEXT>.

    `&`, `<` and `>` become references. Only plain text: a table would read back as plain text, so
    it is refused.
    """

    def blocks() -> Iterator[str]:
        for doc in records:
            check_id(doc.doc_id, "doc_id")
            if doc.markup != "plain":
                raise CannotHold(
                    f"document {doc.doc_id} is {doc.markup}; trec-docs holds plain text only"
                )
            if re.search("[<>&]", doc.doc_id):
                raise CannotHold(f"doc_id {doc.doc_id!r} holds <, > or &")
            lines = ["<DOC>", f"<DOCNO> {doc.doc_id} </DOCNO>"]
            if doc.title:
                check_text(doc.title, f"the title of document {doc.doc_id}")
                lines.append(f"<HEADLINE> {escape(one_line(doc.title))} </HEADLINE>")
            if doc.text is not None:
                check_text(doc.text, f"the text of document {doc.doc_id}")
                lines += ["<TEXT>", escape(normalize_line_ends(doc.text)), "</TEXT>"]
            yield "\n".join([*lines, "</DOC>"])

    return write_lines(blocks(), stream)
