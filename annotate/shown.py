"""A document as it is shown: text as text, tables rebuilt from cells. Nothing in it can run."""

from __future__ import annotations

from dataclasses import dataclass

from annotate.models import Document, DocumentText
from formats.tables import Cell, parse_table


@dataclass(frozen=True)
class ShownCell:
    """A cell, and whether it stands in the column that stays in sight."""

    text: str
    rowspan: int
    colspan: int
    header: bool
    first: bool


@dataclass(frozen=True)
class ShownTable:
    """A table cut into its head, which stays in sight, and its body."""

    caption: str
    head: list[list[ShownCell]]
    body: list[list[ShownCell]]
    columns: int
    rows: int
    # Text that stood around the rows.
    notes: tuple[str, ...]

    @property
    def shown(self) -> int:
        """How many columns the page holds: all of them."""
        return self.columns


@dataclass(frozen=True)
class Shown:
    """What the document pane draws: a `table`, or `text`, or neither while no text is known."""

    document: Document
    text: str | None
    table: ShownTable | None


def show(document: Document) -> Shown:
    """Read one document's text and prepare it for the page: one query."""
    text = DocumentText.objects.filter(document=document.pk).values_list("text", flat=True).first()
    return prepared(document, text)


def prepared(document: Document, text: str | None) -> Shown:
    """Prepare a document whose text was read already, for the page."""
    if text is None or document.markup == Document.Markup.PLAIN:
        return Shown(document, text, None)
    table = shown_table(text, document.markup)
    # What holds no cells is no table, whatever it was called: it is shown as it stands.
    return Shown(document, text, table if table.rows else None)


def shown_table(text: str, markup: str) -> ShownTable:
    """Parse a table and find the rows that head it: at its top, with header cells only."""
    table = parse_table(text, markup)
    rows: list[list[ShownCell]] = []
    # How many more rows the cell above reaches down into each column.
    reach = [0] * table.width
    for row in table.rows:
        column, shown = 0, []
        for cell in row:
            while column < table.width and reach[column]:
                column += 1
            shown.append(
                ShownCell(cell.text, cell.rowspan, cell.colspan, cell.header, first=column == 0)
            )
            for covered in range(column, min(column + cell.colspan, table.width)):
                reach[covered] = cell.rowspan
            column += cell.colspan
        reach = [max(left - 1, 0) for left in reach]
        rows.append(shown)
    head = _head_rows(table.rows)
    return ShownTable(table.caption, rows[:head], rows[head:], table.width, len(rows), table.notes)


def _head_rows(rows: tuple[tuple[Cell, ...], ...]) -> int:
    """How many rows stay in sight: never all, and none whose cells reach down into the body."""
    head = 0
    for row in rows:
        if not row or not all(cell.header for cell in row):
            break
        head += 1
    if head == len(rows):
        return 0
    while any(at + cell.rowspan > head for at, row in enumerate(rows[:head]) for cell in row):
        head -= 1
    return head
