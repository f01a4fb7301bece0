"""Conditions are answered by keys, and Enter saves the relevance that follows from them."""

from __future__ import annotations

from itertools import product

import pytest
from playwright.sync_api import Page, expect

from annotate.judgments import assignments
from annotate.judgments.consensus import derive_relevance
from annotate.models import Assignment, Condition, Judgment, Project
from tests import factories
from tests.browser.waiting import saved, shows, until


class Scene:
    """ada judges two documents under a narrative with conditions."""

    def __init__(self, new_person, conditions=3, grades=(0, 1, 2), **rules) -> None:
        rules = {
            "judge_order": Project.Order.DOC_ID,
            "order_seed": 3,
            "condition_rule": Project.ConditionRule.ALL_MET,
            **rules,
        }
        self.project = factories.project("tides", grades=grades, **rules)
        query = factories.query(self.project)
        self.first, self.second = (factories.candidate(query, doc_id) for doc_id in "AB")
        self.pair = factories.pair(query)
        self.conditions = [
            Condition.objects.create(
                narrative=factories.altered(self.pair), number=number, text=f"Condition {number}"
            )
            for number in range(1, conditions + 1)
        ]
        ada = factories.member(self.project, "ada")
        assignments.take(pair=self.pair, task=Assignment.Task.JUDGE, by=ada)
        self.new_person = new_person
        self.page: Page = new_person("ada")
        self.open(self.page)

    def open(self, page: Page) -> None:
        page.goto(f"/pairs/{self.pair.pk}/candidates/{self.first.pk}/")
        expect(page.locator("#spoken")).to_contain_text("Document 1 of 2")

    def shows(self, doc_id: str) -> None:
        shows(self.page, doc_id)

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def following_grade(self):
        return self.page.locator(".grade-button:has(.follows)")

    def saved(self) -> Judgment:
        saved(self.page)
        return Judgment.objects.current().get()

    def answers(self) -> list[str]:
        rows = self.saved().verdicts.order_by("condition__number")
        return list(rows.values_list("answer", flat=True))


@pytest.fixture
def scene(live_server, new_person):
    return Scene(new_person)


def test_each_key_answers_its_condition_and_enter_saves_what_follows(scene):
    current = scene.page.locator(".verdict-row[data-current]")
    expect(current).to_contain_text("Condition 1")
    scene.press("a")
    expect(current).to_contain_text("Condition 2")
    scene.press("a", "a")

    expect(scene.following_grade()).to_contain_text("Highly relevant")
    scene.press("Enter")
    scene.shows("B")
    assert (scene.saved().relevance, scene.answers()) == (2, ["met", "met", "met"])


def test_the_name_of_the_grade_that_follows_stays_on_its_line(scene):
    name = scene.page.locator(".grade-button[value='2'] .name")
    before = name.bounding_box()
    scene.press("a", "a", "a")

    expect(scene.following_grade()).to_contain_text("Highly relevant")
    assert name.bounding_box()["height"] == before["height"]


def test_one_unmet_condition_gives_the_lowest_grade(scene):
    scene.press("a", "s", "d")

    expect(scene.following_grade()).to_contain_text("Not relevant")
    expect(scene.page.locator("[data-conditions-sum]")).to_have_text("1 of 3 met")
    scene.press("Enter")
    scene.shows("B")
    assert (scene.saved().relevance, scene.answers()) == (0, ["met", "not_met", "cant_tell"])


def test_a_grade_key_gives_the_grade_after_a_cannot_tell(scene):
    scene.press("a", "a", "d")
    expect(scene.following_grade()).to_have_count(0)
    scene.press("Enter")
    scene.shows("A")
    scene.press("1")

    scene.shows("B")
    assert (scene.saved().relevance, scene.saved().note) == (1, "")


def test_a_grade_that_does_not_follow_needs_a_note(scene):
    scene.press("a", "a", "a", "1")

    expect(scene.page.locator("[data-notices]")).to_contain_text("the grade is 2 Highly relevant")
    expect(scene.page.get_by_label("Note", exact=True)).to_be_focused()
    scene.page.keyboard.type("only in part")
    scene.press("Control+Enter")
    scene.shows("B")
    saved = scene.saved()
    assert (saved.relevance, saved.note, scene.answers()) == (1, "only in part", ["met"] * 3)


