"""How the text of documents comes onto a page: always as text, whatever it holds."""

from __future__ import annotations

from collections.abc import Iterable

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from annotate.collection.document_rendering import ShownTable, text_parts
from annotate.collection.table_windows import ShownCell

register = template.Library()

# What most cells of numbers carry: made once.
_NUMBER = format_html(' class="{}"', "number")


@register.simple_tag
def document_text(text: str) -> SafeString:
    """A document's text such that the page's text is exactly the stored one; see `text_parts`."""
    parts = text_parts(text)
    if len(parts) == 1:
        return _exact(text)
    return format_html_join(
        "", '<div class="document__part">{}</div>', ((_exact(part),) for part in parts)
    )


def _exact(text: str) -> SafeString:
    """Text whose carriage returns come through: a browser reads them as line ends unless they are
    spelled, and then every offset behind one would be wrong.
    """
    *before, last = text.split("\r")
    spelled = format_html_join("", "{}&#13;", ((piece,) for piece in before))
    return spelled + format_html("{}", last)


@register.simple_tag
def table_rows(rows: Iterable[Iterable[ShownCell]]) -> SafeString:
    """Rows of a parsed table as HTML of our own; what stands in a cell is text."""
    return format_html_join("", "<tr>{}</tr>", ((_cells(row),) for row in rows))


@register.filter
def cell_spans(table: ShownTable) -> str:
    """Where the cells of a window stand in the document's text, in their order: for each the way
    from the end of the cell before, and its length.
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
    """Whether a caption says the same as the title above it."""
    return caption.split() == (title or "").split()


def _cells(row: Iterable[ShownCell]) -> SafeString:
    return format_html_join(
        "",
        "<{0}{1}>{2}</{0}>",
        (
            (
                "th" if cell.header else "td",
                _attributes(cell),
                cell.text,
            )
            for cell in row
        ),
    )


def _attributes(cell: ShownCell) -> str:
    """What a cell carries; most carry nothing."""
    if cell.rowspan == cell.colspan == 1 and not (
        cell.first or cell.again or cell.marks or cell.hit
    ):
        return _NUMBER if cell.number else ""
    names = " ".join(name for name in ("first", "hit", "number") if getattr(cell, name))
    found = [
        (name, value)
        for name, value in (
            ("class", names),
            ("rowspan", cell.rowspan if cell.rowspan > 1 else ""),
            ("colspan", cell.colspan if cell.colspan > 1 else ""),
            ("data-marks", cell.marks),
            ("data-again", "again" if cell.again else ""),
        )
        if value
    ]
    return format_html_join("", ' {}="{}"', found)
