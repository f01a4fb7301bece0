"""Prepare documents for display: text stays text, tables are rebuilt from their cells.

Big tables are cut into windows. Nothing in a document can run as code.
"""

from __future__ import annotations

import json
import re
import unicodedata
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from threading import Lock

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from annotate.collection import marking
from annotate.collection.models import Document, DocumentText
from annotate.collection.table_windows import (
    Grid,
    Rows,
    SearchResult,
    ShownCell,
    Window,
    lay_out,
    search_pattern,
)
from formats.tables import parse_table

register = template.Library()

# The attribute of most cells of numbers, built once.
_NUMBER = format_html(' class="{}"', "number")
# Up to how many characters the name of a row stays in one line.
_SHORT = 20
# Cells of big tables that a process caches to serve their next window at once: about 25 MB.
_MAX_CACHED_CELLS = 150_000


@dataclass(frozen=True)
class ShownTable:
    """One window of a table: its head, which stays visible, and its body."""

    caption: str
    head: list[list[ShownCell]]
    body: list[list[ShownCell]]
    # Columns and rows of the whole table; the rows include the head.
    columns: int
    rows: int
    # Text around the rows.
    notes: tuple[str, ...]
    window: Window
    grid: Grid
    # The current match of a search.
    found: SearchResult | None = None
    # Marks of the caption, in the format of `data-marks`.
    caption_marks: str = ""

    @property
    def is_whole(self) -> bool:
        """Whether the window shows the whole table."""
        return self.window == (0, self.grid.length, 0, self.grid.width)

    @property
    def body_rows(self) -> int:
        """Number of rows of the whole body; windows count these rows."""
        return self.grid.length

    @property
    def first_row(self) -> int:
        """The first body row shown, from 1."""
        return self.window.row + 1

    @property
    def first_column(self) -> int:
        """The first column shown, apart from the one that always stays visible, from 1."""
        return self.window.column + 1

    @property
    def above(self) -> int | None:
        """The first row of the window above, from 1, or None."""
        return self.window.row - self.grid.row_step + 1 if self.window.row else None

    @property
    def below(self) -> int | None:
        """The first row of the window below, from 1, or None."""
        return self.window.row_end + 1 if self.window.row_end < self.grid.length else None

    @property
    def before(self) -> int | None:
        """The first column of the window to the left, from 1, or None."""
        return self.window.column - self.grid.column_step + 1 if self.window.column else None

    @property
    def behind(self) -> int | None:
        """The first column of the window to the right, from 1, or None."""
        return self.window.column_end + 1 if self.window.column_end < self.grid.width else None


@dataclass(frozen=True)
class ShownMarks:
    """Marks of the title and the text, in the format of `data-marks`; "" for no marks."""

    title: str = ""
    text: str = ""


@dataclass(frozen=True)
class DocumentPane:
    """What the document pane draws: a `table`, a `text`, or neither if no text is known."""

    document: Document
    text: str | None
    table: ShownTable | None
    marks: ShownMarks = ShownMarks()

    @property
    def text_version(self) -> int:
        """The text version shown; 0 for none."""
        return self.document.text_version or 0


def read_pane(
    document: Document,
    words: marking.WordsToMark = marking.NO_WORDS,
    *,
    row: int = 1,
    column: int = 1,
) -> DocumentPane:
    """Read a document's text, in one query, and prepare it for display. See `build_pane`."""
    versions = DocumentText.objects.filter(document=document.pk, version=document.text_version or 0)
    text = versions.values_list("text", flat=True).first()
    return build_pane(document, text, words, row=row, column=column)


