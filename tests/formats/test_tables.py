from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from formats.tables import Cell, Table, markup_of, parse_table, title_of


def html(text: str) -> Table:
    return parse_table(text, "html")


def markdown(text: str) -> Table:
    return parse_table(text, "markdown")


def texts(table: Table) -> list[list[str]]:
    return [[cell.text for cell in row] for row in table.rows]


def assert_filled(table: Table) -> None:
    """Assert that every place of the table is covered by exactly one cell."""
    below = [0] * table.width
    for row in table.rows:
        column = 0
        for cell in row:
            while below[column]:
                column += 1
            for place in range(column, column + cell.colspan):
                assert below[place] == 0
                below[place] = cell.rowspan
            column += cell.colspan
        assert all(below)
        below = [left - 1 for left in below]
    assert not any(below)


def test_cells_rows_caption_and_headers_are_rebuilt():
    table = html(
        "<table>\n  <caption>Load &amp; speed</caption>\n"
        "  <tr><th>Load</th><th>150</th></tr>\n  <tr><td>70</td><td> 260\n kg </td></tr>\n</table>"
    )

    assert table == Table(
        caption="Load & speed",
        rows=(
            (Cell("Load", header=True), Cell("150", header=True)),
            (Cell("70"), Cell("260 kg")),
        ),
        width=2,
        spans=(((56, 60), (69, 72)), ((93, 95), (105, 112))),
    )


def test_plain_cells_in_a_thead_are_headers():
    table = html(
        "<table><thead><tr><td>a</td></tr></thead><tbody><tr><td>1</td></tr></tbody></table>"
    )

    assert [[cell.header for cell in row] for row in table.rows] == [[True], [False]]


def test_rowspan_and_colspan_are_kept():
    table = html(
        '<table><tr><td rowspan="2">a</td><td colspan="2">b</td></tr>'
        "<tr><td>c</td><td>d</td></tr></table>"
    )

    assert table.rows == (
        (Cell("a", rowspan=2), Cell("b", colspan=2)),
        (Cell("c"), Cell("d")),
    )
    assert table.width == 3
    assert_filled(table)


def test_spans_are_cut_at_the_edges_of_the_table():
    table = html(
        "<table><tr><td rowspan='9'>a</td><td colspan='100'>b</td></tr>"
        "<tr><td>c</td><td>d</td></tr></table>"
    )

    assert table.rows[0] == (Cell("a", rowspan=2), Cell("b", colspan=2))
    assert_filled(table)


def test_a_rowspan_ends_with_its_section():
    table = html(
        "<table><thead><tr><td rowspan=3>a</td><td>b</td></tr></thead>"
        "<tbody><tr><td>c</td><td>d</td></tr></tbody></table>"
    )

    assert table.rows[0][0].rowspan == 1
    assert texts(table) == [["a", "b"], ["c", "d"]]


def test_a_rowspan_of_zero_extends_to_the_end():
    table = html("<table><tr><td rowspan=0>a<td>b<tr><td>c<tr><td>d</table>")

    assert table.rows[0][0] == Cell("a", rowspan=3)
    assert_filled(table)


def test_a_short_row_is_filled_with_one_empty_cell():
    table = html("<table><tr><td>1<td>2<td>3<tr><td>4</table>")

    assert table.rows[1] == (Cell("4"), Cell("", colspan=2))


def test_a_gap_beside_a_cell_from_above_is_filled():
    table = html(
        "<table><tr><td>1<td rowspan=2>2<td>3<tr><tr><td>4<td>5<td>6</table>",
    )

    assert table.rows[1] == (Cell(""), Cell(""))
    assert_filled(table)


