"""Documents of every kind in a real browser: long, wide, tall, and in every script.

Readers find words in them, see words marked, and return to where they were.
"""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from annotate.judgments import assignments
from annotate.models import Assignment, Document, DocumentText
from tests import factories
from tests.browser.waiting import holds, shows, until

LONG = "".join(f"word{n} " if n % 12 else f"word{n}\n" for n in range(1, 100_001))
CODE = "if a<b && c > d:\r\n\tprint('<td>')\n    <script>alert(1)</script>\n\n  🌊 & tide\r"
ARABIC = "طاقة المد والجزر tidal power هي شكل.\nThe second line is English: طاقة."
CHINESE = "中国的潮汐发电站位于海边，利用潮汐能发电。\n它在海上。"


def tall_table(rows: int = 5_000, columns: int = 4) -> str:
    lines = [
        "|" + "|".join(f"head{n}" for n in range(1, columns + 1)) + "|",
        "|---" * columns + "|",
    ]
    lines.extend(
        "|" + "|".join(f"r{row}c{n}" for n in range(1, columns + 1)) + "|"
        for row in range(1, rows + 1)
    )
    return "\n".join(lines)


@pytest.fixture
def read(live_server, new_person):
    """A function that opens a document on the judge page, in a pool with `others`."""

    def open_page(text: str, *others: str, markup: str = "plain", title: str = "") -> Page:
        project = factories.project("tides", judge_order="doc_id", order_seed=406)
        query = factories.query(project, title="tidal power 潮汐发电")
        first = factories.candidate(query, "A", text=text, markup=markup, title=title)
        for number, other in enumerate(others):
            factories.candidate(query, f"B{number}", text=other)
        pair = factories.pair(
            query,
            original="Any plant counts, also on rivers.",
            altered="Only plants at sea count. 只有海上的电站",
        )
        ada = factories.member(project, "ada")
        assignments.take(pair=pair, task=Assignment.Task.JUDGE, by=ada)
        page: Page = new_person("ada", viewport={"width": 1280, "height": 860})
        page.goto(f"/pairs/{pair.pk}/candidates/{first.pk}/")
        expect(page.locator(".judge:not([data-keys-wait])")).to_be_visible()
        return page

    return open_page


def marked(page: Page, name: str) -> list[str]:
    """Return the words under a highlight, in the order of the document."""
    found: list[str] = page.evaluate(
        """name => [...(CSS.highlights.get(name) ?? [])]
            .sort((one, other) => one.compareBoundaryPoints(Range.START_TO_START, other))
            .map(range => range.toString())""",
        name,
    )
    return found


def expect_marked(page: Page, name: str, words: list[str]) -> None:
    """Wait until these words are under a highlight."""
    until(page, lambda: marked(page, name) == words, f"the words {words} under {name}")


def text_of(page: Page) -> str:
    return page.locator(".document__text").text_content() or ""


def is_in_view(page: Page, name: str) -> bool:
    """Return whether the only range of a highlight is on the screen."""
    found: bool = page.evaluate(
        """name => {
            const box = [...CSS.highlights.get(name)][0].getBoundingClientRect();
            const below = box.height > 0 && box.top > 0 && box.bottom < innerHeight;
            return below && box.left > 0 && box.right < innerWidth;
        }""",
        name,
    )
    return found


# --- texts ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text", [CODE, ARABIC, CHINESE, LONG], ids=["code", "Arabic", "Chinese", "long"]
)
def test_the_text_on_the_page_is_the_stored_one_to_the_last_character(read, text):
    assert text_of(read(text)) == DocumentText.objects.get(document__doc_id="A").text == text


def test_code_is_shown_with_its_blanks_and_brackets_and_does_not_run(read):
    page = read(CODE)

    expect(page.locator(".document__text script")).to_have_count(0)
    expect(page.locator(".document__text")).to_have_css("white-space-collapse", "preserve")


def test_each_paragraph_has_the_direction_of_its_own_script(read):
    page = read(ARABIC)

    first, second = page.evaluate(
        """() => {
            const node = document.querySelector('.document__text').firstChild;
            const left = at => {
                const range = document.createRange();
                range.setStart(node, at);
                range.setEnd(node, at + 1);
                return range.getBoundingClientRect().left;
            };
            return [left(0), left(node.data.indexOf('The second'))];
        }"""
    )
    assert first > second + 200


def test_only_the_visible_parts_of_a_long_text_are_laid_out(read):
    page = read(LONG)

    parts = page.locator(".document__part")
    assert parts.count() > 100
    # Parts never laid out have the height that the style sheet assumes: 48 times 16 pixels.
    skipped = page.evaluate(
        """() => [...document.querySelectorAll('.document__part')]
            .filter(part => part.getBoundingClientRect().height === 768).length"""
    )
    assert skipped > 100


