"""Big tables are cut into windows that together cover the whole table."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotate.collection.document_rendering import find_in_table
from annotate.collection.marking import NO_WORDS
from annotate.collection.table_windows import Limits, Rows, Window, lay_out, search_pattern
from formats.tables import Cell, Table, parse_table
from tests.collection.tables import build_table


def markdown(rows: int, columns: int) -> str:
    """Return a table whose cells name their position: r3c2 is row 3, column 2, from 1."""
    lines = [
        "|" + "|".join(f"c{column}" for column in range(1, columns + 1)) + "|",
        "|" + "---|" * columns,
    ]
    lines.extend(
        "|" + "|".join(f"r{row}c{n}" for n in range(1, columns + 1)) + "|"
        for row in range(1, rows + 1)
    )
    return "\n".join(lines)


def up_to(rows: int, columns: int) -> Limits:
    """Return limits for windows of exactly this size."""
    return Limits(
        cells=rows * columns,
        characters=10**9,
        fewest_rows=rows,
        rows=rows,
        columns=columns,
        most_rows=rows,
        most_columns=columns,
    )


def cut(text: str, markup: str, limits: Limits, row: int = 1, column: int = 1) -> Rows:
    """Return the window that contains a position, from 1."""
    cells = lay_out(parse_table(text, markup), limits)
    return cells.cut(cells.window(row - 1, column - 1))


def texts(rows) -> list[list[str]]:
    return [[cell.text for cell in row] for row in rows]


def test_a_small_table_is_one_window():
    table = build_table(markdown(50, 30), "markdown")

    assert table.is_whole
    assert (len(table.body), len(table.body[0])) == (50, 30)


def test_a_few_extra_rows_do_not_make_a_second_window():
    assert build_table(markdown(62, 37), "markdown").is_whole
    assert not build_table(markdown(63, 37), "markdown").is_whole
    assert not build_table(markdown(62, 38), "markdown").is_whole


def test_a_narrow_table_has_more_rows_in_a_window_and_a_short_one_more_columns():
    long, wide = markdown(5_000, 20), markdown(5, 1_331)

    assert build_table(long, "markdown").window == Window(0, 75, 0, 20)
    assert build_table(wide, "markdown").window == Window(0, 5, 0, 150)


def test_the_first_window_of_5000_rows_says_where_it_is():
    table = build_table(markdown(5_000, 4), "markdown")

    assert (table.first_row, table.window.row_end, table.body_rows) == (1, 150, 5_000)
    assert (table.first_column, table.window.column_end, table.columns) == (1, 4, 4)
    assert (table.above, table.below, table.before, table.behind) == (None, 151, None, None)
    assert texts(table.head) == [["c1", "c2", "c3", "c4"]]
    assert texts(table.body[:1]) == [["r1c1", "r1c2", "r1c3", "r1c4"]]


def test_the_head_and_the_first_column_are_in_every_window():
    table = build_table(markdown(310, 1_331), "markdown", row=260, column=70)

    assert table.window == Window(250, 300, 60, 90)
    assert texts(table.head)[0][:3] == ["c1", "c61", "c62"]
    assert texts(table.body)[0][:3] == ["r251c1", "r251c61", "r251c62"]
    assert (table.above, table.below, table.before, table.behind) == (201, 301, 31, 91)
    assert [cell.first for cell in table.body[0][:2]] == [True, False]


def test_positions_outside_the_table_show_the_last_window():
    table = build_table(markdown(5_000, 4), "markdown", row=10**9, column=10**9)

    assert table.window == Window(4_950, 5_000, 0, 4)
    assert table.below is None


def test_a_table_of_long_texts_has_fewer_rows_in_a_window():
    rows = "".join(f"|{'tide ' * 400}|x|\n" for _ in range(200))
    table = build_table("|a|b|\n|---|---|\n" + rows, "markdown")

    assert len(table.body) == 45


def test_a_header_over_many_columns_is_cut_at_the_edge_of_the_window():
    heads = "<th rowspan=2>Port</th><th colspan=40>Tide</th><th colspan=40>Wave</th>"
    below = "".join(f"<th>h{n}</th>" for n in range(2, 82))
    cells = "".join(f"<td>{n}</td>" for n in range(1, 82))
    text = f"<table><tr>{heads}</tr><tr>{below}</tr><tr>{cells}</tr></table>"

    table = cut(text, "html", up_to(100, 30), column=31)

    assert [(cell.text, cell.colspan, cell.rowspan) for cell in table.head[0]] == [
        ("Port", 1, 2),
        ("Tide", 11, 1),
        ("Wave", 19, 1),
    ]
    assert [cell.text for cell in table.head[1]][:1] == ["h31"]
    assert len(table.head[1]) == 30
    assert [cell.text for cell in table.body[0]] == ["1", *map(str, range(31, 61))]


def test_a_cell_that_reaches_down_into_a_window_is_repeated_there():
    rows = "".join(
        f"<tr>{'<td rowspan=150>North</td>' if n == 0 else ''}{'<td>South</td>' if n > 149 else ''}"
        f"<td>{n}</td></tr>"
        for n in range(400)
    )
    text = f"<table><tr><th>Sea</th><th>Place</th></tr>{rows}</table>"

    second = cut(text, "html", up_to(100, 30), row=101)

    assert [(c.text, c.rowspan, c.again) for c in second.body[0]] == [
        ("North", 50, True),
        ("100", 1, False),
    ]
    assert [cell.text for cell in second.body[50]] == ["South", "150"]


def test_a_wide_cell_spans_all_columns_of_each_window():
    rows = "<tr><td colspan=90>Northern ports</td></tr>" + "<tr>" + "<td>x</td>" * 90 + "</tr>"
    text = f"<table>{rows}</table>"

    assert cut(text, "html", up_to(100, 30)).body[0][0].colspan == 30
    assert cut(text, "html", up_to(100, 30), column=40).body[0][0].colspan == 31


def test_words_are_found_in_the_windows_that_are_not_shown():
    text = markdown(5_000, 4).replace("r4321c3", "Spring tide").replace("r77c2", "SPRING")
    first = build_table(text, "markdown")

    found = find_in_table(first, "spring nothing", "next", NO_WORDS)
    again = find_in_table(found, "spring nothing", "next", NO_WORDS)

    assert found.window == Window(4_200, 4_350, 0, 4)
    assert found.found is not None
    assert (found.found.before, found.found.total) == (1, 2)
    assert again.window == Window(0, 150, 0, 4)
    assert [cell.text for row in again.body for cell in row if cell.hit] == ["SPRING"]


def test_words_that_are_not_in_the_table_are_not_found():
    first = build_table(markdown(190, 4), "markdown")

    assert find_in_table(first, "r191c1 x", "next", NO_WORDS) is first
    assert find_in_table(first, "   ", "next", NO_WORDS) is first


@pytest.mark.parametrize(
    ("go", "start", "expected"),
    [
        ("here", 1, 2),
        ("next", 1, 2),
        ("here", 2, 2),
        ("next", 2, 4),
        ("next", 4, 2),
        ("previous", 4, 2),
        ("previous", 1, 4),
        ("previous", 2, 4),
    ],
)
def test_the_search_continues_from_the_shown_window_and_wraps_around(go, start, expected):
    text = markdown(500, 2).replace("r150c1", "tide").replace("r350c2", "tide")
    cells = lay_out(parse_table(text, "markdown"), up_to(100, 30))
    pattern = search_pattern("tide")
    assert pattern is not None

    found = cells.find(pattern, cells.window((start - 1) * 100), go)

    assert found is not None
    assert found.window.row == (expected - 1) * 100


def test_a_longer_word_is_found_before_one_within_it():
    pattern = search_pattern("tid tides")
    assert pattern is not None

    assert pattern.findall("Tides, tidal") == ["Tides", "tid"]


def test_special_characters_of_patterns_are_matched_literally():
    pattern = search_pattern("a.b (")
    assert pattern is not None

    assert pattern.findall("axb a.b (") == ["a.b", "("]


# --- every table ----------------------------------------------------------------------------------


@st.composite
def tables(draw) -> Table:
    """Generate tables with merged cells, laid out by the HTML reader."""
    rows = draw(
        st.lists(
            st.lists(
                st.tuples(st.integers(1, 4), st.integers(1, 5), st.sampled_from(["td", "th"])),
                min_size=1,
                max_size=6,
            ),
            min_size=1,
            max_size=14,
        )
    )
    number = iter(range(1_000))
    text = "".join(
        "<tr>"
        + "".join(f"<{tag} rowspan={r} colspan={c}>{next(number)}</{tag}>" for r, c, tag in row)
        + "</tr>"
        for row in rows
    )
    return parse_table(f"<table>{text}</table>", "html")


def covering(rows, columns: list[int]) -> dict[tuple[int, int], str]:
    """Map each (row, column) of a drawn table to the text there, as a browser lays it out."""
    found: dict[tuple[int, int], str] = {}
    for at, row in enumerate(rows):
        place = 0
        for cell in row:
            while (at, columns[place]) in found:
                place += 1
            for down in range(cell.rowspan):
                for right in range(cell.colspan):
                    key = (at + down, columns[place + right])
                    assert key not in found
                    found[key] = cell.text
            place += cell.colspan
    return found


def plain(table: Table) -> dict[tuple[int, int], str]:
    return covering(table.rows, list(range(table.width)))


@given(tables(), st.integers(1, 4), st.integers(1, 4))
def test_every_window_shows_the_same_cells_as_the_whole_table(table, rows, columns):
    cells = lay_out(table, up_to(rows, columns))
    whole = plain(table)
    seen: Counter[tuple[int, int]] = Counter()
    own: Counter[str] = Counter()

    for window in cells.windows():
        shown_columns = list(range(window.column, window.column_end))
        if window.column:
            shown_columns.insert(0, 0)
        head, body = cells.cut(window)
        drawn = covering(head, shown_columns)
        top = cells.head + window.row
        for (row, column), text in covering(body, shown_columns).items():
            drawn[(top + row, column)] = text
            if window.column <= column:
                seen[(top + row, column)] += 1

        expected_rows = [*range(cells.head), *range(top, cells.head + window.row_end)]
        assert drawn == {
            (row, column): whole[(row, column)] for row in expected_rows for column in shown_columns
        }
        own.update(c.text for row in (*head, *body) for c in row if not c.again)

    body_places = [place for place in whole if place[0] >= cells.head]
    assert seen == Counter(body_places)
    # Each cell belongs to exactly one window, so that matches are counted once.
    assert own == Counter(cell.text for row in table.rows for cell in row)


@given(tables(), st.integers(1, 3), st.integers(0, 20))
def test_the_search_counts_each_cell_once_and_visits_every_window_with_a_match(table, size, at):
    cells = lay_out(table, up_to(size, size))
    pattern = search_pattern("1")
    assert pattern is not None
    total = sum(cell.text.count("1") for row in table.rows for cell in row)

    found = cells.find(pattern, cells.window(at, at), "here")

    if not total:
        assert found is None
        return
    assert found is not None
    assert found.total == total
    start = found.window
    passed = 0
    while True:
        head, body = cells.cut(found.window)
        passed += sum(
            cell.text.count("1") for row in (*head, *body) for cell in row if not cell.again
        )
        found = cells.find(pattern, found.window, "next")
        assert found is not None
        if found.window == start:
            break
    assert passed == total


def test_a_table_without_cells_has_one_empty_window():
    cells = lay_out(Table("", (), 0))

    assert list(cells.windows()) == [(0, 0, 0, 0)]
    assert cells.cut(Window(0, 0, 0, 0)) == ([], [])


def test_many_header_rows_leave_room_for_the_body():
    rows = tuple((Cell(str(n), header=True), Cell("x", header=n < 20)) for n in range(30))

    assert lay_out(Table("", rows, 2)).head == 8