def test_cells_that_would_overlap_are_cut_back():
    table = html(
        "<table><tr><td>1<td rowspan=2>2<td>3<tr><td colspan=3>4<tr><td>a<td>b<td>c</table>",
    )

    assert table.rows[1] == (Cell("4"), Cell(""))
    assert_filled(table)


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        ("<14 or ≥34", "<14 or ≥34"),
        ("MSB<<8", "MSB<<8"),
        ("<W", "<W"),
        ("a < b > c", "a < b > c"),
        ("<tdx>", "<tdx>"),
        ("x <td", "x <td"),
        ("R&D", "R&D"),
        ("?a=1&copy=2", "?a=1&copy=2"),
        ("&lt;b&gt; &#8805; &nosuch;", "<b> ≥ &nosuch;"),
        ("H<sub>2</sub>O", "H<sub>2</sub>O"),
        ("<script>alert(1)</script>", "<script>alert(1)</script>"),
        ("<img src=x onerror=alert(1)>", "<img src=x onerror=alert(1)>"),
        ("<!-- no --><style>td{}</style>", "<!-- no --><style>td{}</style>"),
    ],
)
def test_tags_that_are_not_of_a_table_are_text(cell, text):
    table = html(f"<table><tr><td>{cell}</td><td>next</td></tr></table>")

    assert texts(table) == [[text, "next"]]


@pytest.mark.parametrize(
    "attributes",
    [
        ' colspan="2"',
        " colspan = '2'",
        " COLSPAN=2",
        ' class="a b" onclick="alert(1)" colspan="2"',
        ' style="x"\n colspan="2"/',
    ],
)
def test_only_the_span_attributes_are_read(attributes):
    table = html(f"<table><tr><td{attributes}>a</td></tr><tr><td>b<td>c</table>")

    assert table.rows[0] == (Cell("a", colspan=2),)


def test_a_table_inside_a_cell_is_its_text():
    table = html(
        "<table><tr><td>a<table><tr><td>b</td><td>c</td></tr></table>d</td><td>e</td></tr></table>"
    )

    assert texts(table) == [["a b c d", "e"]]


def test_text_beside_the_rows_is_kept():
    table = html("before<table><tr>lost<td>a</td></tr></table>after")

    assert (texts(table), table.notes) == ([["a"]], ("before", "lost", "after"))


@pytest.mark.parametrize("text", ["", "<table></table>", "no table", "<table><tr></tr></table>"])
def test_a_table_without_cells_has_no_width(text):
    assert html(text).width == 0


def test_a_table_crafted_to_be_slow_loses_its_spans_but_keeps_its_cells():
    table = html("<table>" + "<tr><td rowspan=9 colspan=1000>x" * 13_000)

    assert (len(table.rows), table.width) == (13_000, 1)
    assert table.rows[0] == (Cell("x"),)


PIPES = """# Winners by year

| Ceremony | Year |  | Total |
|:---|---:|:---:|---|
| 80th | 2008 | null | 8 |
| 81st | 2009 |
| 82nd | 2010 | x | 9 | one more |
Hollywood, CA |
words below
"""


def test_a_pipe_table_is_rebuilt():
    table = markdown(PIPES)

    assert table.caption == "Winners by year"
    assert table.alignments == ("left", "right", "center", "", "")
    assert texts(table) == [
        ["Ceremony", "Year", "", "Total", ""],
        ["80th", "2008", "null", "8", ""],
        ["81st", "2009", ""],
        ["82nd", "2010", "x", "9", "one more"],
        ["Hollywood, CA", ""],
    ]
    assert table.rows[2][2] == Cell("", colspan=3)
    assert [row[0].header for row in table.rows] == [True, False, False, False, False]
    assert table.notes == ("words below",)
    assert_filled(table)


def test_a_pipe_separates_cells_even_after_a_backslash():
    table = markdown("| a\\| b | c |\n|---|---|\n")

    assert texts(table)[0] == ["a\\", "b", "c"]


def test_rows_without_pipes_at_the_ends_are_rows():
    table = markdown("| a | b |\n|---|---|\n| 1 | 2\n3 | 4\n")

    assert texts(table) == [["a", "b"], ["1", "2"], ["3", "4"]]


def test_only_the_line_below_the_header_row_is_the_rule():
    table = markdown("| a |\n|---|\n|---|\n| - |\n")

    assert texts(table) == [["a"], ["---"], ["-"]]