def test_an_endless_line_is_laid_out_in_parts_too(read):
    text = "tide " * 30_000
    page = read(text)

    assert page.locator(".document__part").count() > 10
    assert text_of(page) == text


# --- marked words ---------------------------------------------------------------------------------


def test_the_words_of_the_query_and_of_the_change_are_marked_apart(read):
    page = read("🌊 A river drives no tidal plant: the sea has the powers.", title="Seas of power")

    expect_marked(page, "mark-query", ["power", "tidal", "powers"])
    expect_marked(page, "mark-change", ["Seas", "sea"])
    expect(page.locator("[data-marks-status]")).to_have_text("5 marked")


def test_chinese_words_are_marked(read):
    page = read(CHINESE)

    expect_marked(page, "mark-query", ["潮汐发电", "潮汐", "发电"])
    expect_marked(page, "mark-change", ["海上"])


def test_a_key_turns_the_marks_off_and_it_is_remembered(read):
    page = read("tidal power")

    page.keyboard.press("m")
    expect_marked(page, "mark-query", [])
    page.reload()
    expect(page.locator("[data-marks-toggle]")).to_have_attribute("aria-pressed", "false")
    expect_marked(page, "mark-query", [])
    page.keyboard.press("m")

    expect_marked(page, "mark-query", ["tidal", "power"])


def test_keys_go_from_mark_to_mark_and_bring_each_into_sight(read):
    page = read("tidal\n" + "filler\n" * 400 + "power\n" + "filler\n" * 4_000 + "sea")
    status = page.locator("[data-marks-status]")

    page.keyboard.press("j")
    expect(status).to_have_text("1 of 3 marked")
    page.keyboard.press("j")
    expect(status).to_have_text("2 of 3 marked")
    expect_marked(page, "mark-here", ["power"])
    holds(page, "scrollY > 5000")
    until(page, lambda: is_in_view(page, "mark-here"), "the mark on the screen")
    page.keyboard.press("j")
    expect(status).to_have_text("3 of 3 marked")
    holds(page, "scrollY > 50000")
    until(page, lambda: is_in_view(page, "mark-here"), "the mark on the screen")
    page.keyboard.press("k")
    page.keyboard.press("k")
    expect(status).to_have_text("1 of 3 marked")

    holds(page, "scrollY < 100")


# --- finding --------------------------------------------------------------------------------------


def test_words_are_found_and_the_next_document_begins_without_them(read):
    page = read("A dam. Dams and DAM.", "No such word, but a dam")

    page.keyboard.press("/")
    page.keyboard.type("dam word")
    expect_marked(page, "find", ["dam", "Dam", "DAM"])
    page.keyboard.press("Enter")
    expect(page.locator("[data-find-status]")).to_have_text("1 of 3 found")
    page.keyboard.press("Shift+Enter")
    expect(page.locator("[data-find-status]")).to_have_text("3 of 3 found")
    page.keyboard.press("Escape")
    page.keyboard.press("1")
    shows(page, "B0")

    expect_marked(page, "find", [])
    expect(page.locator(".find__words")).to_have_value("")
    expect(page.locator("[data-find-status]")).to_have_text("")


def test_a_button_clears_the_words_to_find(read):
    page = read("A dam.")
    page.keyboard.press("/")
    page.keyboard.type("dam")

    page.get_by_role("button", name="Clear").click()

    expect_marked(page, "find", [])
    expect(page.get_by_role("textbox", name="Words to find")).to_be_focused()


def test_the_page_says_that_nothing_was_found(read):
    page = read("A dam.")
    page.keyboard.press("/")
    page.keyboard.type("(dam")

    expect(page.locator("[data-find-status]")).to_have_text("None found")


# --- tables ---------------------------------------------------------------------------------------


def test_a_table_of_5000_rows_is_shown_in_windows(read):
    page = read(tall_table(), markup="markdown")
    bar = page.get_by_role("navigation", name="Parts of the table")

    expect(bar).to_contain_text("Rows 1–150 of 5,000, columns 1–4 of 4")
    more = bar.get_by_role("link", name="More rows")
    more.focus()
    page.keyboard.press("Enter")

    expect(bar).to_contain_text("Rows 151–300 of 5,000")
    expect(page.locator("thead th").first).to_have_text("head1")
    expect(page.locator("tbody td").first).to_have_text("r151c1")
    expect(more).to_be_focused()
    assert "/candidates/" in page.url


