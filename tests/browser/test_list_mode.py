"""List mode by keys alone; its answers show on the judge page, and the reverse."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from annotate.judging import judging_session
from annotate.judgments import assignments
from annotate.models import Assignment, Candidate, Flag, Judgment
from tests import factories
from tests.browser.waiting import listens, saved, shows, until


@pytest.fixture
def scene(live_server, new_person):
    class Scene:
        def __init__(self) -> None:
            self.project = factories.project("tides")
            self.query = factories.query(self.project)
            for doc_id in "ABCDE":
                factories.candidate(self.query, doc_id, text=f"The text of {doc_id}.")
            self.pair = factories.pair(self.query)
            self.ada = factories.member(self.project, "ada")
            assignments.take(pair=self.pair, task=Assignment.Task.JUDGE, by=self.ada)
            self.page: Page = new_person("ada")

        def open(self, address: str = "list/") -> Page:
            self.page.goto(f"/pairs/{self.pair.pk}/{address}")
            answers_keys(self.page)
            return self.page

        def order(self) -> list[str]:
            found = judging_session.read_judging_session(
                narrative=factories.altered(self.pair), by=self.ada
            ).order
            ids = dict(self.query.candidates.values_list("pk", "document__doc_id"))
            return [ids[pk] for pk in found]

        def current(self) -> dict[str, int]:
            rows = Judgment.objects.current()
            return dict(rows.values_list("candidate__document__doc_id", "relevance"))

    return Scene()


def key_of(doc_id: str) -> str:
    return str(Candidate.objects.get(document__doc_id=doc_id).pk)


def row(page: Page, doc_id: str):
    return page.locator(f"[data-row='{key_of(doc_id)}']")


def is_current(page: Page, doc_id: str) -> None:
    expect(page.locator("[data-current]").first).to_have_attribute("data-row", key_of(doc_id))


def answers_keys(page: Page) -> None:
    listens(page)


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def test_at_800_pixels_a_row_takes_two_lines_of_its_title_at_most(scene):
    scene.page.set_viewport_size({"width": 800, "height": 700})
    page = scene.open()
    press(page, "2", "p")
    page.get_by_label("What is wrong").fill("It is cut off.")
    page.keyboard.press("Control+Enter")
    saved(page)

    rows = page.locator("[data-row]").evaluate_all("rows => rows.map((row) => row.offsetHeight)")

    assert len(rows) == 5
    assert max(rows) < 60
    assert page.evaluate("document.documentElement.scrollWidth") <= 800


def test_one_key_per_row_judges_the_whole_list(scene):
    page = scene.open()

    press(page, "2", "0", "1", "2", "0")

    saved(page)
    expect(page.locator("#judge-progress .count")).to_have_text("5 of 5")
    expect(page.locator("[data-count='2']")).to_have_text("2")
    assert list(map(scene.current().get, scene.order())) == [2, 0, 1, 2, 0]


def test_a_filtered_list_to_which_the_browser_goes_back_answers_keys(scene):
    page = scene.open()
    page.get_by_role("link", name="Not yet judged").click()
    expect(page).to_have_url(re.compile(r"show=open$"))
    answers_keys(page)

    page.goto("/")
    page.go_back()
    answers_keys(page)
    page.keyboard.press("2")

    saved(page)
    expect(page.locator("#judge-progress .count")).to_have_text("1 of 5")


def test_the_rows_stand_in_columns_and_an_id_apart_from_its_title(live_server, scene):
    titled = factories.candidate(scene.query, "F", title="A title")
    # The id is shown once the person has answered.
    factories.judgment(factories.altered(scene.pair), titled, scene.ada, 1)
    page = scene.open()
    row(page, "B").get_by_role("button", name="0 Not relevant").click()
    row(page, "C").get_by_role("button", name="2 Highly relevant").click()

    # Rows are drawn again when the server responds.
    lefts = "marks => marks.map(mark => mark.getBoundingClientRect().left)"
    marks = page.locator(".listing__answer > *")
    expect(marks).to_have_count(3)
    until(page, lambda: len(set(marks.evaluate_all(lefts))) == 1, "the marks to stand in a column")
    ends = page.locator(".listing__name:has(.id)").evaluate(
        "name => [name.querySelector('bdi').getBoundingClientRect().right,"
        " name.querySelector('.id').getBoundingClientRect().left]"
    )
    assert ends[1] - ends[0] >= 4


def test_arrows_move_without_grading(scene):
    first, second, *_ = scene.order()
    page = scene.open()

    press(page, "ArrowDown")
    is_current(page, second)
    press(page, "ArrowUp")

    is_current(page, first)
    assert scene.current() == {}


def test_a_row_opens_in_place_and_the_next_one_opens_when_it_is_graded(scene):
    first, second, *_ = scene.order()
    page = scene.open()

    press(page, "x")
    expect(row(page, first).locator(".document__text")).to_have_text(f"The text of {first}.")
    press(page, "1")

    expect(row(page, second).locator(".document__text")).to_have_text(f"The text of {second}.")
    expect(row(page, first).locator(".document__text")).to_have_count(0)


def test_answers_of_the_list_show_on_the_judge_page_and_the_reverse(scene):
    first, second, third, *_ = scene.order()
    page = scene.open()

    press(page, "2", "v")
    shows(page, second)
    answers_keys(page)
    press(page, "0")
    shows(page, third)
    press(page, "v")

    is_current(page, third)
    expect(row(page, first).locator("[data-answer]")).to_contain_text("Highly relevant")
    expect(row(page, second).locator("[data-answer]")).to_contain_text("Not relevant")


def test_undo_returns_to_its_row_and_can_be_repeated(scene):
    first, second, third, *_ = scene.order()
    page = scene.open()
    press(page, "2", "1")
    is_current(page, third)

    press(page, "z")
    is_current(page, second)
    press(page, "z")

    is_current(page, first)
    expect(row(page, first).locator("[data-answer]")).to_be_empty()
    saved(page, "Taken back")
    assert scene.current() == {}


def test_undo_is_disabled_while_there_is_nothing_to_undo(scene):
    page = scene.open()
    undo = page.get_by_role("button", name="Undo")
    expect(undo).to_be_disabled()
    press(page, "2")
    expect(undo).to_be_enabled()
    press(page, "z")
    expect(undo).to_be_disabled()


def test_undo_restores_an_answer_from_before_the_page_was_opened(scene):
    first = scene.order()[0]
    page = scene.open()
    press(page, "2")
    saved(page)
    scene.open(f"list/?at={scene.query.candidates.get(document__doc_id=first).pk}")
    press(page, "0")
    expect(row(page, first).locator("[data-answer]")).to_contain_text("Not relevant")
    saved(page)

    scene.open()
    press(page, "z")

    expect(row(page, first).locator("[data-answer]")).to_contain_text("Highly relevant")
    assert scene.current() == {first: 2}


def test_later_and_a_problem_are_a_key_each(scene):
    first, second, third, *_ = scene.order()
    page = scene.open()

    press(page, "l", "p")
    page.get_by_label("What is wrong with this document?").fill("It is cut off.")
    press(page, "Control+Enter")

    is_current(page, third)
    expect(row(page, first).locator("[data-answer]")).to_contain_text("Later")
    expect(row(page, second).locator("[data-answer]")).to_contain_text("Problem")
    saved(page)
    flags = dict(Flag.objects.current().values_list("candidate__document__doc_id", "note"))
    assert flags == {first: "", second: "It is cut off."}


def test_a_grade_that_needs_evidence_opens_the_row_and_leads_to_the_page_of_the_document(scene):
    scene.project.evidence_rule = "document"
    scene.project.save()
    first = scene.order()[0]
    page = scene.open()

    press(page, "0")
    expect(row(page, first).get_by_role("alert")).to_contain_text("needs a marked passage")
    expect(row(page, first).locator(".document__text")).to_be_visible()
    press(page, "v")

    shows(page, first)
    assert scene.current() == {}


def test_the_same_grade_again_only_moves_on(scene):
    second = scene.order()[1]
    page = scene.open()
    press(page, "2")
    saved(page)

    press(page, "ArrowUp", "2")

    is_current(page, second)
    assert Judgment.objects.count() == 1


def test_judgments_made_offline_are_saved_when_the_network_is_back(scene, expected_complaints):
    expected_complaints.append("net::ERR_INTERNET_DISCONNECTED")
    first, second, *_ = scene.order()
    page = scene.open()
    page.context.set_offline(True)
    press(page, "2", "1")
    expect(page.locator("#save-line")).to_contain_text("2 waiting")
    expect(row(page, second).locator("[data-answer]")).to_contain_text("Relevant")

    page.context.set_offline(False)

    saved(page)
    assert scene.current() == {first: 2, second: 1}


def test_a_long_list_goes_on_part_by_part(scene):
    for number in range(120):
        factories.candidate(scene.query, f"M{number:03}")
    order = scene.order()
    page = scene.open()
    expect(page.get_by_text("1 to 100 of 125")).to_be_visible()

    press(page, "]")
    expect(page.get_by_text("101 to 125 of 125")).to_be_visible()
    is_current(page, order[100])
    press(page, "1", "ArrowUp", "ArrowUp")

    is_current(page, order[99])
    press(page, "0")
    is_current(page, order[100])
    expect(row(page, order[100]).locator("[data-answer]")).to_contain_text("Relevant")
    press(page, "z")
    is_current(page, order[99])
    saved_now = scene.current()
    assert saved_now.get(order[100]) == 1


def test_a_filter_shows_answers_just_given(scene):
    first, *_ = scene.order()
    page = scene.open()
    press(page, "2")
    saved(page)

    page.get_by_role("link", name="Highly relevant 1").click()

    expect(page.get_by_role("listitem").filter(has=page.locator("[data-answer]"))).to_have_count(1)
    is_current(page, first)


def test_the_question_mark_lists_the_keys_of_the_list(scene):
    page = scene.open()

    press(page, "?")

    keys = page.get_by_role("dialog")
    for words in ("Highly relevant", "Open the row", "One document at a time", "Next row"):
        expect(keys).to_contain_text(words)


def test_a_grade_returns_to_its_row_without_javascript(scene, new_person):
    first, *_ = scene.order()
    page = new_person("ada", java_script_enabled=False)
    page.goto(f"/pairs/{scene.pair.pk}/list/")

    row(page, first).get_by_role("button", name="2 Highly relevant").click()

    expect(row(page, first).locator("[data-answer]")).to_contain_text("Highly relevant")
    assert scene.current() == {first: 2}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_list_can_be_used_by_everybody(scene, scheme, new_person, accessibility):
    page = new_person("ada", color_scheme=scheme)
    page.goto(f"/pairs/{scene.pair.pk}/list/")
    answers_keys(page)
    press(page, "2", "l", "x")
    expect(page.locator(".document__text")).to_be_visible()

    assert accessibility(page) == []


def test_a_row_shows_a_judgment_from_another_tab_and_warns_before_replacing_it(scene):
    page = scene.open()
    first = scene.order()[0]
    other = page.context.new_page()
    other.goto(f"/pairs/{scene.pair.pk}/judging/")
    listens(other)

    other.keyboard.press("2")

    saved(other)
    expect(row(page, first).locator("[data-answer]")).to_contain_text("Highly relevant")
    expect(page.locator("#judge-progress .count")).to_have_text("1 of 5")
    is_current(page, first)
    page.keyboard.press("0")
    notice = "you gave this document: 2 Highly relevant. Press the key again to replace it."
    expect(page.locator("[data-notices]")).to_contain_text(notice)
    is_current(page, first)
    page.keyboard.press("0")
    expect(row(page, first).locator("[data-answer]")).to_contain_text("Not relevant")
    until(page, lambda: scene.current() == {first: 0}, "the last answer")
