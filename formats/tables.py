"""Parse tables from text: HTML fragments and Markdown pipe tables become cells.

The result is only text and numbers. No input is passed on as markup, so a table cannot run
anything: a <script> in a cell is the text `<script>`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from formats.reading import one_line, unescape


class Cell(NamedTuple):
    """One cell: its text, how many rows and columns it covers, whether it is a header."""

    text: str
    rowspan: int = 1
    colspan: int = 1
    header: bool = False


class Table(NamedTuple):
    """A table in which every row has the full width.

    The cells of a row, with those that extend down from rows above, cover each of the `width`
    columns once. `alignments` has one of "", left, center, right per column, or is empty. `notes`
    is the text around the rows. `spans` has, for each row, the positions of its cells' content in
    the parsed text; cells that pad a short row have none.
    """

    caption: str
    rows: tuple[tuple[Cell, ...], ...]
    width: int
    alignments: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    spans: tuple[tuple[tuple[int, int], ...], ...] = ()


def markup_of(text: str) -> str:
    """Return "html" for a text that begins with <table, "markdown" for a pipe table, else "plain".

    A pipe table is a row that begins with `|` and a line of dashes below it, at the start of the
    text or below a `# title`.
    """
    if re.match(r"\s*<table\b", text, re.IGNORECASE):
        return "html"
    start = re.match(r"\s*+(?:#\s[^\n]*\n\s*+)?(?=\|)", text)
    if start is not None:
        second = text.find("\n", start.end()) + 1
        if second and _is_rule(text[second:].partition("\n")[0]):
            return "markdown"
    return "plain"


def title_of(text: str, markup: str) -> str:
    """Return an HTML table's caption or the `# title` above a Markdown one, on one line; or ""."""
    if markup == "html":
        opened = re.search(r"<caption\b[^<>]*>", text, re.IGNORECASE)
        closed = opened and re.compile(r"</caption\s*>", re.I).search(text, opened.end())
        return unescape(one_line(text[opened.end() : closed.start()])) if opened and closed else ""
    match = re.match(r"\s*#\s+([^\n]*)", text) if markup == "markdown" else None
    return one_line(match[1]) if match else ""


def parse_table(text: str, markup: str) -> Table:
    """Return the table in `text`; raise ValueError for a markup without tables ("plain")."""
    if markup == "html":
        return _parse_html(text)
    if markup == "markdown":
        return _parse_markdown(text)
    raise ValueError(f"a text with markup {markup!r} has no table")


# --- HTML -----------------------------------------------------------------------------------------

# Only the tags of a table: any other `<` is text (`<14`, `MSB<<8`). A tag ends at the next `>`,
# quoted or not; the rest is text and remains text.
_TAG = re.compile(
    r"<(/?)(table|caption|thead|tbody|tfoot|tr|th|td)((?:[\s/][^<>]*)?)>", re.IGNORECASE
)
_SPAN = re.compile(r"\b(row|col)span\s*=\s*(?:[\"']\s*)?(\d{1,5})", re.IGNORECASE)
MAX_COLSPAN = 1_000
# Maximum layout steps. Real tables need a few per cell. If a text crafted to be slow exceeds it,
# spans are ignored: every cell is kept, but covers one row and one column.
_MOST_STEPS = 1_000_000


class _HtmlCell(NamedTuple):
    text: str
    rowspan: int
    colspan: int
    header: bool
    span: tuple[int, int]