def test_html_in_a_pipe_table_is_text():
    table = markdown("| <b>a</b> | &lt; |\n|---|---|\n")

    assert texts(table) == [["<b>a</b>", "&lt;"]]


def test_a_table_of_3002_columns_is_rebuilt():
    row = "|" + "|".join(f" {number} " for number in range(3_002)) + "|\n"
    table = markdown(row + "|" + "---|" * 3_002 + "\n" + row * 25)

    assert (table.width, len(table.rows)) == (3_002, 26)
    assert table.rows[25][3_001] == Cell("3001")


def test_a_table_of_441_kilobytes_is_rebuilt():
    row = '<tr><td rowspan="2">a</td><td colspan="2">b</td><td>c</td></tr><tr><td>d</td><td>e</td>'
    table = html("<table>" + row * 5_000 + "</table>")

    assert (table.width, len(table.rows)) == (4, 10_000)
    assert_filled(table)


@pytest.mark.parametrize(
    ("text", "markup"),
    [
        ("<table><tr>", "html"),
        ("\n <TABLE border=1>", "html"),
        ("<tablet>", "plain"),
        (PIPES, "markdown"),
        ("| a |\n|---|\n", "markdown"),
        ("# Title\n\nwords\n", "plain"),
        ("| a |\n| b |\n", "plain"),
        ("| a", "plain"),
        ("a | b\n--|--\n", "plain"),
        ("x <table>", "plain"),
        ("", "plain"),
    ],
)
def test_the_markup_is_detected_from_the_beginning(text, markup):
    assert markup_of(text) == markup


@pytest.mark.parametrize(
    ("text", "markup", "title"),
    [
        ("<table><caption>\nA &lt; B</caption></table>", "html", "A < B"),
        ("<table><tr><td>a</td></tr></table>", "html", ""),
        (PIPES, "markdown", "Winners by year"),
        ("| a |\n|---|\n", "markdown", ""),
        ("# words", "plain", ""),
    ],
)
def test_the_title_is_the_caption(text, markup, title):
    assert title_of(text, markup) == title


def test_plain_text_has_no_table():
    with pytest.raises(ValueError, match="markup 'plain' has no table"):
        parse_table("words", "plain")


FRAGMENTS = st.lists(
    st.sampled_from(
        [
            "<table>",
            "</table>",
            "<tr>",
            "</tr>",
            "<td>",
            "</td>",
            "<th colspan=3>",
            "<td rowspan=2>",
            "<td rowspan=0 colspan=2>",
            "<thead>",
            "</thead>",
            "<tbody>",
            "<caption>",
            "</caption>",
            "x",
            "<",
            "<script>",
            " ",
        ]
    ),
    max_size=60,
).map("".join)


@given(FRAGMENTS)
def test_every_place_of_any_html_table_is_covered_once(text):
    assert_filled(html(text))


@given(FRAGMENTS.filter(lambda text: "<caption>" not in text))
def test_no_text_is_lost(text):
    table = html(text)

    shown = "".join([*table.notes, *(cell.text for row in table.rows for cell in row)])
    assert shown.count("x") == text.count("x")
    assert shown.count("<script>") == text.count("<script>")


@given(st.text(alphabet="|-: #a\n", max_size=80))
def test_every_place_of_any_pipe_table_is_covered_once(text):
    assert_filled(markdown(text))


@pytest.mark.parametrize(
    "text",
    [
        "<table><tr><th> Load </th><th>a &amp; b</th></tr><tr><td>70</td></tr></table>",
        "# Loads\n\n|Load | a &amp; b|\n|---|---|\n 70 |\n",
    ],
)
def test_each_cell_has_the_position_of_its_content_in_the_text(text):
    table = parse_table(text, markup_of(text))

    quoted = [[text[start:end] for start, end in row] for row in table.spans]
    assert quoted == [["Load", "a &amp; b"], ["70"]]