def test_words_are_found_in_all_windows_of_a_table(read):
    text = (
        tall_table()
        .replace("r10c2", "spring tide")
        .replace("r4321c3", "Spring")
        .replace("r4322c1", "SPRING")
    )
    page = read(text, markup="markdown")
    status = page.locator("[data-find-status]")

    page.keyboard.press("/")
    page.keyboard.type("spring")
    expect(status).to_have_text("3 found")
    page.keyboard.press("Enter")
    expect(status).to_have_text("1 of 3 found")
    page.keyboard.press("Enter")
    expect(status).to_have_text("2 of 3 found")
    expect_marked(page, "find-here", ["Spring"])
    expect(page.locator(".window-bar")).to_contain_text("Rows 4,201–4,350 of 5,000")
    until(page, lambda: is_in_view(page, "find-here"), "the mark on the screen")
    page.keyboard.press("Enter")
    expect(status).to_have_text("3 of 3 found")
    page.keyboard.press("Enter")
    expect(status).to_have_text("1 of 3 found")
    page.keyboard.press("Shift+Enter")

    expect(status).to_have_text("3 of 3 found")
    expect_marked(page, "find-here", ["SPRING"])


def test_only_one_mark_or_match_is_current(read):
    page = read("tidal spring tidal spring")
    page.keyboard.press("/")
    page.keyboard.type("spring")
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")
    expect_marked(page, "find-here", ["spring"])

    page.keyboard.press("j")
    expect(page.locator("[data-marks-status]")).to_have_text("1 of 2 marked")
    expect_marked(page, "mark-here", ["tidal"])
    expect_marked(page, "find-here", [])
    page.keyboard.press("/")
    page.keyboard.press("Enter")
    expect(page.locator("[data-find-status]")).to_have_text("2 of 2 found")
    expect_marked(page, "mark-here", [])
    expect_marked(page, "find-here", ["spring"])


def test_a_match_in_the_title_comes_before_those_of_all_windows(read):
    text = tall_table().replace("r10c2", "spring").replace("r4321c3", "spring")
    page = read(text, markup="markdown", title="Spring tides")
    status = page.locator("[data-find-status]")
    page.keyboard.press("/")
    page.keyboard.type("spring")
    expect(status).to_have_text("3 found")

    for way, at in (("", 1), ("", 2), ("", 3), ("Shift+", 2), ("Shift+", 1)):
        page.keyboard.press(f"{way}Enter")
        expect(status).to_have_text(f"{at} of 3 found")

    expect_marked(page, "find-here", ["Spring"])


def test_windows_are_pages_without_javascript(read, new_person):
    path = re.sub(r"https?://[^/]+", "", read(tall_table(), markup="markdown").url)
    page = new_person("ada", java_script_enabled=False)
    page.goto(path)

    page.get_by_role("link", name="More rows").click()
    expect(page.locator("tbody td").first).to_have_text("r151c1")
    page.get_by_label("Find in the whole table").fill("r4321c3")
    page.get_by_role("button", name="Find").click()
    expect(page.locator("td.hit")).to_have_text("r4321c3")
    page.get_by_role("link", name="Judge", exact=True).click()

    shows(page, "A")


def test_the_head_and_the_first_column_stay_while_a_table_scrolls(read):
    heads = "<tr><th rowspan=2>Port</th><th colspan=20>Tide</th></tr>"
    below = "<tr>" + "".join(f"<th>height number {n}</th>" for n in range(20)) + "</tr>"
    rows = "".join(
        f"<tr><td>Port {r}</td>" + "".join(f"<td>{r} {n}</td>" for n in range(20)) + "</tr>"
        for r in range(40)
    )
    page = read(f"<table>{heads}{below}{rows}</table>", markup="html")
    region = page.locator(".document__table")
    region.focus()

    for _ in range(12):
        page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowDown")
    page.wait_for_function(
        """() => {
            const place = document.querySelector('.document__table');
            return place.scrollTop > 100 && place.scrollLeft > 100;
        }"""
    )

    edge = region.bounding_box()
    for name in ("Port", "Port 39"):
        box = page.get_by_text(name, exact=True).bounding_box()
        assert abs(box["x"] - edge["x"]) < 3, name
    assert abs(page.get_by_text("Port", exact=True).bounding_box()["y"] - edge["y"]) < 3
    # A header of the second row scrolls sideways under the first column, and never over it.
    assert page.get_by_text("height number 0", exact=True).bounding_box()["x"] < edge["x"]


def test_the_widest_real_table_is_shown_in_windows_and_searched_as_a_whole(read, shared_data):
    table = shared_data / "followtable" / "WTR" / "tables" / "4956.txt"
    if not table.is_file():
        pytest.skip("no FollowTable among the real collections")
    page = read(table.read_text(encoding="utf-8"), markup="markdown")
    bar = page.locator(".window-bar")

    expect(bar).to_contain_text("of 1,331")
    assert page.locator("tr").first.locator("th, td").count() == 150
    bar.get_by_role("link", name="More columns").click()
    expect(bar).to_contain_text("columns 151–300 of 1,331")
    expect(page.locator("thead th").first).to_have_text("Disease")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_windows_marks_and_the_find_box_can_be_used_by_everybody(read, accessibility, scheme):
    page = read(tall_table(), markup="markdown", title="Tidal power of rivers")
    page.emulate_media(color_scheme=scheme)
    page.keyboard.press("/")
    page.keyboard.type("r1c1")
    expect(page.locator("[data-find-status]")).to_have_text(re.compile("found"))

    assert accessibility(page) == []


