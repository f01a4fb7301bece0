"""A document is shown as text, or as a table rebuilt from its cells, with words marked."""

from __future__ import annotations

from collections import OrderedDict

import pytest
from django.urls import reverse
from hypothesis import given
from hypothesis import strategies as st

from annotate.collection.document_rendering import (
    cell_spans,
    document_text,
    read_pane,
    same_words,
    table_rows,
    text_parts,
)
from annotate.collection.marking import select_words
from annotate.collection.table_windows import Grid, ShownCell
from annotate.judgments import assignments
from annotate.models import Assignment, InstructionPair, Membership
from annotate.pairs.pool import words_to_mark
from tests import factories
from tests.collection.tables import build_table
from tests.pages import shows


def test_plain_text_is_shown_unchanged(db):
    document = factories.document(factories.project(), "A", "a < b <script>")

    shown = read_pane(document)

    assert (shown.text, shown.table) == ("a < b <script>", None)


def test_a_document_known_only_by_its_id_has_no_text(db):
    shown = read_pane(factories.document(factories.project(), "A", None))

    assert (shown.text, shown.table) == (None, None)


def test_header_rows_at_the_top_are_the_head():
    table = build_table(
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


def test_the_first_column_is_recognized_below_a_cell_that_reaches_down():
    table = build_table(
        "<table><tr><th>Sea</th><th>Port</th></tr>"
        "<tr><td rowspan=2>North</td><td>Emden</td></tr>"
        "<tr><td>Hull</td></tr></table>",
        "html",
    )

    assert [[(cell.text, cell.first) for cell in row] for row in table.body] == [
        [("North", True), ("Emden", False)],
        [("Hull", False)],
    ]


def test_a_table_with_only_headers_has_a_body():
    table = build_table("<table><tr><th>Port</th></tr></table>", "html")

    assert (table.head, len(table.body)) == ([], 1)


def test_a_table_document_without_cells_is_shown_as_text(db):
    document = factories.document(factories.project(), "A", "no cells", markup="html")

    assert read_pane(document).table is None


def test_a_header_that_reaches_into_the_body_is_part_of_the_body():
    table = build_table(
        "<table><tr><th rowspan=2>Sea</th><th>Port</th></tr><tr><td>Emden</td></tr></table>", "html"
    )

    assert (table.head, len(table.body)) == ([], 2)


def test_query_and_change_are_marked_in_title_and_text(db):
    query = factories.query(factories.project(), title="tidal power")
    pair = factories.pair(query, original="Any plant.", altered="Plants at sea.")
    document = factories.document(query.project, "A", "The sea\nhas power.", title="Tidal")
    words = words_to_mark(pair, factories.altered(pair))

    shown = read_pane(document, words)

    assert (shown.marks.title, shown.marks.text) == ("[[0,5],[]]", "[[12,17],[4,7]]")


def test_the_words_of_a_query_without_a_title_come_from_its_description(db):
    query = factories.query(factories.project(), title="")
    query.description = "Power of tides"
    pair = factories.pair(query)

    assert words_to_mark(pair, factories.altered(pair)).query.stems == {"power", "tide"}


def test_there_is_no_change_to_mark_under_the_original_narrative(db):
    pair = factories.pair(factories.query(factories.project()), altered=None)
    original = pair.current("original")
    assert original is not None

    assert words_to_mark(pair, original).change.stems == set()


def test_marks_in_a_cell_count_from_the_start_of_the_cell():
    words = select_words(query="tide", original="A port.", altered="A sea.")

    table = build_table(
        "<table><tr><th>Tide</th><th>x</th></tr>"
        "<tr><td>the sea tide</td><td>port</td></tr></table>",
        "html",
        words,
    )

    cells = [cell for row in (*table.head, *table.body) for cell in row]
    assert [cell.marks for cell in cells] == ["[[0,4],[]]", "", "[[8,12],[4,7]]", ""]


def test_the_words_of_a_caption_are_marked():
    words = select_words(query="tide", original="A port.", altered="A sea.")

    table = build_table(
        "<table><caption>Tide at sea</caption><tr><td>1</td></tr></table>", "html", words
    )

    assert table.caption_marks == "[[0,4],[8,11]]"


def test_numbers_and_headers_of_number_columns_are_recognized():
    table = build_table(
        "|Plant|MW|Share|Year|\n|---|---|---|---|\n|La Rance|240|1 %|1966|\n|Annapolis|20|||\n",
        "markdown",
    )

    assert [[cell.text for cell in row if cell.number] for row in (*table.head, *table.body)] == [
        ["MW", "Share", "Year"],
        ["240", "1 %", "1966"],
        ["20"],
    ]


@pytest.mark.parametrize("text", ["−3.4", "1,204", "2 615", "12 %", "€5.20", "3.2e-4", "(1.5)"])
def test_numbers_are_aligned_as_numbers(text):
    table = build_table(f"|a|\n|---|\n|{text}|\n", "markdown")

    assert table.body[0][0].number


@pytest.mark.parametrize("text", ["V2", "2021/22", "10 km", "", "–"])
def test_other_texts_are_not_aligned_as_numbers(text):
    table = build_table(f"|a|\n|---|\n|{text}|\n", "markdown")

    assert not table.body[0][0].number


def test_cell_positions_are_relative_to_the_previous_cell():
    text = "|ab|c|\n|---|---|\n|def|g|\n"

    numbers = [int(number) for number in cell_spans(build_table(text, "markdown")).split()]

    at, quoted = 0, []
    for way, length in zip(numbers[::2], numbers[1::2], strict=True):
        quoted.append(text[at + way : at + way + length])
        at += way + length
    assert quoted == ["ab", "c", "def", "g"]


def test_a_caption_that_repeats_the_title_is_recognized():
    assert same_words("Tides  at\nsea", "Tides at sea")
    assert not same_words("Tides at sea", None)
    assert not same_words("Tides at sea, in MW", "Tides at sea")


def test_the_windows_of_a_big_table_are_cut_from_cached_cells(db, monkeypatch):
    text = "|a|b|\n|---|---|\n" + "|x|y|\n" * 1_000
    document = factories.document(
        factories.project(), "A", text, markup="markdown", digest="kept once"
    )
    first = read_pane(document)
    monkeypatch.setattr(
        "annotate.collection.document_rendering.parse_table",
        lambda text, markup: pytest.fail("again"),
    )

    second = read_pane(document, row=200)

    assert first.table is not None
    assert second.table is not None
    assert second.table.grid is first.table.grid
    assert second.table.first_row == 151


def test_the_cell_cache_is_limited(db, monkeypatch):
    cache: OrderedDict[tuple[str, str], Grid] = OrderedDict()
    monkeypatch.setattr("annotate.collection.document_rendering._cache", cache)
    monkeypatch.setattr("annotate.collection.document_rendering._MAX_CACHED_CELLS", 5_000)
    project = factories.project()

    for name, rows in (("one", 1_000), ("two", 1_000), ("three", 1_000), ("four", 4_000)):
        text = "|a|b|\n|---|---|\n" + "|x|y|\n" * rows
        read_pane(factories.document(project, name, text, markup="markdown", digest=name))

    # Two tables of 2,002 cells fit; the first was evicted, and the last is too big to cache.
    assert [digest for digest, _ in cache] == ["two", "three"]


# --- parts of long texts --------------------------------------------------------------------------


def test_a_text_of_usual_length_is_one_part():
    assert text_parts("wave\n" * 4_000) == ["wave\n" * 4_000]


def test_a_long_text_is_cut_at_the_ends_of_lines():
    line = "w" * 999 + "\n"

    assert text_parts(line * 25) == [line * 2] * 12 + [line]


def test_a_text_of_short_lines_is_cut_every_thirty_lines():
    assert text_parts("wave\n" * 5_000)[:2] == ["wave\n" * 30] * 2


def test_an_overlong_line_is_cut_after_a_blank():
    parts = text_parts("tide " * 5_000)

    assert [len(part) for part in parts] == [8_000, 8_000, 8_000, 1_000]
    assert text_parts("潮汐能，" * 6_000)[0].endswith("，")


def test_a_letter_is_never_cut_from_its_accent():
    parts = text_parts("e\u0301" * 12_000)

    assert len(parts) > 1
    assert all(part[0] == "e" for part in parts)


@given(st.text("a \n\r\u0301潮🌊。", max_size=40), st.integers(500, 3_000))
def test_the_parts_of_a_text_are_the_text(text, times):
    assert "".join(text_parts(text * times)) == text * times


def test_carriage_returns_are_spelled_so_that_a_browser_keeps_them():
    assert document_text("a\r\n<b>\r") == "a&#13;\n&lt;b&gt;&#13;"


def test_markup_in_a_table_cell_stays_text():
    cell = ShownCell("<14 & ≥34", 1, 2, header=False, first=False, marks="[[0,3],[]]")
    head = ShownCell("<img src=x>", 2, 1, header=True, first=True, again=True)

    assert table_rows([[head, cell]]) == (
        '<tr><th class="first short" rowspan="2" data-again="again">&lt;img src=x&gt;</th>'
        '<td colspan="2" data-marks="[[0,3],[]]">&lt;14 &amp; ≥34</td></tr>'
    )


# --- the address of windows -----------------------------------------------------------------------


@pytest.fixture
def table(db, client):
    """The URL of the windows of a table of 400 rows, for ada."""
    project = factories.project()
    query = factories.query(project)
    text = "|a|b|\n|---|---|\n" + "".join(f"|row{n}|tidal{n}|\n" for n in range(1, 401))
    candidate = factories.candidate(query, "A", text=text, markup="markdown")
    pair = factories.pair(query)
    client.force_login(factories.member(project, "ada").user)
    return reverse("annotate:table", args=[pair.pk, candidate.pk])


def test_a_window_has_its_own_page(table, client):
    page = client.get(table, {"row": "160", "column": "1"})

    assert page.context["table"].first_row == 151
    assert shows(page, "Rows 151–300 of 400, columns 1–2 of 2")
    assert shows(page, "<html")


def test_an_htmx_request_gets_only_the_window(table, client):
    part = client.get(table, {"row": "160"}, headers={"HX-Request": "true"})

    assert part.content.decode().strip().startswith('<div class="document__window"')
    assert "HX-Request" in part["Vary"]


def test_the_whole_table_is_searched(table, client):
    page = client.get(table, {"find": "ROW399 row5", "go": "next"}, headers={"HX-Request": "true"})

    # row5 and row50 to row59 are eleven matches in the first window, before this one.
    assert shows(page, 'data-found-before="11" data-found-total="12"')
    assert page.context["table"].first_row == 301


def test_a_search_without_matches_says_so(table, client):
    page = client.get(table, {"find": "neap", "go": "next"})

    assert "Nothing in this table matches." in page.content.decode()
    assert page.context["table"].first_row == 1


@pytest.mark.parametrize(
    "parameters",
    [
        {"row": "x", "column": "-4"},
        {"row": "0"},
        {"row": "9" * 30},
        {"find": "x" * 5_000},
        {"find": "row9", "go": "sideways"},
    ],
)
def test_an_invalid_address_shows_the_first_window(table, client, parameters):
    page = client.get(table, parameters)

    assert page.status_code == 200
    assert page.context["table"].first_row == 1


def test_the_table_page_of_a_text_document_redirects_to_its_page(table, client):
    pair = InstructionPair.objects.get()
    text = factories.candidate(pair.query, "B", text="no table")

    page = client.get(reverse("annotate:table", args=[pair.pk, text.pk]))

    assert page.url == reverse("annotate:document", args=[pair.pk, text.pk])


def test_a_window_takes_few_queries(table, client, django_assert_max_num_queries):
    with django_assert_max_num_queries(11):
        client.get(table, {"row": "160"}, headers={"HX-Request": "true"})


def test_every_page_with_a_document_links_the_other_windows(table, client):
    pair = InstructionPair.objects.get()
    candidate = pair.query.candidates.get()
    ada = Membership.objects.get(name="ada")
    assignments.take(pair=pair, task=Assignment.Task.JUDGE, by=ada)
    under = factories.altered(pair)
    factories.judgment(under, candidate, ada, 0)
    factories.judgment(under, candidate, factories.member(pair.project, "ben"), 2)
    factories.lead(pair.project, "carla")
    link = f'href="{table}?row=151&amp;column=1"'

    for name, keys, who in (
        ("annotate:judge", [pair.pk, candidate.pk], "ada"),
        ("annotate:document", [pair.pk, candidate.pk], "ada"),
        ("annotate:documents", [pair.pk], "ada"),
        ("audit:disagreement", [under.pk, candidate.pk], "carla"),
    ):
        client.force_login(factories.user(who))
        page = client.get(reverse(name, args=keys), {"candidate": candidate.pk})

        assert link in page.content.decode(), name
