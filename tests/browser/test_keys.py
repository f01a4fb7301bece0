"""A key presses the button that shows it, and only where it should."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from annotate.models import Assignment, Flag, Judgment, Preferences, User
from tests import factories
from tests.browser.waiting import saved, until

# Sends a key event as an input method or a held-down key does.
SEND = """([key, more]) => document.body.dispatchEvent(
    new KeyboardEvent("keydown", {key, bubbles: true, cancelable: true, ...more})
)"""


@pytest.fixture
def judging(live_server, new_person):
    """ada's page with the first of three documents."""
    project = factories.project()
    ada = factories.member(project, "ada")
    query = factories.query(project)
    pair = factories.pair(query)
    for number in range(3):
        factories.candidate(query, f"D{number}", title=f"Report {number}")
    Assignment.objects.create(pair=pair, task=Assignment.Task.JUDGE, seat=1, member=ada)
    page = new_person("ada")
    page.goto(f"/pairs/{pair.pk}/judging/")
    return page


def judged() -> list[int]:
    return list(Judgment.objects.current().order_by("pk").values_list("relevance", flat=True))


def test_a_key_judges_and_the_next_document_comes(judging):
    first = judging.locator(".document h2").text_content()

    judging.keyboard.press("2")

    saved(judging)
    expect(judging.locator(".document h2")).not_to_have_text(first)
    assert judged() == [2]


def test_keys_typed_into_a_text_field_are_text(judging):
    judging.keyboard.press("n")
    judging.keyboard.type("2 of 10 z")

    expect(judging.get_by_label("Note", exact=True)).to_have_value("2 of 10 z")
    assert judged() == []


def test_keys_judge_again_after_escape_and_send_the_note(judging):
    judging.keyboard.press("n")
    judging.keyboard.type("seen before")
    judging.keyboard.press("Escape")
    judging.keyboard.press("1")

    saved(judging)
    assert Judgment.objects.get().note == "seen before"


@pytest.fixture
def settling(live_server, new_person):
    """carla's page of a document that ada and ben judged differently."""
    project = factories.project()
    query = factories.query(project)
    narrative = factories.altered(factories.pair(query))
    candidate = factories.candidate(query, "D0")
    for name, grade in (("ada", 0), ("ben", 2)):
        factories.judgment(narrative, candidate, factories.member(project, name), grade)
    factories.lead(project, "carla")
    page = new_person("carla")
    page.goto(f"/narratives/{narrative.pk}/candidates/{candidate.pk}/disagreement/")
    return page


def test_escape_leaves_a_text_box_and_the_keys_answer_again(settling):
    because = settling.locator("#note")
    settling.keyboard.press("n")
    settling.keyboard.type("2 of 10")
    expect(because).to_have_value("2 of 10")

    settling.keyboard.press("Escape")
    settling.keyboard.press("2")

    expect(because).not_to_be_focused()
    expect(because).to_have_value("2 of 10")
    expect(settling.locator("[data-notices]")).to_contain_text("Say why they differ")


def test_control_and_enter_send_the_form_that_the_words_are_in(judging):
    judging.keyboard.press("c")
    judging.keyboard.type("The page is empty")
    judging.keyboard.press("Control+Enter")

    until(judging, Flag.objects.exists, "the flag")
    flag = Flag.objects.get()
    assert (flag.flag, flag.note) == ("cannot_judge", "The page is empty")


def test_control_and_enter_in_a_note_send_nothing(judging):
    judging.keyboard.press("n")
    judging.keyboard.type("seen before")
    judging.keyboard.press("Control+Enter")
    judging.keyboard.press("Escape")

    expect(judging.locator("#save-line")).to_be_empty()
    assert judged() == []


@pytest.mark.parametrize("modifier", ["ctrlKey", "altKey", "metaKey"])
def test_a_key_with_a_modifier_is_left_to_the_browser(judging, modifier):
    judging.evaluate(SEND, ["2", {modifier: True}])

    expect(judging.locator("#save-line")).to_be_empty()
    assert judged() == []


def test_an_arrow_with_shift_selects_and_does_not_go_on(judging):
    heading = judging.locator("#document-view h2")
    heading.dblclick(position={"x": 4, "y": 8})
    before = judging.evaluate("getSelection().toString()")
    title = heading.inner_text()

    judging.keyboard.press("Shift+ArrowRight")

    assert judging.evaluate("getSelection().toString()") != before
    expect(heading).to_have_text(title)


def test_a_key_of_an_input_method_is_ignored(judging):
    judging.evaluate(SEND, ["2", {"isComposing": True}])

    expect(judging.locator("#save-line")).to_be_empty()
    assert judged() == []


def test_a_key_held_down_judges_one_document(judging):
    judging.evaluate(SEND, ["2", {}])
    for _ in range(5):
        judging.evaluate(SEND, ["2", {"repeat": True}])

    saved(judging)
    assert judged() == [2]


def test_a_digit_is_a_digit_where_the_layout_has_other_signs_on_its_row(judging):
    judging.evaluate(SEND, ["é", {"code": "Digit2"}])

    saved(judging)
    assert judged() == [2]


def test_a_letter_is_the_same_key_with_caps_lock(judging):
    judging.keyboard.press("2")
    saved(judging)

    judging.evaluate(SEND, ["Z", {"code": "KeyZ", "modifierCapsLock": True}])

    saved(judging, "Taken back")
    assert judged() == []


