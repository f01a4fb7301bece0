"""The narrative pane: one marked text or two side by side, folding, and guidelines by a key."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from annotate.judgments import assignments
from annotate.models import Assignment, Guideline
from tests import factories

ORIGINAL = "Any plant counts. Old mills too."
ALTERED = "Any plant at sea counts. Old mills do not."


class Scene:
    """ada judges under a narrative that was changed, with two versions of the guidelines."""

    def __init__(self, new_person, original=ORIGINAL, altered=ALTERED) -> None:
        project = factories.project("tides")
        query = factories.query(project)
        for doc_id in "AB":
            factories.candidate(query, doc_id)
        self.pair = factories.pair(query, original=original, altered=altered)
        ada = factories.member(project, "ada")
        for version, text in enumerate(("Old rules.", "A doubtful document is a 0."), start=1):
            Guideline.objects.create(project=project, version=version, text=text, author=ada)
        assignments.take(pair=self.pair, task=Assignment.Task.JUDGE, by=ada)
        self.new_person = new_person
        self.page: Page = self.open()

    def open(self, **options) -> Page:
        page: Page = self.new_person("ada", **options)
        page.goto(f"/pairs/{self.pair.pk}/judging/")
        if options.get("java_script_enabled", True):
            expect(page.locator("#spoken")).to_contain_text("Document 1 of 2")
        return page


@pytest.fixture
def scene(live_server, new_person):
    return Scene(new_person)


def narrative(page: Page):
    return page.locator("[data-narrative]")


def original(page: Page):
    return page.locator("[data-asked-original] .narrative")


def test_the_change_is_marked_in_one_text(scene):
    expect(narrative(scene.page).locator("ins").first).to_have_text(" at sea")
    expect(narrative(scene.page).locator("del")).to_have_text("too")
    expect(original(scene.page)).to_be_hidden()


def test_a_key_sets_the_original_beside_the_altered_narrative_and_it_is_remembered(scene):
    scene.page.keyboard.press("o")

    expect(original(scene.page)).to_have_text(ORIGINAL)
    expect(original(scene.page).locator("del")).to_have_text("too")
    assert narrative(scene.page).inner_text() == ALTERED
    left, right = (each(scene.page).bounding_box() for each in (original, narrative))
    assert left["x"] + left["width"] <= right["x"]
    scene.page.reload()
    expect(original(scene.page)).to_be_visible()
    scene.page.keyboard.press("o")
    expect(original(scene.page)).to_be_hidden()


def test_texts_side_by_side_are_not_struck_through(scene):
    scene.page.keyboard.press("o")

    lines = "element => getComputedStyle(element).textDecorationLine"
    assert original(scene.page).locator("del").evaluate(lines) == "underline"
    expect(narrative(scene.page).locator("del")).to_be_hidden()


def test_the_narrative_can_be_read_clean_and_is_clean_again_after_a_reload(scene):
    scene.page.get_by_role("button", name="Clean").click()

    assert narrative(scene.page).inner_text() == ALTERED
    scene.page.reload()
    expect(scene.page.get_by_role("button", name="Clean")).to_have_attribute("aria-pressed", "true")
    lines = "element => getComputedStyle(element).textDecorationLine"
    assert narrative(scene.page).locator("ins").first.evaluate(lines) == "none"
    scene.page.keyboard.press("o")
    changes = scene.page.get_by_role("button", name="Changes")
    expect(changes).to_have_attribute("aria-pressed", "true")
    assert narrative(scene.page).locator("ins").first.evaluate(lines) == "underline"


def test_a_completely_new_narrative_has_no_marks_and_both_texts_can_be_read(
    live_server, new_person
):
    scene = Scene(new_person, altered="Turbines in rivers have to be named with their power.")
    assert narrative(scene.page).inner_text() == (
        "Turbines in rivers have to be named with their power."
    )

    expect(scene.page.get_by_text("version 1 · written anew")).to_be_visible()
    expect(scene.page.get_by_role("button", name="Changes")).to_have_count(0)
    side_by_side = scene.page.get_by_role("button", name="Side by side")
    expect(side_by_side).to_have_attribute("aria-pressed", "true")
    expect(original(scene.page)).to_be_visible()
    assert original(scene.page).inner_text() == ORIGINAL
    # Both begin at one height, though one heading is longer.
    tops = [each(scene.page).bounding_box()["y"] for each in (original, narrative)]
    assert tops[0] == tops[1]
    assert (
        original(scene.page)
        .locator("del")
        .evaluate("element => getComputedStyle(element).textDecorationLine")
        == "none"
    )


def test_a_key_folds_the_pane_away_and_the_document_has_the_width(scene):
    before = scene.page.locator(".judge__document").bounding_box()["width"]
    scene.page.keyboard.press("f")

    expect(narrative(scene.page)).to_be_hidden()
    assert scene.page.locator(".judge__document").bounding_box()["width"] > before + 200
    scene.page.reload()
    expect(narrative(scene.page)).to_be_hidden()
    scene.page.keyboard.press("f")
    expect(narrative(scene.page)).to_be_visible()


def test_the_keys_of_the_folded_pane_bring_it_back(scene):
    scene.page.keyboard.press("f")
    expect(narrative(scene.page)).to_be_hidden()
    scene.page.keyboard.press("w")

    expect(narrative(scene.page)).to_be_visible()


def test_a_key_opens_the_current_guidelines(scene):
    guidelines = scene.page.get_by_role("region", name="Guidelines")
    expect(guidelines).to_be_hidden()
    scene.page.keyboard.press("g")

    expect(guidelines).to_have_text("A doubtful document is a 0.")
    expect(scene.page.get_by_text("Guidelines, version 2")).to_be_visible()
    expect(narrative(scene.page)).to_be_visible()
    scene.page.keyboard.press("Escape")
    expect(guidelines).to_be_hidden()


def test_the_marked_text_and_the_guidelines_are_shown_without_a_script(scene):
    page = scene.open(java_script_enabled=False)

    expect(narrative(page).locator("ins").first).to_be_visible()
    page.get_by_text("Guidelines, version 2").click()
    expect(page.get_by_text("A doubtful document is a 0.")).to_be_visible()


@pytest.mark.parametrize("width", [800, 400])
def test_nothing_is_wider_than_a_narrow_window(scene, width):
    page = scene.open(viewport={"width": width, "height": 700})
    for keys in ((), ("o",), ("g",), ("f",)):
        for key in keys:
            page.keyboard.press(key)

        wide = page.evaluate("() => document.documentElement.scrollWidth - innerWidth")
        assert wide <= 0, keys


def test_a_narrative_of_100_000_words_is_read_and_its_last_clause_marked(live_server, new_person):
    sentences = [f"Plant number {number} in the sea counts here.\n" for number in range(12_500)]
    before = "".join(sentences)
    after = before.replace("number 12345 in the sea", "number 12345 in a river")
    scene = Scene(new_person, original=before, altered=after)

    expect(narrative(scene.page).locator("ins")).to_have_text("a river")
    narrative(scene.page).locator("ins").scroll_into_view_if_needed()
    expect(narrative(scene.page).locator("ins")).to_be_in_viewport()
    scene.page.keyboard.press("w")
    scene.page.locator("[data-clause='12500']").click()
    expect(scene.page.locator(".mark-chip__go")).to_contain_text("Plant number 12499")
    scene.page.keyboard.press("2")
    expect(scene.page.locator("#spoken")).to_contain_text("Document 2 of 2")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_pane_can_be_used_by_everybody(scene, accessibility, scheme):
    page = scene.open(color_scheme=scheme)
    for key in ("o", "g", "f"):
        page.keyboard.press(key)

        assert accessibility(page) == []