# --- returning ------------------------------------------------------------------------------------


def test_a_document_reopens_at_its_last_position_and_a_new_one_at_its_start(read):
    page = read("line\n" * 500, "other\n" * 500)
    page.evaluate("scrollTo(0, 3000)")
    holds(page, "scrollY === 3000")
    page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")

    page.keyboard.press("ArrowRight")
    shows(page, "B0")
    assert page.evaluate("scrollY") == 0
    page.keyboard.press("ArrowLeft")
    shows(page, "A")

    holds(page, "scrollY === 3000")
    page.reload()
    holds(page, "scrollY === 3000")


def test_a_very_long_text_reopens_at_the_same_line(read):
    page = read(LONG, "other")
    page.keyboard.press("/")
    page.keyboard.type("word54321")
    page.keyboard.press("Enter")
    holds(page, "scrollY > 10000")
    page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    page.keyboard.press("Escape")
    # The first part of the text that is in sight, and where it begins.
    top = """(() => {
        const parts = [...document.querySelectorAll(".document__part")];
        const at = parts.findIndex((part) => part.getBoundingClientRect().bottom > 0);
        return at * 1e6 + parts[at].getBoundingClientRect().top;
    })()"""
    before = page.evaluate(top)

    page.keyboard.press("ArrowRight")
    shows(page, "B0")
    page.keyboard.press("ArrowLeft")
    shows(page, "A")

    page.wait_for_function(f"Math.abs({top} - {before}) < 3")


def test_a_table_reopens_at_its_last_window(read):
    page = read(tall_table(), "other", markup="markdown")
    page.get_by_role("link", name="More rows").click()
    expect(page.locator("tbody td").first).to_have_text("r151c1")
    page.locator(".document__table").evaluate("place => place.scrollTop = 700")
    page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")

    page.keyboard.press("ArrowRight")
    shows(page, "B0")
    page.keyboard.press("ArrowLeft")
    shows(page, "A")

    expect(page.locator("tbody td").first).to_have_text("r151c1")
    holds(page, "document.querySelector('.document__table').scrollTop === 700")


def test_words_are_marked_in_the_texts_that_are_open_in_the_list(read):
    page = read("tidal plants at sea", "No power")
    page.keyboard.press("v")
    expect(page.locator("[data-listing]:not([data-keys-wait])")).to_be_visible()

    page.keyboard.press("x")
    expect(page.locator(".listing__document-view .document__text")).to_be_visible()
    holds(page, "CSS.highlights.get('mark-query')?.size > 0")
    expect_marked(page, "mark-query", ["tidal"])
    expect_marked(page, "mark-change", ["sea"])
    page.keyboard.press("x")

    holds(page, "CSS.highlights.get('mark-query').size === 0")


def test_the_keys_that_scroll_the_page_scroll_a_tall_table_and_the_edge_says_what_follows(read):
    page = read(tall_table(40), "other", markup="markdown")
    more = page.locator("[data-table-more]")
    expect(more).to_contain_text("more rows below")
    table = page.locator(".document__table")

    page.keyboard.press("Space")

    until(page, lambda: table.evaluate("table => table.scrollTop") > 100, "the table scrolls")
    assert page.evaluate("scrollY") == 0
    page.keyboard.press("End")
    expect(more).to_have_text("")
    assert table.evaluate("table => table.scrollTop + table.clientHeight >= table.scrollHeight - 1")
    expect(page.locator("thead th").first).to_be_in_viewport()
    assert page.get_by_role("rowheader", name="r40c1").count() == 1


def test_a_low_table_has_no_empty_strip(read):
    page = read(tall_table(2), "other", markup="markdown")

    gap = page.locator(".document__table").evaluate(
        "frame => frame.clientHeight - frame.querySelector('table').offsetHeight"
    )

    assert gap == 0


def test_a_window_of_a_newer_text_is_not_mixed_with_the_one_on_the_page(read):
    page = read(tall_table(), markup="markdown")
    bar = page.get_by_role("navigation", name="Parts of the table")
    newer = DocumentText.objects.get()
    newer.pk, newer.version, newer.text = None, 2, tall_table(4_000)
    newer.save(force_insert=True)
    Document.objects.update(text_version=2)

    bar.get_by_role("link", name="More rows").click()

    expect(bar).to_contain_text("This table has a new text by now.")
    expect(page.locator("tbody td").first).to_have_text("r1c1")
    page.reload()
    expect(bar).to_contain_text("Rows 1–150 of 4,000")