# What a key of Latin letters types on other layouts, and its place.
LAYOUTS = {
    "Russian": {
        "l": ("д", "KeyL"),
        "z": ("я", "KeyZ"),
        "n": ("т", "KeyN"),
        "p": ("з", "KeyP"),
        "q": ("й", "KeyQ"),
    },
    "Greek": {
        "l": ("λ", "KeyL"),
        "z": ("ζ", "KeyZ"),
        "n": ("ν", "KeyN"),
        "p": ("π", "KeyP"),
        "q": (";", "KeyQ"),
    },
    "Arabic": {
        "l": ("م", "KeyL"),
        "z": ("ئ", "KeyZ"),
        "n": ("ى", "KeyN"),
        "p": ("ح", "KeyP"),
        "q": ("ض", "KeyQ"),
    },
    "Hebrew": {
        "l": ("ך", "KeyL"),
        "z": ("ז", "KeyZ"),
        "n": ("מ", "KeyN"),
        "p": ("פ", "KeyP"),
        "q": ("/", "KeyQ"),
    },
}
layouts = pytest.mark.parametrize("layout", LAYOUTS)


def press_typed(page, key, code):
    """Press the key at a place as on a layout on which it types `key`."""
    keyboard = page.context.new_cdp_session(page)
    about = {"key": key, "code": code, "text": key, "unmodifiedText": key}
    keyboard.send("Input.dispatchKeyEvent", {"type": "keyDown", **about})
    keyboard.send("Input.dispatchKeyEvent", {"type": "keyUp", "key": key, "code": code})
    keyboard.detach()


def press_on(page, layout, key):
    """Press the key of a Latin letter on another layout."""
    press_typed(page, *LAYOUTS[layout][key])


@layouts
def test_letters_work_by_their_place_on_a_layout_without_latin_letters(judging, layout):
    heading = judging.locator(".document h2")
    first = heading.text_content()
    press_on(judging, layout, "l")
    expect(heading).not_to_have_text(first)
    judging.keyboard.press("2")
    saved(judging)

    press_on(judging, layout, "z")

    saved(judging, "Taken back")
    assert judged() == []


@layouts
def test_letters_of_any_layout_are_text_in_a_note(judging, layout):
    press_on(judging, layout, "n")
    press_on(judging, layout, "z")
    judging.keyboard.press("Escape")
    judging.keyboard.press("1")

    saved(judging)
    assert Judgment.objects.get().note == LAYOUTS[layout]["z"][0]


@layouts
def test_the_settling_page_has_letters_by_place_too(settling, layout):
    press_on(settling, layout, "p")

    expect(settling.get_by_label("Ambiguous text")).to_be_checked()


def test_a_list_is_paged_by_the_places_of_brackets_where_the_layout_has_letters(
    settling, monkeypatch
):
    monkeypatch.setattr("audit.settling.views.pages.PAGE_SIZE", 1)
    first = Judgment.objects.earliest("pk")
    other = factories.candidate(first.candidate.query, "D1")
    for name, grade in (("ada", 0), ("ben", 1)):
        annotator = first.annotator.project.memberships.get(name=name)
        factories.judgment(first.narrative, other, annotator, grade)
    settling.goto(f"/projects/{first.annotator.project.slug}/disagreements/")

    with settling.expect_navigation():
        press_typed(settling, "ъ", "BracketRight")

    assert "after=" in settling.url


@pytest.mark.parametrize(
    ("key", "code"), [("y", "KeyZ"), (",", "KeyM"), ("'", "KeyQ"), (";", "KeyZ"), ("ñ", "KeyL")]
)
def test_a_layout_with_latin_letters_has_no_keys_by_place(judging, key, code):
    judging.keyboard.press("2")
    saved(judging)

    press_typed(judging, key, code)
    judging.keyboard.press("1")

    until(judging, lambda: sorted(judged()) == [1, 2], "the second grade is not saved")


def test_the_arabic_question_mark_lists_the_keys(judging):
    press_typed(judging, "؟", "Slash")

    expect(judging.locator("[data-key-help]")).to_be_visible()


def test_a_chosen_key_replaces_the_default_one(judging):
    Preferences.objects.create(user=User.objects.get(username="ada"), keys={"undo": "u"})
    judging.reload()
    judging.keyboard.press("2")
    saved(judging)
    judging.keyboard.press("z")
    expect(judging.get_by_role("button", name="Undo").locator("kbd")).to_have_text("u")

    judging.keyboard.press("u")

    saved(judging, "Taken back")
    assert judged() == []


def test_keys_do_nothing_under_an_open_dialog(judging):
    judging.keyboard.press("?")
    judging.keyboard.press("2")

    expect(judging.get_by_role("dialog")).to_be_visible()
    assert judged() == []


def test_the_help_lists_the_keys_in_groups_and_the_grades_first(judging):
    keys = judging.locator("[data-key]").evaluate_all(
        "elements => elements.filter(e => !e.closest('dialog') && e.checkVisibility())"
        ".map(e => e.dataset.key)"
    )

    judging.keyboard.press("?")

    expect(judging.locator("[data-key-help]")).to_be_visible()
    shown = judging.locator(".keymap dt").all_text_contents()
    assert set(shown) == {{"ArrowLeft": "←", "ArrowRight": "→"}.get(key, key) for key in keys} | {
        "Esc"
    }
    groups = judging.locator("[data-key-groups] h4").all_text_contents()
    assert groups[0] == "Grades"
    assert "Evidence" in groups


def test_the_help_leaves_out_the_keys_that_do_nothing_now(judging):
    judging.locator(".judge__asked").evaluate("element => { element.inert = true }")

    judging.keyboard.press("?")

    expect(judging.locator("[data-key-help]")).to_be_visible()
    assert "f" not in judging.locator(".keymap dt").all_text_contents()