class _HtmlTable:
    """Collects cells from the tags and the text between them."""

    def __init__(self) -> None:
        self.caption = ""
        self.notes: list[str] = []
        # A cell never extends below its section (thead, tbody, tfoot, table).
        self.sections: list[list[list[_HtmlCell]]] = [[]]
        self.head = False
        self.row: list[_HtmlCell] | None = None
        self.cell: tuple[bool, int, int] | None = None
        # The position at which the content of the cell begins.
        self.content_start = 0
        self.in_caption = False
        self.parts: list[str] = []
        self.nested = 0

    def add_text(self, text: str) -> None:
        self.parts.append(text)

    def finish_text(self, end: int) -> None:
        """Add the text since the last tag to the cell, the caption or the notes."""
        text = unescape(one_line("".join(self.parts)))
        self.parts = []
        if self.cell is not None and self.row is not None:
            header, rowspan, colspan = self.cell
            self.row.append(_HtmlCell(text, rowspan, colspan, header, (self.content_start, end)))
            self.cell = None
        elif self.in_caption and not self.caption:
            self.caption = text
            self.in_caption = False
        elif text:
            self.notes.append(text)

    def add_tag(self, closing: bool, name: str, attributes: str, start: int, end: int) -> None:
        if self.cell is not None and (name == "table" or self.nested):
            # A table inside a cell is the cell's text.
            self.nested += (-1 if closing else 1) if name == "table" else 0
            if self.nested >= 0:
                self.parts.append(" ")
                return
            self.nested = 0
        self.finish_text(start)
        if name in ("td", "th"):
            if not closing:
                self._begin_cell(name, attributes)
                self.content_start = end
        elif name == "tr":
            self.row = None if closing else self._begin_row()
        elif name == "caption":
            self.in_caption = not closing
        else:
            self.row = None
            self.head = name == "thead" and not closing
            if self.sections[-1]:
                self.sections.append([])

    def _begin_row(self) -> list[_HtmlCell]:
        row: list[_HtmlCell] = []
        self.sections[-1].append(row)
        return row

    def _begin_cell(self, name: str, attributes: str) -> None:
        if self.row is None:
            self.row = self._begin_row()
        spans = {span.lower(): int(count) for span, count in _SPAN.findall(attributes)}
        self.cell = (
            name == "th" or self.head,
            spans.get("row", 1),
            min(spans.get("col", 1) or 1, MAX_COLSPAN),
        )


def _parse_html(text: str) -> Table:
    table = _HtmlTable()
    at = 0
    for match in _TAG.finditer(text):
        table.add_text(text[at : match.start()])
        table.add_tag(bool(match[1]), match[2].lower(), match[3], match.start(), match.end())
        at = match.end()
    table.add_text(text[at:])
    table.finish_text(len(text))
    try:
        rows, width = _lay_out(table.sections)
    except _TooManySteps:
        flat = [
            [[cell._replace(rowspan=1, colspan=1) for cell in row] for row in section]
            for section in table.sections
        ]
        rows, width = _lay_out(flat)
    spans = tuple(
        tuple(_trim_span(text, *cell.span) for cell in row)
        for section in table.sections
        for row in section
    )
    return Table(table.caption, tuple(rows), width, (), tuple(table.notes), spans)


def _trim_span(text: str, start: int, end: int) -> tuple[int, int]:
    """Return a span without the white space at its ends."""
    inner = text[start:end]
    lead = len(inner) - len(inner.lstrip())
    return start + lead, start + lead + len(inner.strip())


def _lay_out(sections: list[list[list[_HtmlCell]]]) -> tuple[list[tuple[Cell, ...]], int]:
    layout = _Layout()
    for section in sections:
        layout.place(section, None)
    width = layout.width
    layout = _Layout()
    return [row for section in sections for row in layout.place(section, width)], width


class _TooManySteps(Exception):
    """Laying out the table with its spans takes too many steps."""


