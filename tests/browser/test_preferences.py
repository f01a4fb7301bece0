"""Personal settings: keys that then work on the judge page, a theme and a time zone."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from annotate.models import Assignment, Guideline, Judgment, Preferences
from tests import factories
from tests.browser.test_keys import press_typed
from tests.browser.waiting import saved


@pytest.fixture
def pair(live_server):
    """Three documents that wait for ada."""
    project = factories.project()
    ada = factories.member(project, "ada")
    query = factories.query(project)
    made = factories.pair(query)
    for number in range(3):
        factories.candidate(query, f"D{number}", title=f"Report {number}")
    Assignment.objects.create(pair=made, task=Assignment.Task.JUDGE, seat=1, member=ada)
    return made


def field(page, name):
    return page.get_by_role("textbox", name=name, exact=True)


def open_keys(page):
    page.goto("/settings/")
    if not page.locator("#save-keys").is_visible():
        page.get_by_text("Change keys").click()


def save(page):
    page.locator("#save-keys").click()


def test_a_pressed_key_becomes_the_actions_and_works_on_the_judge_page(new_person, pair):
    page = new_person("ada")
    open_keys(page)
    field(page, "Take the last answer back").focus()
    page.keyboard.press("Shift+U")
    expect(field(page, "Take the last answer back")).to_have_value("u")
    field(page, "Next document or criterion, without an answer").focus()
    page.keyboard.press("Space")
    save(page)
    expect(page.get_by_text("Saved.")).to_be_visible()
    assert Preferences.objects.get().keys == {"undo": "u", "next": "Space"}

    page.goto(f"/pairs/{pair.pk}/judging/")
    first = page.locator(".document h2").text_content()
    page.keyboard.press("Space")
    expect(page.locator(".document h2")).not_to_have_text(first)
    second = page.locator(".document h2").text_content()
    page.keyboard.press("2")
    saved(page)
    page.keyboard.press("z")
    with page.expect_response("**/api/v1/journal/"):
        page.keyboard.press("u")

    expect(page.locator(".document h2")).to_have_text(second)
    assert Judgment.objects.current().count() == 0


@pytest.mark.parametrize(
    ("typed", "code", "stored"),
    [("Г", "KeyU", "u"), ("θ", "KeyU", "u"), ("ذ", "Backquote", "`"), ("ו", "KeyU", "u")],
)
def test_a_layout_without_latin_letters_chooses_the_letter_at_the_place(
    new_person, pair, typed, code, stored
):
    page = new_person("ada")
    open_keys(page)
    field(page, "Take the last answer back").focus()
    press_typed(page, typed, code)
    expect(field(page, "Take the last answer back")).to_have_value(stored)
    save(page)
    expect(page.get_by_text("Saved.")).to_be_visible()
    assert Preferences.objects.get().keys == {"undo": stored}

    page.goto(f"/pairs/{pair.pk}/judging/")
    page.keyboard.press("2")
    saved(page)
    press_typed(page, typed.lower(), code)

    saved(page, "Taken back")
    assert Judgment.objects.current().count() == 0


def test_a_key_of_two_actions_is_reported_at_once_and_not_saved(new_person, pair):
    page = new_person("ada")
    open_keys(page)
    error = (
        "n is the key of two actions: “Take the last answer back” and "
        "“A note with the answer, or its reason”."
    )

    field(page, "Take the last answer back").focus()
    page.keyboard.press("n")

    expect(page.locator("[data-keymap-status]")).to_have_text(error)
    expect(page.locator(".errorlist", has_text=error)).to_have_count(2)
    save(page)
    expect(field(page, "Take the last answer back")).to_be_focused()
    assert not Preferences.objects.exists()

    field(page, "A note with the answer, or its reason").focus()
    page.keyboard.press("z")
    expect(page.locator(".errorlist", has_text=error)).to_have_count(0)
    save(page)
    expect(page.get_by_text("Saved.")).to_be_visible()
    assert Preferences.objects.get().keys == {"undo": "n", "note": "z"}


@pytest.mark.parametrize(
    ("key", "sentence"),
    [("5", "Digits give grades."), ("?", "? shows the keys."), ("l", "is the key of two")],
)
def test_an_impossible_key_is_reported_at_its_field(new_person, pair, key, sentence):
    page = new_person("ada")
    open_keys(page)

    field(page, "Take the last answer back").focus()
    page.keyboard.press(key)

    expect(page.locator("#wrong-undo")).to_contain_text(sentence)


def test_tab_enter_and_escape_stay_the_browsers(new_person, pair):
    page = new_person("ada")
    open_keys(page)

    field(page, "Take the last answer back").focus()
    page.keyboard.press("u")
    page.keyboard.press("Tab")
    expect(page.locator("button[value=undo]")).to_be_focused()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Enter")

    expect(page.get_by_text("Saved.")).to_be_visible()
    assert Preferences.objects.get().keys == {"undo": "u"}


def test_one_key_is_reset_and_then_all(new_person, pair):
    Preferences.objects.create(
        user=factories.user("ada"), keys={"undo": "u", "later": "y", "note": ";"}
    )
    page = new_person("ada")
    open_keys(page)

    page.locator("button[value=undo]").click()
    expect(field(page, "Take the last answer back")).to_have_value("z")
    save(page)
    expect(page.get_by_text("Saved.")).to_be_visible()
    assert Preferences.objects.get().keys == {"later": "y", "note": ";"}

    page.get_by_text("Reset all keys", exact=True).click()
    expect(page.get_by_text("2 keys were changed.")).to_be_visible()
    page.get_by_role("button", name="Yes, reset all keys").click()
    expect(page.get_by_text("Saved.")).to_be_visible()
    assert Preferences.objects.get().keys == {}


def test_without_script_a_key_is_typed_saved_and_put_back(new_person, pair):
    page = new_person("ada", java_script_enabled=False)
    open_keys(page)

    field(page, "Take the last answer back").fill("u")
    field(page, "Previous document or criterion").fill("up")
    page.keyboard.press("Enter")
    expect(page.locator("#wrong-previous")).to_contain_text("“up” is not a key")
    expect(field(page, "Take the last answer back")).to_have_value("u")
    field(page, "Previous document or criterion").fill("page up")
    save(page)
    expect(page.get_by_text("Saved.")).to_be_visible()
    assert Preferences.objects.get().keys == {"undo": "u", "previous": "PageUp"}

    page.locator("button[value=undo]").click()
    expect(page.get_by_text("Saved.")).to_be_visible()
    assert Preferences.objects.get().keys == {"previous": "PageUp"}


def test_a_theme_goes_along_to_another_browser(new_person, pair):
    page = new_person("ada", color_scheme="light")
    page.goto("/settings/")
    page.get_by_role("radio", name="Dark").check()
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("Saved.")).to_be_visible()

    elsewhere = new_person("ada", color_scheme="light")
    response = elsewhere.goto("/")

    assert 'data-theme="dark"' in response.text()
    assert elsewhere.evaluate("getComputedStyle(document.documentElement).colorScheme") == "dark"


def test_times_are_shown_in_the_chosen_zone_and_the_browsers_otherwise(new_person, pair):
    author = factories.member(pair.project, "ben")
    for version in (1, 2):
        Guideline.objects.create(
            project=pair.project, version=version, text="Read it whole.", author=author
        )
    Guideline.objects.update(created_at="2026-03-01T20:30:00Z")
    page = new_person("ada", timezone_id="America/New_York", locale="en-GB")

    def shown():
        page.goto("/projects/tides/guidelines/")
        return page.locator("td time").first.text_content()

    assert "15:30" in shown()

    page.goto("/settings/")
    zone = page.get_by_label("Time zone")
    zone.fill("Middle/Earth")
    expect(page.locator("[data-zone-now]")).to_have_text("(no such zone)")
    zone.fill("berlin")
    expect(page.locator("[data-zone-now]")).to_contain_text(":")
    zone.fill("Asia/Kolkata")
    expect(page.locator("[data-zone-now]")).to_contain_text(":")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("Saved.")).to_be_visible()

    assert "2 Mar 2026" in shown()
    assert "02:00" in shown()