def build_pane(
    document: Document,
    text: str | None,
    words: marking.WordsToMark = marking.NO_WORDS,
    *,
    row: int = 1,
    column: int = 1,
) -> DocumentPane:
    """Prepare a document whose text was already read for display, with `words` marked.

    A big table is cut to the window that holds `row` and `column` (from 1); the rows at its top
    that have only header cells become its head.
    """
    title = _data_marks(marking.find_marks(document.title, words))
    if text is None:
        return DocumentPane(document, None, None, ShownMarks(title))
    if document.markup != Document.Markup.PLAIN:
        cells = _cached_grid(text, document.markup, document.digest)
        # A text without cells is not a table, whatever its markup claims: it is shown as text.
        if cells.table.rows:
            table = _render_window(cells, cells.window(row - 1, column - 1), words)
            return DocumentPane(document, text, table, ShownMarks(title))
    return DocumentPane(
        document, text, None, ShownMarks(title, _data_marks(marking.find_marks(text, words)))
    )


def find_in_table(table: ShownTable, find: str, go: str, words: marking.WordsToMark) -> ShownTable:
    """Return the window with the next match of any word in `find`, seen from the window of `table`.

    If nothing matches, return `table`. `go`: see `annotate.collection.table_windows.Grid.find`.
    """
    pattern = search_pattern(find)
    if pattern is None or (match := table.grid.find(pattern, table.window, go)) is None:
        return table
    result = replace(_render_window(table.grid, match.window, words), found=match)
    for row in (*result.head, *result.body):
        row[:] = [cell._replace(hit=True) if pattern.search(cell.text) else cell for cell in row]
    return result


def text_parts(text: str) -> list[str]:
    """Cut a long text at line ends into parts of about two thousand characters.

    A short text is one part. Joined, the parts are the text. An overlong line is cut as well.
    A browser that lays out only the visible parts shows 100,000 words without a stutter.
    """
    if len(text) <= _SHORT_TEXT:
        return [text]
    parts: list[str] = []
    start, lines, at = 0, 0, 0
    while at < len(text):
        end = text.find("\n", at, at + _LINE) + 1 or _line_end(text, at)
        lines += 1
        at = end
        if end - start >= _PART or lines >= _PART_LINES:
            parts.append(text[start:end])
            start, lines = end, 0
    if start < len(text):
        parts.append(text[start:])
    return parts


def _line_end(text: str, start: int) -> int:
    """Return where to cut an overlong line: after its last blank or stop within `_LINE`."""
    end = start + _LINE
    if end >= len(text):
        return len(text)
    blank = _BLANK.search(text, start + 1, end)
    if blank:
        return blank.end()
    # A slightly longer part is better than a letter separated from its combining marks.
    while end < len(text) and unicodedata.combining(text[end]):
        end += 1
    return end


_SHORT_TEXT = 20_000
_PART = 2_000
_PART_LINES = 30
# Browsers are slow with much longer lines: these are cut, at a blank if there is one.
_LINE = 8_000
_BLANK = re.compile(r"[\s。、,.](?=[^\s。、,.]*$)")


def _render_window(cells: Grid, window: Window, words: marking.WordsToMark) -> ShownTable:
    table = cells.table
    head, body = _mark_cells(cells.cut(window), words)
    return ShownTable(
        table.caption,
        head,
        body,
        cells.width,
        len(table.rows),
        table.notes,
        window,
        cells,
        caption_marks=_data_marks(marking.find_marks(table.caption, words)),
    )


def _mark_cells(rows: Rows, words: marking.WordsToMark) -> Rows:
    """Mark the words in all cells at once, joined by line ends that no word can cross."""
    cells = [cell for part in rows for row in part for cell in row]
    begins: list[int] = []
    at = 0
    for cell in cells:
        begins.append(at)
        at += len(cell.text) + 1
    marks_of_cells: dict[int, tuple[list[int], list[int]]] = {}
    for kind, spans in enumerate(marking.find_marks("\n".join(cell.text for cell in cells), words)):
        for start, end in spans:
            index = bisect_right(begins, start) - 1
            begin = begins[index]
            marks_of_cells.setdefault(index, ([], []))[kind].extend((start - begin, end - begin))
    if not marks_of_cells:
        return rows
    numbers = iter(range(len(cells)))

    def mark_part(part: list[list[ShownCell]]) -> list[list[ShownCell]]:
        return [
            [
                cell._replace(marks=_json(marks_of_cells[number]))
                if number in marks_of_cells
                else cell
                for cell, number in zip(row, numbers, strict=False)
            ]
            for row in part
        ]

    return Rows(mark_part(rows.head), mark_part(rows.body))