def test_a_grade_is_refused_while_conditions_are_open(scene):
    scene.press("a", "ArrowDown", "a", "2")

    expect(scene.page.locator("[data-notices]")).to_contain_text("Answer all conditions")
    scene.shows("A")
    expect(scene.page.locator(".verdict-row[data-current]")).to_contain_text("Condition 2")
    scene.press("a", "2")
    scene.shows("B")
    assert (scene.saved().relevance, scene.answers()) == (2, ["met"] * 3)


def test_arrows_move_between_the_rows_and_an_answer_can_be_changed(scene):
    current = scene.page.locator(".verdict-row[data-current]")
    scene.press("a", "a", "a", "ArrowUp", "ArrowUp")
    expect(current).to_contain_text("Condition 1")
    scene.press("s")

    expect(scene.following_grade()).to_contain_text("Not relevant")
    scene.press("ArrowDown")
    expect(current).to_contain_text("Condition 2")


def test_every_answer_can_be_clicked_and_enter_still_saves_what_follows(scene):
    for row in scene.page.locator(".verdict-row").all():
        row.locator(".verdict--met").click()
    scene.press("Enter")

    scene.shows("B")
    assert (scene.saved().relevance, scene.answers()) == (2, ["met"] * 3)


def test_answers_are_there_again_on_return(scene):
    scene.press("a", "s", "d", "Enter")
    scene.shows("B")
    expect(scene.page.locator(".verdict-row input:checked")).to_have_count(0)

    scene.press("ArrowLeft")
    scene.shows("A")
    values = "inputs => inputs.map(input => input.value)"
    checked = scene.page.locator(".verdict-row input:checked")
    assert checked.evaluate_all(values) == ["met", "not_met", "cant_tell"]
    assert len(scene.answers()) == 3
    scene.page.reload()
    expect(scene.page.locator("#spoken")).to_contain_text("Document 1 of 2")
    assert checked.evaluate_all(values) == ["met", "not_met", "cant_tell"]


def test_unsent_answers_survive_a_reload(scene):
    scene.press("a", "s")
    scene.page.reload()
    expect(scene.page.locator("#spoken")).to_contain_text("Document 1 of 2")

    expect(scene.page.locator(".verdict-row input:checked")).to_have_count(2)
    expect(scene.page.locator(".verdict-row[data-current]")).to_contain_text("Condition 3")
    scene.press("a", "Enter")
    scene.shows("B")
    assert scene.answers() == ["met", "not_met", "met"]


def test_an_undone_grade_keeps_its_answers(scene):
    scene.press("a", "a", "a", "Enter")
    scene.shows("B")
    scene.press("z")

    scene.shows("A")
    expect(scene.following_grade()).to_contain_text("Highly relevant")
    scene.press("ArrowUp", "s", "Enter")
    scene.shows("B")
    current = Judgment.objects.current().values_list("relevance", flat=True)
    until(scene.page, lambda: list(current.all()) == [0], "the second judgment to be saved")


@pytest.mark.parametrize("reloads", [False, True], ids=["at once", "after a reload"])
def test_undoing_a_changed_answer_shows_the_one_before_it(scene, reloads):
    scene.press("a", "a", "a", "Enter")
    scene.shows("B")
    scene.press("ArrowLeft")
    scene.shows("A")
    scene.press("s", "Enter")
    scene.shows("B")
    assert scene.answers() == ["not_met", "met", "met"]
    if reloads:
        scene.open(scene.page)

    scene.press("z")

    scene.shows("A")
    met = scene.page.locator(".verdict-row input[value=met]:checked")
    expect(met).to_have_count(3)
    expect(scene.page.locator("#save-line[data-unsaved]")).to_have_count(0)
    saved(scene.page, "Taken back")
    assert set(Judgment.objects.current().get().answers().values()) == {"met"}


def test_documents_start_at_the_top_and_refusals_are_visible_in_a_low_window(
    live_server, new_person
):
    scene = Scene(new_person)
    scene.page.set_viewport_size({"width": 640, "height": 400})
    scene.open(scene.page)
    scene.page.locator("#document-view").evaluate("view => (view.style.minBlockSize = '4000px')")
    scene.press("ArrowRight")
    scene.shows("B")
    assert scene.page.evaluate("scrollY") == 0

    scene.press("a", "0")
    expect(scene.page.locator(".judge__notices .notice")).to_be_in_viewport()
    assert scene.page.evaluate("scrollY") == 0