class _Layout:
    """Assigns columns to cells as in the HTML standard's table model.

    Cells that overlap or extend beyond the table, which the standard allows, are cut. Source:
    HTML Living Standard, 4.9.12, "forming a table".
    """

    def __init__(self) -> None:
        self.width = 0
        self.steps = 0

    def place(self, section: list[list[_HtmlCell]], width: int | None) -> list[tuple[Cell, ...]]:
        """Return the rows of one section, padded and cut to `width` if given.

        Without `width`, the call only determines `self.width`: columns in which no cell begins are
        not counted.
        """
        # Column -> (first row that is free again, first column right of the covering cell).
        covered: dict[int, tuple[int, int]] = {}
        rows: list[tuple[Cell, ...]] = []
        for number, cells in enumerate(section):
            placed: list[Cell] = []
            column = 0
            for cell in cells:
                column = self._free(covered, number, column)
                rowspan, colspan = cell.rowspan, cell.colspan
                if width is not None:
                    colspan = min(colspan, width - column)
                for right in range(column + 1, column + colspan):
                    if covered.get(right, (0, 0))[0] > number:
                        colspan = right - column
                        break
                below = len(section) - number
                rowspan = min(rowspan or below, below)
                self._step(colspan - 1)
                self.width = max(self.width, column + 1)
                if rowspan > 1:
                    end = (number + rowspan, column + colspan)
                    covered.update(dict.fromkeys(range(column, column + colspan), end))
                placed.append(Cell(cell.text, rowspan, colspan, cell.header))
                column += colspan
            if width is not None:
                placed.extend(self._padding(covered, number, column, width))
            rows.append(tuple(placed))
        return rows

    def _free(self, covered: dict[int, tuple[int, int]], row: int, column: int) -> int:
        while (cell := covered.get(column)) is not None and cell[0] > row:
            column = cell[1]
            self._step(1)
        return column

    def _step(self, count: int) -> None:
        self.steps += count
        if self.steps > _MOST_STEPS:
            raise _TooManySteps

    def _padding(
        self, covered: dict[int, tuple[int, int]], row: int, column: int, width: int
    ) -> Iterator[Cell]:
        """Yield empty cells for the uncovered columns of a short row."""
        if not covered:
            if column < width:
                yield Cell("", 1, width - column)
            return
        while (column := self._free(covered, row, column)) < width:
            end = column + 1
            while end < width and covered.get(end, (0, 0))[0] <= row:
                end += 1
            self._step(end - column)
            yield Cell("", 1, end - column)
            column = end


# --- Markdown -------------------------------------------------------------------------------------


def _is_rule(line: str) -> bool:
    """Return whether this is the line of dashes below the header row."""
    return "-" in line and "|" in line and not line.strip("|:- \t")


def _alignment(mark: str) -> str:
    left, right = mark.startswith(":"), mark.endswith(":")
    return {(True, True): "center", (True, False): "left", (False, True): "right"}.get(
        (left, right), ""
    )


def _split_cells(line: str) -> list[str]:
    # The files this was made for have no escaped pipes: each `|` separates two cells.
    return [cell.strip() for cell in line.strip().removeprefix("|").removesuffix("|").split("|")]


def _cell_spans(line: str, start: int) -> tuple[tuple[int, int], ...]:
    """Return the positions of a line's cells in the text; the line begins at `start`."""
    at, end = _trim_span(line, 0, len(line))
    at += line.startswith("|", at)
    end -= line.endswith("|", at, end)
    spans = []
    begin = start + at
    for cell in line[at:end].split("|"):
        trimmed = cell.lstrip()
        first = begin + len(cell) - len(trimmed)
        spans.append((first, first + len(trimmed.rstrip())))
        begin += len(cell) + 1
    return tuple(spans)


def _parse_markdown(text: str) -> Table:
    caption = ""
    notes: list[str] = []
    rows: list[list[str]] = []
    spans: list[tuple[tuple[int, int], ...]] = []
    alignments: list[str] = []
    end = -1
    for line in text.split("\n"):
        start, end = end + 1, end + 1 + len(line)
        stripped = line.strip()
        if not stripped:
            continue
        if not rows and not caption and stripped.startswith("# "):
            caption = one_line(stripped[2:])
        elif len(rows) == 1 and not alignments and _is_rule(stripped):
            alignments = [_alignment(mark) for mark in _split_cells(stripped)]
        elif "|" in stripped and (rows or stripped.startswith("|")):
            spans.append(_cell_spans(line, start))
            rows.append([text[first:last] for first, last in spans[-1]])
        else:
            notes.append(one_line(stripped))
    width = max(map(len, rows), default=0)
    built = tuple(
        _pad_row([Cell(cell, header=number == 0 and bool(alignments)) for cell in row], width)
        for number, row in enumerate(rows)
    )
    if alignments:
        alignments = (alignments + [""] * width)[:width]
    return Table(caption, built, width, tuple(alignments), tuple(notes), tuple(spans))


def _pad_row(row: list[Cell], width: int) -> tuple[Cell, ...]:
    """Return the row, padded with one empty cell if it is short."""
    if len(row) < width:
        row.append(Cell("", colspan=width - len(row), header=row[0].header))
    return tuple(row)