def _data_marks(marks: marking.Marks) -> str:
    """Return marks in the format of the page's script: two lists of start, end, start, end ..."""
    if not marks.query and not marks.change:
        return ""
    return _json([[offset for span in spans for offset in span] for spans in marks])


def _json(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))


_cache: OrderedDict[tuple[str, str], Grid] = OrderedDict()
_cache_lock = Lock()


def _cached_grid(text: str, markup: str, digest: str) -> Grid:
    """Return a table's cells; big tables are cached by their document's digest, if it has one."""
    key = (digest, markup)
    with _cache_lock:
        if key in _cache:
            _cache.move_to_end(key)
            return _cache[key]
    cells = lay_out(parse_table(text, markup))
    if (
        digest
        and cells.row_step * cells.column_step < cells.length * cells.width <= _MAX_CACHED_CELLS
    ):
        with _cache_lock:
            _cache[key] = cells
            while sum(other.cells for other in _cache.values()) > _MAX_CACHED_CELLS:
                _cache.popitem(last=False)
    return cells


# --- template tags --------------------------------------------------------------------------------


@register.simple_tag
def document_text(text: str) -> SafeString:
    """Render a document's text so that the page's text equals the stored one; see `text_parts`."""
    parts = text_parts(text)
    if len(parts) == 1:
        return _escape(text)
    return format_html_join(
        "", '<div class="document__part">{}</div>', ((_escape(part),) for part in parts)
    )


def _escape(text: str) -> SafeString:
    """Escape text with its carriage returns as character references.

    A browser reads a literal one as a line end, which would shift every offset after it.
    """
    *before, last = text.split("\r")
    spelled = format_html_join("", "{}&#13;", ((piece,) for piece in before))
    return spelled + format_html("{}", last)


@register.simple_tag
def table_rows(rows: Iterable[Iterable[ShownCell]]) -> SafeString:
    """Render rows of a parsed table as HTML; the content of cells is escaped text."""
    return format_html_join("", "<tr>{}</tr>", ((_render_cells(row),) for row in rows))


@register.filter
def cell_spans(table: ShownTable) -> str:
    """Return the positions of a window's cells in the document's text, in order.

    For each cell: the distance from the end of the previous cell, and its length.
    """
    numbers: list[int] = []
    before = 0
    for row in (*table.head, *table.body):
        for cell in row:
            numbers += (cell.start - before, cell.end - cell.start)
            before = cell.end
    return " ".join(map(str, numbers))


@register.filter
def same_words(caption: str, title: str | None) -> bool:
    """Return whether a caption has the same words as the title above it."""
    return caption.split() == (title or "").split()


def _render_cells(row: Iterable[ShownCell]) -> SafeString:
    return format_html_join(
        "",
        "<{0}{1}>{2}</{0}>",
        (
            (
                "th" if cell.header else "td",
                _render_attributes(cell),
                cell.text,
            )
            for cell in row
        ),
    )


def _render_attributes(cell: ShownCell) -> str:
    """Render the attributes of a cell; most cells have none."""
    if cell.rowspan == cell.colspan == 1 and not (
        cell.first or cell.again or cell.marks or cell.hit
    ):
        return _NUMBER if cell.number else ""
    names = " ".join(name for name in ("first", "hit", "number") if getattr(cell, name))
    if cell.first and len(cell.text) <= _SHORT:
        names += " short"
    attributes = [
        (name, value)
        for name, value in (
            ("class", names),
            ("role", "rowheader" if cell.first and not cell.header else ""),
            ("rowspan", cell.rowspan if cell.rowspan > 1 else ""),
            ("colspan", cell.colspan if cell.colspan > 1 else ""),
            ("data-marks", cell.marks),
            ("data-again", "again" if cell.again else ""),
        )
        if value
    ]
    return format_html_join("", ' {}="{}"', attributes)
