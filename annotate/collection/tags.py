"""Template tags that put document texts on a page: always as text, never as markup."""

from __future__ import annotations

from collections.abc import Iterable

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from annotate.collection.document_rendering import ShownTable, text_parts
from annotate.collection.table_windows import ShownCell

register = template.Library()

# The attribute of most cells of numbers, built once.
_NUMBER = format_html(' class="{}"', "number")
# Up to how many characters the name of a row stays in one line.
_SHORT = 20


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
