"""Cut big tables into windows, the parts that a page draws, and search the whole table.

PURE: no Django. Rows and columns are counted from 0 here; rows are those of the body. The head rows
and the first column are in every window. Together the windows cover each cell of the body once; a
merged cell that reaches over several windows is in each of them, clipped at its edge.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from formats.tables import Cell, Table

# A head with more rows would leave no visible space for the body.
_HEAD = 8

# What counts as a number: 12, −3.4, 1,204, 1 204, 12 %, €5, 3.2e-4, (1.5).
_NUMBER = re.compile(
    r"\s*+[(<>≤≥~≈±+\-−–]{0,2}\s?[$€£¥]?\d[\d.,\s'’]*+(?:e[+\-−]?\d+)?\s?[%‰)]{0,2}\s*",
    re.IGNORECASE,
)


_NO_SPAN = (0, 0)


def _is_number(text: str) -> bool:
    """Return whether a cell contains a number and nothing else."""
    # The first letter rules out most cells of words.
    return bool(text) and not text[0].isalpha() and _NUMBER.fullmatch(text) is not None


class Limits(NamedTuple):
    """The size limits of a window. A page draws this without a stutter, in about 80 KB."""

    cells: int = 1_500
    # The approximate limit where cells are long texts; a few rows are always shown.
    characters: int = 90_000
    fewest_rows: int = 5
    # A long and wide table is cut to `rows` and `columns`; a short one may show more columns, a
    # narrow one more rows.
    rows: int = 50
    columns: int = 30
    most_rows: int = 150
    most_columns: int = 150


LIMITS = Limits()


class Window(NamedTuple):
    """Body rows `row` to `row_end` and columns `column` to `column_end`, both ends exclusive."""

    row: int
    row_end: int
    column: int
    column_end: int


class ShownCell(NamedTuple):
    """A cell as shown in a window."""

    text: str
    rowspan: int
    colspan: int
    header: bool
    # Whether it is in the first column, which stays visible.
    first: bool
    # Whether it belongs to another window: it is drawn here again, but not counted here.
    again: bool = False
    # Its marks, in the format of `data-marks`; "" for none.
    marks: str = ""
    # Whether it matches the search.
    hit: bool = False
    # Whether it is a number, or the header of a column of numbers.
    number: bool = False
    # Offsets of its content in the document's text; equal if it has none.
    start: int = 0
    end: int = 0


class Rows(NamedTuple):
    """The rows that a window shows."""

    head: list[list[ShownCell]]
    body: list[list[ShownCell]]


class SearchResult(NamedTuple):
    """A window with matches, the number of matches in the windows before it, and the total."""

    window: Window
    before: int
    total: int


@dataclass(frozen=True)
class Grid:
    """A table with its cells positioned, ready to be cut into windows. Create it with `lay_out`."""

    table: Table
    # How many rows at the top stay visible.
    head: int
    # For each row, the columns where its cells begin.
    columns: list[Sequence[int]] = field(repr=False)
    # Cells that span several rows of the body: (row, column, cell, span in the text).
    tall: list[tuple[int, int, Cell, tuple[int, int]]] = field(repr=False)
    row_step: int
    column_step: int

    @property
    def width(self) -> int:
        """The number of columns."""
        return self.table.width

    @property
    def length(self) -> int:
        """The number of body rows."""
        return len(self.table.rows) - self.head

    @property
    def cells(self) -> int:
        """The number of cells, as the cost of caching the table."""
        return sum(map(len, self.table.rows))

    def window(self, row: int = 0, column: int = 0) -> Window:
        """Return the window that contains a position, or the nearest one if it is outside."""
        row = min(max(row, 0), max(self.length - 1, 0)) // self.row_step * self.row_step
        column = min(max(column, 0), max(self.width - 1, 0)) // self.column_step * self.column_step
        return Window(
            row,
            min(row + self.row_step, self.length),
            column,
            min(column + self.column_step, self.width),
        )

    def windows(self) -> Iterator[Window]:
        """Yield all windows, from left to right, then downward."""
        for row in range(0, max(self.length, 1), self.row_step):
            for column in range(0, max(self.width, 1), self.column_step):
                yield self.window(row, column)

    def cut(self, window: Window) -> Rows:
        """Return the cells of one window, clipped at its edges."""
        head = [self._row(at, window, 0, self.head) for at in range(self.head)]
        top, end = self.head + window.row, self.head + window.row_end
        body = [self._row(at, window, top, end) for at in range(top, end)]
        return Rows(_mark_number_headers(head, body), body)

    def _row(self, at: int, window: Window, top: int, end: int) -> list[ShownCell]:
        """Return the visible cells of row `at`, one of the rows `top` to `end`.

        In the first body row these include the cells that reach down into it.
        """
        cells, columns = self.table.rows[at], self.columns[at]
        start = max(bisect_right(columns, window.column) - 1, 0)
        spans = self.table.spans[at] if at < len(self.table.spans) else ()
        # A short row was padded with cells that are not in the text.
        spans += (_NO_SPAN,) * (len(cells) - len(spans))
        near = [
            (at, columns[index], cells[index], spans[index])
            for index in range(start, bisect_right(columns, window.column_end - 1))
        ]
        if start and not columns[0]:
            near.insert(0, (at, 0, cells[0], spans[0]))
        if at == top and top >= self.head:
            near += [cell for cell in self.tall if cell[0] < top < cell[0] + cell[2].rowspan]
            near.sort(key=lambda cell: cell[1])
        clipped = (self._clipped(*cell, window, top, end) for cell in near)
        return [shown for shown in clipped if shown is not None]

    def span(self, row: int, index: int) -> tuple[int, int]:
        """Return the offsets of a cell's content in the document's text; (0, 0) for none."""
        spans = self.table.spans[row] if row < len(self.table.spans) else ()
        return spans[index] if index < len(spans) else _NO_SPAN

    def _clipped(
        self,
        row: int,
        column: int,
        cell: Cell,
        span: tuple[int, int],
        window: Window,
        top: int,
        end: int,
    ) -> ShownCell | None:
        """Return the part of a cell within rows `top` to `end` and the window's columns, if any."""
        inside = min(column + cell.colspan, window.column_end) - max(column, window.column)
        colspan = max(inside, 0) + (column == 0 < window.column)
        if not colspan:
            return None
        return ShownCell(
            cell.text,
            min(row + cell.rowspan, end) - max(row, top),
            colspan,
            cell.header,
            first=column == 0,
            again=column < window.column or row < top or (row < self.head and window.row > 0),
            number=not cell.header and _is_number(cell.text),
            start=span[0],
            end=span[1],
        )

    def find(self, words: re.Pattern[str], near: Window, go: str) -> SearchResult | None:
        """Find the window of the next match, or None if nothing in the table matches.

        `go` is "here" (this window, or the next with a match), "next" or "previous"; the search
        wraps around.
        """
        counts: dict[tuple[int, int], int] = {}
        for at, row in enumerate(self.table.rows):
            first_row = max(at - self.head, 0) // self.row_step * self.row_step
            for column, cell in zip(self.columns[at], row, strict=True):
                if cell.text and (word_count := len(words.findall(cell.text))):
                    key = (first_row, column // self.column_step * self.column_step)
                    counts[key] = counts.get(key, 0) + word_count
        if not counts:
            return None
        here = (near.row, near.column)
        if go == "previous":
            key = max((key for key in counts if key < here), default=max(counts))
        elif go == "next":
            key = min((key for key in counts if key > here), default=min(counts))
        else:
            key = min((key for key in counts if key >= here), default=min(counts))
        before = sum(count for other, count in counts.items() if other < key)
        return SearchResult(self.window(*key), before, sum(counts.values()))


def lay_out(table: Table, limits: Limits = LIMITS) -> Grid:
    """Position a table's cells and choose the size of its windows; a small table is one window."""
    columns: list[Sequence[int]] = []
    # Where merged cells of rows above begin -> (first row that is free again, column right of it).
    covered: dict[int, tuple[int, int]] = {}
    free = 0
    for number, row in enumerate(table.rows):
        if free <= number and all(cell.rowspan == cell.colspan == 1 for cell in row):
            # The common case: no merged cell reaches into this row or out of it.
            columns.append(range(len(row)))
            continue
        column, begins = 0, []
        for cell in row:
            while (above := covered.get(column, (0, 0)))[0] > number:
                column = above[1]
            begins.append(column)
            if cell.rowspan > 1:
                covered[column] = (number + cell.rowspan, column + cell.colspan)
                free = max(free, number + cell.rowspan)
            column += cell.colspan
        columns.append(begins)
    head = _count_head_rows(table.rows)
    row_size, column_size = _window_size(table, limits)
    cells = Grid(
        table,
        head,
        columns,
        [],
        _step(len(table.rows) - head, row_size),
        _step(table.width, column_size),
    )
    cells.tall.extend(
        (at, column, cell, cells.span(at, index))
        for at, row in enumerate(table.rows)
        if at >= head
        for index, (column, cell) in enumerate(zip(columns[at], row, strict=True))
        if cell.rowspan > 1
    )
    return cells


def search_pattern(words: str) -> re.Pattern[str] | None:
    """Return a pattern that matches any of the words, anywhere and in any case; None for no words.

    The same rule as in static/js/judge/find.js.
    """
    terms = sorted(set(words.split()), key=len, reverse=True)
    return re.compile("|".join(map(re.escape, terms)), re.IGNORECASE) if terms else None


def _mark_number_headers(
    head: list[list[ShownCell]], body: list[list[ShownCell]]
) -> list[list[ShownCell]]:
    """Return the head with those cells marked that have only numbers below them.

    Columns are counted from the right, where merged cells are rare; cells to the left of a merged
    one are not marked.
    """
    if not head or not body:
        return head
    numbers = [
        all(cell.colspan == 1 and (cell.number or not cell.text) for cell in column)
        and any(cell.number for cell in column)
        for column in zip(*(reversed(row) for row in body), strict=False)
    ]
    marked = []
    for row in head:
        cells = list(row)
        for place, is_number in enumerate(numbers, start=1):
            if place > len(cells) or cells[-place].colspan > 1:
                break
            if is_number:
                cells[-place] = cells[-place]._replace(number=True)
        marked.append(cells)
    return marked


def _window_size(table: Table, limits: Limits) -> tuple[int, int]:
    """Return how many rows and columns a window of this table may have."""
    lengths = [len(cell.text) for row in table.rows for cell in row]
    fitting = limits.characters * len(lengths) // max(sum(lengths), 1)
    cells = max(1, min(limits.cells, fitting))
    rows, width = max(len(table.rows), 1), max(table.width, 1)
    columns = min(max(cells // min(rows, limits.rows), limits.columns), limits.most_columns)
    shown = cells // min(width, columns)
    return min(max(shown, limits.fewest_rows), limits.most_rows), columns


def _step(count: int, size: int) -> int:
    """Return the rows or columns per window; a small excess does not get a second window."""
    return max(count, 1) if count <= size * 5 // 4 else size


def _count_head_rows(rows: tuple[tuple[Cell, ...], ...]) -> int:
    """Return the number of head rows: never all, and none whose cells reach into the body."""
    head = 0
    for row in rows:
        if not row or not all(cell.header for cell in row):
            break
        head += 1
    if head == len(rows):
        return 0
    head = min(head, _HEAD)
    while any(at + cell.rowspan > head for at, row in enumerate(rows[:head]) for cell in row):
        head -= 1
    return head
