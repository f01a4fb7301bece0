"""Passages are marked by mouse, two clicks or keys, and stored as code points of the text."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from annotate.judgments import assignments
from annotate.models import Assignment, Document, Judgment, Project
from tests import factories
from tests.browser.test_keys import press_typed
from tests.browser.waiting import holds, saved, shows

# Each of the first three characters is two UTF-16 units and one code point.
ASTRAL = (
    "🌊𠀀🏭 At La Rance the tide drives 24 turbines. A mill stands on a river.\n\nNobody counts it."
)
ARABIC = "تعمل المحطة بالمد والجزر. لا تحسب الطاحونة على النهر."
# Where a character is, once it is at the same place in two frames.
PLACE = """async ([text, index]) => {
    const element = document.querySelector("#document-view .document__text");
    const measure = () => {
        const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
        for (let node = walker.nextNode(); node; node = walker.nextNode()) {
            const at = node.data.indexOf(text);
            if (at < 0) continue;
            const range = document.createRange();
            range.setStart(node, at + index);
            range.setEnd(node, at + index + 1);
            const { left, top, width, height } = range.getBoundingClientRect();
            return { x: left + width / 2, y: top + height / 2 };
        }
    };
    for (let before = measure(); ; ) {
        await new Promise((frame) => requestAnimationFrame(() => requestAnimationFrame(frame)));
        const place = measure();
        if (place.x === before.x && place.y === before.y) return place;
        before = place;
    }
}"""
PAINTED = "() => [...(CSS.highlights.get('evidence') ?? [])].map((range) => range.toString())"


class Scene:
    """ada judges two documents; the first has the text under test."""

    def __init__(self, new_person, text=ASTRAL, markup=Document.Markup.PLAIN, **rules) -> None:
        rules = {"judge_order": Project.Order.DOC_ID, "order_seed": 3, **rules}
        self.project = factories.project("tides", **rules)
        self.query = factories.query(self.project)
        self.text = text
        self.first = factories.candidate(self.query, "A", text=text, markup=markup)
        self.second = factories.candidate(self.query, "B", text="Another text.")
        self.pair = factories.pair(
            self.query, altered="Only plants at sea count, but not mills. Plans do not."
        )
        ada = factories.member(self.project, "ada")
        assignments.take(pair=self.pair, task=Assignment.Task.JUDGE, by=ada)
        self.page: Page = new_person("ada")
        self.open()

    def open(self) -> None:
        self.page.goto(f"/pairs/{self.pair.pk}/candidates/{self.first.pk}/")
        self.ready(self.page)

    @staticmethod
    def ready(page: Page) -> None:
        expect(page.locator("#spoken")).to_contain_text("Document 1 of 2")

    def shows(self, doc_id: str) -> None:
        shows(self.page, doc_id)

    def at(self, text: str, index: int = 0) -> tuple[float, float]:
        place = self.page.evaluate(PLACE, [text, index])
        return place["x"], place["y"]

    def drag(self, text: str) -> None:
        """Drag over a text; the font decides whether its first and last characters are included."""
        self.page.mouse.move(*self.at(text))
        self.page.mouse.down()
        self.page.mouse.move(*self.at(text, len(text) - 1), steps=3)
        self.page.mouse.up()

    def mark_by_clicks(self, begin: str, end: str) -> None:
        """Press the key that starts marking, then click the first and the last word."""
        spoken = self.page.locator("[data-evidence-spoken]")
        self.page.keyboard.press("e")
        self.page.mouse.click(*self.at(begin, 2))
        expect(spoken).to_contain_text("It begins at")
        self.page.mouse.click(*self.at(end, 2))
        expect(spoken).not_to_contain_text("It begins at")

    def chips(self):
        return self.page.locator(".mark-chip__go")

    def saved(self) -> Judgment:
        saved(self.page)
        return Judgment.objects.current().get()

    def quoted(self) -> list[str]:
        return [self.text[span["start"] : span["end"]] for span in self.saved().evidence]


@pytest.fixture
def scene(live_server, new_person):
    return Scene(new_person)


def test_a_passage_selected_by_mouse_is_marked_by_its_key_and_saved(scene):
    x, y = scene.at("tide drives")
    scene.page.mouse.dblclick(x + 4, y)
    scene.page.keyboard.press("e")

    expect(scene.chips()).to_have_text(["“tide”"])
    assert scene.page.evaluate(PAINTED) == ["tide"]

    scene.page.keyboard.press("2")
    scene.shows("B")
    assert scene.quoted() == ["tide"]
    assert scene.saved().evidence == [{"start": 20, "end": 24}]


def test_two_clicks_mark_from_word_to_word(scene):
    scene.page.keyboard.press("e")
    scene.page.mouse.click(*scene.at("tide drives", 2))
    expect(scene.page.locator("[data-evidence-spoken]")).to_contain_text("It begins at “tide”")
    scene.page.mouse.click(*scene.at("turbines", 3))

    expect(scene.chips()).to_have_text(["“tide drives 24 turbines”"])
    scene.page.keyboard.press("1")
    scene.shows("B")
    assert scene.quoted() == ["tide drives 24 turbines"]


def test_a_passage_dragged_while_marking_is_taken_at_once_by_whole_words(scene):
    scene.page.keyboard.press("e")
    scene.drag("ives 24 turbin")

    expect(scene.chips()).to_have_text(["“drives 24 turbines”"])


@pytest.mark.parametrize("width", [1280, 800])
def test_marked_passages_can_be_read_and_clicked_at_any_width(scene, width):
    scene.page.set_viewport_size({"width": width, "height": 900})
    scene.drag("drives 24 turbines")
    scene.page.keyboard.press("e")

    ends = scene.chips().evaluate(
        """chip => {
            const { left, right, top, height } = chip.getBoundingClientRect();
            const seen = (x) => document.elementFromPoint(x, top + height / 2) === chip;
            return [right - left > 100, seen(left + 4), seen(right - 4)];
        }"""
    )
    assert ends == [True, True, True]


def test_a_selection_is_marked_by_whole_words_and_with_alt_as_it_is(scene):
    scene.drag("ives 24 turbin")
    scene.page.keyboard.press("e")
    expect(scene.chips()).to_have_text(["“drives 24 turbines”"])
    scene.page.locator(".mark-chip__away").click()

    scene.page.keyboard.down("Alt")
    scene.drag("ives 24 turbin")
    scene.page.keyboard.up("Alt")
    scene.page.keyboard.press("e")
    expect(scene.chips()).to_have_text(re.compile("^“i?ves 24 turbin?”$"))


def test_the_keyboard_alone_marks_a_passage_and_says_what_it_does(scene):
    spoken = scene.page.locator("[data-evidence-spoken]")
    scene.page.keyboard.press("e")
    expect(spoken).to_have_text("𠀀")
    for _ in range(4):
        scene.page.keyboard.press("ArrowRight")
    expect(spoken).to_have_text("the")
    scene.page.keyboard.press("ArrowRight")
    scene.page.keyboard.press("Shift+ArrowRight")
    expect(spoken).to_have_text("tide drives")
    scene.page.keyboard.press("Enter")

    expect(spoken).to_have_text("Marked: “tide drives”")
    expect(scene.chips()).to_have_text(["“tide drives”"])
    scene.page.keyboard.press("0")
    scene.shows("B")
    assert scene.quoted() == ["tide drives"]


def test_the_keyboard_moves_and_extends_by_sentence(scene):
    scene.page.keyboard.press("e")
    scene.page.keyboard.press("ArrowDown")
    expect(scene.page.locator("[data-evidence-spoken]")).to_have_text("A")
    scene.page.keyboard.press("Shift+ArrowDown")
    scene.page.keyboard.press("Enter")

    scene.page.keyboard.press("0")
    scene.shows("B")
    assert scene.quoted() == ["A mill stands on a river."]


@pytest.mark.parametrize("key", ["e", "w"])
def test_the_buttons_stay_where_they_are_when_marking_begins(scene, key):
    grade = scene.page.get_by_role("button", name="Highly relevant")
    before = [grade.bounding_box(), scene.page.locator(".judge__bar").bounding_box()]

    scene.page.keyboard.press(key)

    expect(scene.page.locator("[data-evidence-help]")).to_be_in_viewport()
    assert [grade.bounding_box(), scene.page.locator(".judge__bar").bounding_box()] == before


def test_escape_leaves_without_a_mark_and_the_keys_answer_again(scene):
    scene.page.keyboard.press("e")
    scene.page.keyboard.press("Escape")

    expect(scene.page.locator("[data-evidence-help]")).to_be_hidden()
    scene.page.keyboard.press("ArrowRight")
    scene.shows("B")


def test_overlapping_passages_merge_and_can_be_undone_or_removed(scene):
    for end in ("drives", "turbines"):
        scene.mark_by_clicks("tide drives", end)
    expect(scene.chips()).to_have_text(["“tide drives 24 turbines”"])

    scene.page.get_by_role("button", name="Take back").click()
    expect(scene.chips()).to_have_text(["“tide drives”"])
    scene.page.get_by_role("button", name="Remove the mark: “tide drives”").click()
    expect(scene.chips()).to_have_count(0)
    assert scene.page.evaluate(PAINTED) == []


def test_marks_are_there_again_on_return(scene):
    scene.mark_by_clicks("turbines", "turbines")
    scene.page.keyboard.press("2")
    scene.shows("B")

    scene.page.keyboard.press("ArrowLeft")
    scene.shows("A")
    expect(scene.chips()).to_have_text(["“turbines”"])

    scene.saved()
    scene.page.reload()
    scene.ready(scene.page)
    expect(scene.chips()).to_have_text(["“turbines”"])
    assert scene.page.evaluate(PAINTED) == ["turbines"]


def test_unsent_marks_stay_with_their_document(scene):
    scene.page.keyboard.press("e")
    scene.page.keyboard.press("Enter")
    expect(scene.chips()).to_have_text(["“𠀀”"])

    scene.page.keyboard.press("ArrowRight")
    scene.shows("B")
    expect(scene.chips()).to_have_count(0)
    scene.page.keyboard.press("ArrowLeft")

    scene.shows("A")
    expect(scene.chips()).to_have_text(["“𠀀”"])


def test_unsent_marks_survive_a_reload(scene):
    for key in ("e", "Enter", "w", "1"):
        scene.page.keyboard.press(key)
    expect(scene.chips()).to_have_count(2)

    scene.page.reload()

    scene.ready(scene.page)
    expect(scene.chips()).to_have_count(2)
    scene.page.get_by_role("button", name="Take back").click()
    expect(scene.chips()).to_have_text(["“𠀀”"])
    scene.page.keyboard.press("2")
    scene.shows("B")
    assert scene.quoted() == ["𠀀"]
    scene.page.reload()
    expect(scene.page.locator("#spoken")).to_contain_text("Document 2 of 2")
    expect(scene.chips()).to_have_count(0)


def test_an_undone_grade_keeps_its_marks(scene):
    for key in ("e", "Enter", "w", "1", "2"):
        scene.page.keyboard.press(key)
    scene.shows("B")
    scene.page.keyboard.press("z")

    scene.shows("A")
    expect(scene.chips()).to_have_count(2)
    scene.page.keyboard.press("0")
    scene.shows("B")
    assert (scene.saved().relevance, scene.quoted()) == (0, ["𠀀"])


@pytest.mark.parametrize("reloads", [False, True], ids=["at once", "after a reload"])
def test_undoing_a_mark_shows_the_answer_before_it_without_the_mark(scene, reloads):
    page = scene.page
    page.keyboard.press("2")
    scene.shows("B")
    page.keyboard.press("ArrowLeft")
    scene.shows("A")
    for key in ("e", "Enter", "Escape"):
        page.keyboard.press(key)
    expect(scene.chips()).to_have_text(["“𠀀”"])
    assert scene.quoted() == ["𠀀"]
    if reloads:
        page.reload()
        scene.ready(page)

    page.keyboard.press("z")

    expect(scene.chips()).to_have_count(0)
    expect(page.locator("#save-line[data-unsaved]")).to_have_count(0)
    saved(page, "Taken back")
    judgment = Judgment.objects.current().get()
    assert (judgment.relevance, judgment.evidence) == (2, [])


def test_arabic_is_marked_from_right_to_left(live_server, new_person):
    scene = Scene(new_person, text=ARABIC)
    scene.page.keyboard.press("e")
    expect(scene.page.locator("[data-evidence-spoken]")).to_have_text("تعمل")
    scene.page.keyboard.press("ArrowLeft")
    scene.page.keyboard.press("Shift+ArrowLeft")
    scene.page.keyboard.press("Enter")

    scene.page.keyboard.press("1")
    scene.shows("B")
    assert scene.quoted() == ["المحطة بالمد"]


def test_a_carriage_return_before_the_passage_counts(live_server, new_person):
    scene = Scene(new_person, text="One line.\r\nAnother\rone. Three.")
    for key in ("e", "ArrowDown", "ArrowDown", "ArrowDown", "Enter", "1"):
        scene.page.keyboard.press(key)

    scene.shows("B")
    assert scene.quoted() == ["Three"]


def test_the_settling_page_shows_the_passages_in_the_document(scene, new_person):
    narrative = factories.altered(scene.pair)
    for name, relevance, start in (("ben", 0, 20), ("fay", 2, 4)):
        factories.judgment(
            narrative,
            scene.first,
            factories.member(scene.project, name),
            relevance,
            evidence=[{"start": start, "end": start + 4}],
        )
    factories.lead(scene.project, "carla")
    page = new_person("carla")
    page.goto(f"/narratives/{narrative.pk}/candidates/{scene.first.pk}/disagreement/")

    # The order of people is random.
    for passage in ("tide", "At L"):
        expect(page.locator("blockquote", has_text=passage)).to_have_count(1)
    holds(page, "CSS.highlights.has('evidence')")
    assert sorted(page.evaluate(PAINTED)) == ["At L", "tide"]


def test_a_clause_of_the_narrative_is_chosen_by_its_number(scene):
    scene.page.keyboard.press("w")
    scene.page.keyboard.press("2")
    expect(scene.chips()).to_have_text(["Clause 2: “but not mills.”"])

    scene.page.keyboard.press("0")
    scene.shows("B")
    assert scene.saved().clauses == [{"start": 26, "end": 40}]
    assert scene.saved().relevance == 0


def test_a_clause_is_chosen_by_the_place_of_its_digit_where_the_layout_has_other_signs(scene):
    scene.page.keyboard.press("w")
    press_typed(scene.page, "é", "Digit2")

    expect(scene.chips()).to_have_text(["Clause 2: “but not mills.”"])
    assert not Judgment.objects.exists()


def test_clauses_are_chosen_by_arrows_and_by_click(scene):
    scene.page.keyboard.press("w")
    scene.page.keyboard.press("ArrowDown")
    scene.page.keyboard.press("ArrowDown")
    scene.page.keyboard.press("Enter")
    expect(scene.chips()).to_have_text(["Clause 3: “Plans do not.”"])

    scene.page.keyboard.press("w")
    scene.page.locator("[data-narrative] [data-clause='1']").click()
    expect(scene.chips()).to_have_count(2)
    scene.page.keyboard.press("1")
    scene.shows("B")
    assert scene.saved().clauses == [{"start": 0, "end": 25}, {"start": 41, "end": 54}]


def test_a_grade_that_needs_a_passage_is_refused_until_one_is_marked(live_server, new_person):
    scene = Scene(new_person, evidence_rule=Project.EvidenceRule.DOCUMENT)
    scene.page.keyboard.press("0")

    expect(scene.page.locator("[data-notices]")).to_contain_text("needs the passage that decided")
    scene.shows("A")
    scene.page.keyboard.press("Enter")
    expect(scene.chips()).to_have_text(["“𠀀”"])
    scene.page.keyboard.press("0")

    scene.shows("B")
    assert scene.quoted() == ["𠀀"]


def test_a_grade_that_changes_nothing_needs_no_passage(live_server, new_person):
    scene = Scene(new_person, evidence_rule=Project.EvidenceRule.DOCUMENT)
    scene.page.keyboard.press("1")

    scene.shows("B")
    assert scene.saved().evidence == []


def test_a_grade_that_needs_a_clause_is_refused_until_one_is_chosen(live_server, new_person):
    scene = Scene(new_person, evidence_rule=Project.EvidenceRule.NARRATIVE)
    scene.page.keyboard.press("0")

    expect(scene.page.locator("[data-notices]")).to_contain_text("needs the clause")
    scene.page.keyboard.press("1")
    scene.page.keyboard.press("0")

    scene.shows("B")
    assert len(scene.saved().clauses) == 1


def test_a_note_can_replace_the_passage_in_a_table(live_server, new_person):
    table = "<table><tr><th>Plant</th></tr><tr><td>La Rance</td></tr></table>"
    scene = Scene(
        new_person,
        text=table,
        markup=Document.Markup.HTML,
        evidence_rule=Project.EvidenceRule.DOCUMENT,
    )
    scene.page.keyboard.press("0")
    expect(scene.page.locator("[data-notices]")).to_contain_text("Mark a cell of the table")

    scene.page.keyboard.press("n")
    scene.page.keyboard.type("Row 1, Plant")
    scene.page.keyboard.press("Escape")
    scene.page.keyboard.press("0")

    scene.shows("B")
    assert (scene.saved().evidence, scene.saved().note) == ([], "Row 1, Plant")


def test_cells_of_a_table_are_marked_by_click_and_by_keys(live_server, new_person):
    table = (
        "<table><tr><th>Plant</th><th>MW</th></tr><tr><td>La Rance</td><td>240</td></tr></table>"
    )
    scene = Scene(new_person, text=table, markup=Document.Markup.HTML)
    scene.page.keyboard.press("e")
    scene.page.get_by_role("cell", name="240").click()
    expect(scene.chips()).to_have_text(["“240”"])
    scene.page.keyboard.press("e")
    scene.page.keyboard.press("ArrowLeft")
    scene.page.keyboard.press("Enter")
    expect(scene.page.locator("[data-evidence-cell]")).to_have_text(["La Rance", "240"])
    scene.page.keyboard.press("1")

    scene.shows("B")
    assert scene.quoted() == ["La Rance", "240"]
    scene.open()
    expect(scene.page.locator("[data-evidence-cell]")).to_have_text(["La Rance", "240"])


def test_one_key_marks_and_unmarks_the_sentence_under_the_pointer(scene):
    scene.page.mouse.move(*scene.at("mill"))
    scene.page.keyboard.press("t")
    expect(scene.chips()).to_have_text(["“A mill stands on a river.”"])
    scene.page.keyboard.press("t")
    expect(scene.chips()).to_have_count(0)
    scene.page.keyboard.press("t")
    scene.page.keyboard.press("1")

    scene.shows("B")
    assert scene.quoted() == ["A mill stands on a river."]


def test_no_button_moves_when_something_was_marked(scene):
    grade = scene.page.get_by_role("button", name="Highly relevant")
    before = [grade.bounding_box(), scene.page.locator(".judge__bar").bounding_box()]

    for word in ("tide", "turbines", "river", "counts"):
        scene.page.mouse.move(*scene.at(word))
        scene.page.keyboard.press("t")

    expect(scene.chips()).to_have_count(2)
    assert [grade.bounding_box(), scene.page.locator(".judge__bar").bounding_box()] == before


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_marking_can_be_used_by_everybody(scene, new_person, accessibility, scheme):
    page = new_person("ada", color_scheme=scheme)
    page.goto(f"/pairs/{scene.pair.pk}/candidates/{scene.first.pk}/")
    scene.ready(page)
    page.keyboard.press("e")
    page.keyboard.press("Enter")
    page.keyboard.press("w")
    page.keyboard.press("1")
    page.keyboard.press("w")
    expect(page.locator(".mark-chip")).to_have_count(2)

    assert accessibility(page) == []
