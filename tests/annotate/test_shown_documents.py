"""A document is shown as text, or as a table rebuilt from its cells."""

from __future__ import annotations

from annotate.shown import show, shown_table
from tests import factories


def test_plain_text_stays_as_it_stands(db):
    document = factories.document(factories.project(), "A", "a < b <script>")

    shown = show(document)

    assert (shown.text, shown.table) == ("a < b <script>", None)


def test_a_document_known_only_by_its_id_has_no_text(db):
    shown = show(factories.document(factories.project(), "A", None))

    assert (shown.text, shown.table) == (None, None)


def test_header_rows_at_the_top_are_the_head():
    table = shown_table(
        "<table><tr><th rowspan=2>Port</th><th colspan=2>Tide</th></tr>"
        "<tr><th>High</th><th>Low</th></tr>"
        "<tr><td>Brest</td><td>7.1</td><td>1.2</td></tr></table>",
        "html",
    )

    assert [[cell.text for cell in row] for row in table.head] == [
        ["Port", "Tide"],
        ["High", "Low"],
    ]
    assert [[cell.text for cell in row] for row in table.body] == [["Brest", "7.1", "1.2"]]
    assert (table.columns, table.rows) == (3, 3)


def test_the_first_column_is_known_below_a_cell_that_reaches_down():
    table = shown_table(
        "<table><tr><th>Sea</th><th>Port</th></tr>"
        "<tr><td rowspan=2>North</td><td>Emden</td></tr>"
        "<tr><td>Hull</td></tr></table>",
        "html",
    )

    assert [[(cell.text, cell.first) for cell in row] for row in table.body] == [
        [("North", True), ("Emden", False)],
        [("Hull", False)],
    ]


def test_a_table_of_headers_alone_has_a_body():
    table = shown_table("<table><tr><th>Port</th></tr></table>", "html")

    assert (table.head, len(table.body)) == ([], 1)


def test_a_document_called_a_table_that_holds_none_is_shown_as_text(db):
    document = factories.document(factories.project(), "A", "no cells", markup="html")

    assert show(document).table is None


def test_a_header_that_reaches_into_the_body_is_part_of_the_body():
    table = shown_table(
        "<table><tr><th rowspan=2>Sea</th><th>Port</th></tr><tr><td>Emden</td></tr></table>", "html"
    )

    assert (table.head, len(table.body)) == ([], 2)
