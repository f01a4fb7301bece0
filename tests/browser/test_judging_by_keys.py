"""Judging by keys alone: one key per grade, undo, flags, notes, and no key works while typing."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, Request, expect

from annotate.judging import judging_session
from annotate.judging.actions import judge
from annotate.judgments import assignments
from annotate.models import Assignment, Flag, Judgment
from tests import factories
from tests.browser.waiting import saved, shows, until

ANYTHING = re.compile("")


@pytest.fixture
def scene(live_server, new_person):
    class Scene:
        def __init__(self) -> None:
            project = factories.project("tides")
            self.query = factories.query(project)
            for doc_id in "ABC":
                factories.candidate(self.query, doc_id)
            self.pair = factories.pair(self.query)
            self.ada = factories.member(project, "ada")
            assignments.take(pair=self.pair, task=Assignment.Task.JUDGE, by=self.ada)
            self.page: Page = new_person("ada")
            self.page.goto(f"/pairs/{self.pair.pk}/judging/")

        def order(self) -> list[str]:
            found = judging_session.read_judging_session(
                narrative=factories.altered(self.pair), by=self.ada
            ).order
            ids = dict(self.query.candidates.values_list("pk", "document__doc_id"))
            return [ids[pk] for pk in found]

        def current(self) -> dict[str, int]:
            rows = Judgment.objects.current()
            return dict(rows.values_list("candidate__document__doc_id", "relevance"))

        def wait_for_judgments(self, judged: dict[str, int]) -> None:
            """Wait until the judgments are saved: the next document is shown before that."""
            until(self.page, lambda: self.current() == judged, f"{judged} to be saved")

    return Scene()


def test_one_key_grades_saves_and_brings_the_next_document(scene):
    first, second, _ = scene.order()
    shows(scene.page, first)

    scene.page.keyboard.press("2")

    shows(scene.page, second)
    saved(scene.page)
    assert scene.current() == {first: 2}
    judgment = Judgment.objects.get()
    assert (judgment.pressed, judgment.made_at is not None) == ("key", True)


@pytest.mark.parametrize("width", [1280, 1000, 800])
def test_the_bar_is_as_high_on_a_document_judged_long_ago(scene, width):
    first, *_ = scene.order()
    scene.page.set_viewport_size({"width": width, "height": 800})
    bar = scene.page.locator(".judge__bar")
    before = bar.bounding_box()
    scene.page.keyboard.press("0")
    scene.wait_for_judgments({first: 0})
    # The page knows that it is saved, and does not send it again.
    expect(scene.page.locator("#save-line")).to_contain_text("Saved")
    Judgment.objects.update(at="2025-10-05T15:11:00Z", made_at="2025-10-05T15:11:00Z")

    candidate = scene.query.candidates.get(document__doc_id=first)
    scene.page.goto(f"/pairs/{scene.pair.pk}/candidates/{candidate.pk}/")

    expect(scene.page.locator("#save-line")).to_contain_text("Saved 5 Oct 2025")
    assert bar.bounding_box() == before


def test_a_click_is_recorded_as_a_click(scene):
    first, second, _ = scene.order()

    scene.page.get_by_role("button", name="Not relevant").click()

    shows(scene.page, second)
    scene.wait_for_judgments({first: 0})
    assert Judgment.objects.get().pressed == "click"


def test_a_double_click_grades_one_document(scene):
    first, second, _ = scene.order()

    scene.page.get_by_role("button", name="Not relevant").dblclick()

    shows(scene.page, second)
    scene.page.keyboard.press("n")
    scene.page.keyboard.type("still here")
    shows(scene.page, second)
    scene.wait_for_judgments({first: 0})


def test_a_space_in_words_typed_during_an_action_presses_no_button(scene):
    first, second, _ = scene.order()
    grade = scene.page.get_by_role("button", name="Not relevant")
    grade.click()
    shows(scene.page, second)
    scene.wait_for_judgments({first: 0})

    scene.page.evaluate("document.body.dataset.keysWait = ''")
    grade.focus()
    scene.page.keyboard.press("n")
    scene.page.keyboard.type("still here")
    scene.page.evaluate("delete document.body.dataset.keysWait")

    expect(scene.page.get_by_role("textbox", name="Note")).to_have_value("still here")
    shows(scene.page, second)
    assert scene.current() == {first: 0}


def test_a_key_pressed_twice_quickly_grades_two_documents(scene):
    first, second, third = scene.order()
    # Wait until the next document is loaded; before that, a second key would wait for it.
    scene.page.wait_for_load_state("networkidle")

    scene.page.keyboard.press("2")
    scene.page.keyboard.press("2")

    shows(scene.page, third)
    scene.wait_for_judgments({first: 2, second: 2})


def test_z_undoes_the_last_judgment_and_shows_its_document(scene):
    first, second, _ = scene.order()
    scene.page.keyboard.press("2")
    shows(scene.page, second)

    scene.page.keyboard.press("z")

    shows(scene.page, first)
    saved(scene.page, "Taken back")
    assert scene.current() == {}
    assert Judgment.objects.count() == 1


def test_z_undoes_repeatedly_also_answers_from_before_the_page_was_loaded(scene):
    first, second, third = scene.order()
    for key, after in (("2", second), ("l", third)):
        scene.page.keyboard.press(key)
        shows(scene.page, after)
    saved(scene.page)
    until(scene.page, Flag.objects.current().exists, "the flag")
    scene.page.reload()
    shows(scene.page, third)
    scene.page.keyboard.press("0")
    scene.wait_for_judgments({first: 2, third: 0})

    for back in (third, second, first):
        scene.page.keyboard.press("z")
        shows(scene.page, back)

    scene.wait_for_judgments({})
    assert not Flag.objects.current().exists()
    expect(scene.page.get_by_role("button", name="Undo")).to_be_disabled()


def test_undoing_a_judgment_restores_the_one_it_replaced(scene):
    first, second, _ = scene.order()
    for key in "12":
        scene.page.keyboard.press(key)
        shows(scene.page, second)
        scene.wait_for_judgments({first: int(key)})
        scene.page.keyboard.press("ArrowLeft")
        shows(scene.page, first)
    scene.page.reload()
    expect(scene.page.locator("#grade-2")).to_have_attribute("aria-pressed", "true")

    scene.page.keyboard.press("z")

    scene.wait_for_judgments({first: 1})
    expect(scene.page.locator("#grade-1")).to_have_attribute("aria-pressed", "true")
    expect(scene.page.locator("#judge-progress")).to_have_text("1 of 3")


def test_undoing_restores_the_note_of_the_judgment_that_counts_again(scene):
    first, *_ = scene.order()
    candidate = scene.query.candidates.get(document__doc_id=first)
    for relevance, note in ((1, "Only the summary."), (2, "The table as well.")):
        judge(
            narrative=factories.altered(scene.pair),
            candidate=candidate,
            relevance=relevance,
            by=scene.ada,
            note=note,
        )
    scene.page.goto(f"/pairs/{scene.pair.pk}/candidates/{candidate.pk}/")
    expect(scene.page.locator("#note")).to_have_value("The table as well.")

    scene.page.keyboard.press("z")

    scene.wait_for_judgments({first: 1})
    expect(scene.page.locator("#grade-1")).to_have_attribute("aria-pressed", "true")
    expect(scene.page.locator("#note")).to_have_value("Only the summary.")
    expect(scene.page.locator("#save-line")).not_to_have_attribute("data-unsaved", ANYTHING)


def test_arrows_move_without_grading(scene):
    first, second, _ = scene.order()

    scene.page.keyboard.press("ArrowRight")
    shows(scene.page, second)
    scene.page.keyboard.press("ArrowLeft")
    shows(scene.page, first)

    assert scene.current() == {}


def test_a_key_pressed_in_a_text_field_types_a_letter(scene):
    first = scene.order()[0]
    scene.page.keyboard.press("n")
    note = scene.page.get_by_label("Note")
    note.press_sequentially("2 z")

    expect(note).to_have_value("2 z")
    shows(scene.page, first)
    assert scene.current() == {}


def test_the_note_goes_with_the_grade(scene):
    scene.page.keyboard.press("n")
    scene.page.get_by_label("Note").fill("see the second paragraph")
    scene.page.keyboard.press("Escape")
    scene.page.locator("#grade-1").click()
    shows(scene.page, scene.order()[1])

    until(scene.page, Judgment.objects.exists, "the judgment")
    assert Judgment.objects.get().note == "see the second paragraph"


def test_a_note_begun_outlives_a_tab_that_crashes(scene):
    first, _, _ = scene.order()
    scene.page.keyboard.press("n")
    scene.page.keyboard.type("A figure for 2019.")
    expect(scene.page.locator("#note")).to_have_value("A figure for 2019.")

    # A crash sends the page no event: only what is stored by now is there afterwards.
    stored = scene.page.evaluate("JSON.stringify(Object.entries(localStorage))")

    assert "A figure for 2019." in stored
    assert str(scene.query.candidates.get(document__doc_id=first).pk) in stored


def test_a_note_begun_outlives_its_tab_beside_one_begun_in_another_tab(scene):
    first, second, _ = scene.order()
    address = scene.page.url
    other = scene.page.context.new_page()
    other.goto(address)
    shows(other, first)
    other.keyboard.press("ArrowRight")
    shows(other, second)
    other.keyboard.press("n")
    other.keyboard.type("Only for the north.")
    scene.page.keyboard.press("n")
    scene.page.keyboard.type("A figure for 2019.")
    scene.page.close()
    other.close()

    scene.page = scene.page.context.new_page()
    scene.page.goto(address)

    shows(scene.page, first)
    expect(scene.page.locator("#note")).to_have_value("A figure for 2019.")
    scene.page.keyboard.press("ArrowRight")
    shows(scene.page, second)
    expect(scene.page.locator("#note")).to_have_value("Only for the north.")


def test_the_words_of_a_flag_begun_are_there_after_a_reload_and_on_no_other_document(scene):
    first, second, _ = scene.order()
    scene.page.keyboard.press("c")
    scene.page.get_by_label("Why can’t you judge it?").press_sequentially("It is cut")
    scene.page.reload()
    shows(scene.page, first)
    scene.page.keyboard.press("c")
    expect(scene.page.locator("#flag-cannot_judge")).to_have_value("It is cut")
    expect(scene.page.locator("#flag-problem")).to_have_value("")

    scene.page.keyboard.press("Escape")
    scene.page.locator("#next").click()
    shows(scene.page, second)
    expect(scene.page.locator("#flag-cannot_judge")).to_have_value("")
    scene.page.locator("#previous").click()
    shows(scene.page, first)
    scene.page.keyboard.press("c")
    scene.page.keyboard.press("End")
    scene.page.get_by_label("Why can’t you judge it?").press_sequentially(" off.")
    scene.page.keyboard.press("Control+Enter")

    shows(scene.page, second)
    saved(scene.page)
    assert Flag.objects.get().note == "It is cut off."
    scene.page.locator("#previous").click()
    shows(scene.page, first)
    expect(scene.page.locator("#flag-cannot_judge")).to_have_value("")


def test_a_note_begun_is_there_after_a_reload_and_on_no_other_document(scene):
    first, second, _ = scene.order()
    scene.page.keyboard.press("n")
    scene.page.keyboard.type("A figure for 2019.")
    scene.page.keyboard.press("Escape")
    expect(scene.page.locator("#note")).to_have_value("A figure for 2019.")

    scene.page.reload()
    shows(scene.page, first)
    expect(scene.page.locator("#note")).to_have_value("A figure for 2019.")
    scene.page.keyboard.press("ArrowRight")
    shows(scene.page, second)
    expect(scene.page.locator("#note")).to_have_value("")
    scene.page.goto("/")
    scene.page.go_back()
    scene.page.keyboard.press("ArrowLeft")

    shows(scene.page, first)
    expect(scene.page.locator("#note")).to_have_value("A figure for 2019.")
    scene.page.keyboard.press("2")
    scene.wait_for_judgments({first: 2})
    assert Judgment.objects.get().note == "A figure for 2019."
    scene.page.reload()
    scene.page.keyboard.press("ArrowLeft")
    expect(scene.page.locator("#note")).to_have_value("A figure for 2019.")


def test_a_key_with_a_modifier_belongs_to_the_browser(scene):
    scene.page.keyboard.press("Control+1")
    scene.page.keyboard.press("Alt+2")

    shows(scene.page, scene.order()[0])
    assert scene.current() == {}


def test_later_brings_the_document_back_at_the_end(scene):
    first, second, third = scene.order()
    scene.page.keyboard.press("l")
    shows(scene.page, second)
    scene.page.keyboard.press("1")
    shows(scene.page, third)

    scene.page.keyboard.press("1")

    shows(scene.page, first)
    scene.wait_for_judgments({second: 1, third: 1})
    assert Flag.objects.current().get().flag == Flag.Kind.LATER


def test_a_problem_is_reported_in_words(scene):
    scene.page.keyboard.press("p")
    scene.page.get_by_label("What is wrong with this document?").fill("It is cut off.")
    scene.page.get_by_role("button", name="Report a problem", exact=True).click()
    shows(scene.page, scene.order()[1])

    until(scene.page, Flag.objects.exists, "the flag")
    assert Flag.objects.get().note == "It is cut off."


def test_the_question_mark_shows_the_keys(scene):
    scene.page.keyboard.press("2")
    shows(scene.page, scene.order()[1])

    scene.page.keyboard.press("?")

    help_page = scene.page.get_by_role("dialog")
    expect(help_page).to_contain_text("Take the last answer back")
    expect(help_page).to_contain_text("Highly relevant")


def test_the_address_follows_so_that_a_reload_loses_nothing(scene):
    first, second, _ = scene.order()
    scene.page.keyboard.press("2")
    shows(scene.page, second)

    scene.page.reload()

    shows(scene.page, second)
    scene.wait_for_judgments({first: 2})


def test_an_address_shows_its_document_even_if_it_was_just_judged(scene):
    first, second, _ = scene.order()
    shows(scene.page, first)
    address = scene.page.url
    scene.page.keyboard.press("2")
    shows(scene.page, second)

    scene.page.goto(address)

    expect(scene.page.locator("#spoken")).to_contain_text("Document 1 of 3")
    shows(scene.page, first)
    expect(scene.page.locator("[name=relevance][value='2']")).to_have_attribute(
        "aria-pressed", "true"
    )


def test_the_browsers_back_button_shows_the_previous_document(scene):
    first, second, _ = scene.order()
    scene.page.keyboard.press("2")
    shows(scene.page, second)

    scene.page.go_back()
    shows(scene.page, first)
    expect(scene.page.locator("#grade-2")).to_have_attribute("aria-pressed", "true")
    scene.page.go_forward()

    shows(scene.page, second)
    scene.wait_for_judgments({first: 2})


def test_the_end_lists_what_was_left_and_can_be_left_again(scene):
    first, second, third = scene.order()
    scene.page.keyboard.press("1")
    shows(scene.page, second)
    scene.page.keyboard.press("c")
    scene.page.keyboard.type("The page is empty")
    scene.page.keyboard.press("Control+Enter")
    shows(scene.page, third)

    scene.page.keyboard.press("0")

    expect(scene.page.get_by_role("heading", name="Query finished")).to_be_visible()
    sums = scene.page.locator(".finished__sums > li:visible")
    assert [" ".join(row.split()) for row in sums.all_inner_texts()][:4] == [
        "0 Not relevant 1",
        "1 Relevant 1",
        "2 Highly relevant 0",
        "Cannot judge 1 document 2",
    ]
    expect(scene.page.locator("#judge-progress")).to_have_text("3 of 3")
    scene.wait_for_judgments({first: 1, third: 0})
    scene.page.keyboard.press("1")
    scene.page.keyboard.press("ArrowLeft")
    shows(scene.page, third)
    assert scene.current() == {first: 1, third: 0}

    scene.page.keyboard.press("p")
    scene.page.keyboard.type("In two columns")
    scene.page.keyboard.press("Control+Enter")

    # Each kind of flag has its own row: a problem is not listed under "Cannot judge".
    expect(sums.filter(has_text="Problem")).to_contain_text("document 3")
    expect(sums.filter(has_text="Cannot judge")).to_contain_text("document 2")


def test_the_same_page_judges_without_javascript(scene, new_person):
    page = new_person("ada", java_script_enabled=False)
    first, second, _ = scene.order()
    page.goto(f"/pairs/{scene.pair.pk}/judging/")

    page.locator("#grade-2").click()

    shows(page, second)
    assert scene.current() == {first: 2}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_judge_page_can_be_used_by_everybody(scene, scheme, new_person, accessibility):
    page = new_person("ada", color_scheme=scheme)
    page.goto(f"/pairs/{scene.pair.pk}/judging/")

    assert accessibility(page) == []


def test_quick_key_presses_lose_nothing(live_server, new_person):
    project = factories.project("tides")
    query = factories.query(project)
    for number in range(20):
        factories.candidate(query, f"D{number:02}")
    pair = factories.pair(query)
    ada = factories.member(project, "ada")
    assignments.take(pair=pair, task=Assignment.Task.JUDGE, by=ada)
    page = new_person("ada")
    page.goto(f"/pairs/{pair.pk}/judging/")
    pressed: dict[str, int] = {}
    whole_pages: list[str] = []

    def note(request: Request) -> None:
        if request.is_navigation_request():
            whole_pages.append(request.url)

    page.on("request", note)

    for number in range(20):
        # Each key is pressed as soon as the next document is shown, faster than any person.
        key = page.locator("#document-view .document").get_attribute("data-document")
        pressed[key] = number % 3
        page.keyboard.press(str(number % 3))
        page.wait_for_function(
            "key => document.querySelector('#document-view .document')?.dataset.document !== key",
            arg=key,
        )

    until(page, lambda: Judgment.objects.current().count() == 20, "20 judgments")
    rows = Judgment.objects.current().values_list("candidate__document", "relevance")
    assert {str(document): relevance for document, relevance in rows} == pressed
    assert whole_pages == []


def test_judgments_from_a_file_cannot_be_undone(scene):
    first, second, _ = scene.order()
    page = scene.page
    narrative = factories.altered(scene.pair)
    loaded = scene.query.candidates.get(document__doc_id=first)
    factories.judgment(narrative, loaded, scene.ada, 1, source=Judgment.Source.FILE)
    page.goto(f"/pairs/{scene.pair.pk}/judging/")
    shows(page, second)
    expect(page.get_by_role("button", name="Undo")).to_be_disabled()
    page.keyboard.press("2")
    scene.wait_for_judgments({first: 1, second: 2})

    page.keyboard.press("z")
    scene.wait_for_judgments({first: 1})
    page.keyboard.press("z")

    shows(page, second)
    expect(page.get_by_role("button", name="Undo")).to_be_disabled()
    expect(page.locator("#judge-progress")).to_have_text("1 of 3")