def test_the_find_box_of_a_narrow_window_leaves_the_sum_of_the_conditions_free(scene):
    page = scene.page
    page.set_viewport_size({"width": 420, "height": 800})
    page.keyboard.press("/")
    page.keyboard.type("text")
    expect(page.get_by_role("button", name="Clear")).to_be_in_viewport(ratio=1)

    find = page.locator(".find").bounding_box()
    total = page.locator(".verdict-sum").bounding_box()
    row = page.locator(".verdict-row[data-current]").bounding_box()
    assert find["y"] + find["height"] <= total["y"]
    assert total["y"] + total["height"] <= row["y"]
    assert page.evaluate("document.documentElement.scrollWidth") == 420


def test_ten_conditions_are_counted(live_server, new_person):
    scene = Scene(
        new_person,
        conditions=10,
        grades=tuple(range(11)),
        condition_rule=Project.ConditionRule.COUNT_MET,
    )
    scene.press(*"aaaaaaasss")

    expect(scene.page.locator("[data-conditions-sum]")).to_have_text("7 of 10 met")
    expect(scene.following_grade()).to_contain_text("Grade 7")
    scene.press("Enter")
    scene.shows("B")
    assert (scene.saved().relevance, scene.answers()) == (7, ["met"] * 7 + ["not_met"] * 3)


def test_answers_are_optional_if_relevance_is_given_by_hand(live_server, new_person):
    scene = Scene(new_person, condition_rule=Project.ConditionRule.BY_HAND)
    scene.press("s", "2")

    scene.shows("B")
    assert (scene.saved().relevance, scene.answers()) == (2, ["not_met"])


def test_answers_are_sent_with_the_grade_without_a_script(scene):
    page = scene.new_person("ada", java_script_enabled=False)
    page.goto(f"/pairs/{scene.pair.pk}/candidates/{scene.first.pk}/")
    for row in page.locator(".verdict-row").all():
        row.locator(".verdict--met").click()
    page.keyboard.press("Enter")
    shows(page, "A")

    page.locator("#grade-2").click()

    shows(page, "B")
    saved = Judgment.objects.get()
    answers = list(saved.verdicts.values_list("answer", flat=True))
    assert (saved.relevance, answers) == (2, ["met"] * 3)


def test_page_and_server_apply_the_same_rule(scene):
    choices = (None, "met", "not_met", "cant_tell")
    cases = [
        (rule, answers, grades)
        for rule in Project.ConditionRule.values
        for length in range(5)
        for answers in product(choices, repeat=length)
        for grades in ([0, 1], [0, 1, 2], [2, 3], [0, 1, 2, 3], [0, 1, 2, 3, 4])
    ]
    address = scene.page.locator("script[src*='judging/judge']").get_attribute("src")

    found = scene.page.evaluate(
        """async ([address, cases]) => {
            const { deriveRelevance } = await import(address);
            return cases.map((each) => deriveRelevance(...each));
        }""",
        [address.replace("judging/judge", "judging/conditions"), cases],
    )

    assert found == [derive_relevance(*each) for each in cases]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_conditions_can_be_answered_by_everybody(scene, new_person, accessibility, scheme):
    page = new_person("ada", color_scheme=scheme)
    scene.open(page)
    for key in "asd":
        page.keyboard.press(key)
    expect(page.locator(".verdict-row input:checked")).to_have_count(3)

    assert accessibility(page) == []


def test_enter_without_a_following_grade_says_why_until_all_are_answered(scene):
    why = scene.page.get_by_text("No grade follows from your answers yet")
    scene.press("a", "Enter")
    expect(why).to_be_visible()
    scene.press("a", "a")

    expect(why).to_have_count(0)


def test_answer_all_conditions_first_goes_with_the_last_answer(scene):
    first = scene.page.get_by_text("Answer all conditions first")
    scene.press("2")
    expect(first).to_be_visible()
    scene.press("a", "a", "a")

    expect(first).to_have_count(0)
    expect(scene.following_grade()).to_contain_text("Highly relevant")
