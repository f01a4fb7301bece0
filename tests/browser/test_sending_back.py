"""A lead sends a disagreement back by keys, the annotator answers, and it is open again."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from annotate.judging import actions as judging
from annotate.judgments import assignments
from annotate.models import Adjudication, Assignment, Guideline, Judgment, RejudgeRequest
from tests import factories
from tests.browser.waiting import listens, shows, until

WORDS = "Read the second paragraph."


@pytest.fixture
def scene(live_server, new_person):
    class Scene:
        """ada and ben differ on A (0 and 2), B (0 and 1) and C (1 and 0); carla leads."""

        def __init__(self) -> None:
            self.project = factories.project("tides", hide_names=False)
            query = factories.query(self.project)
            self.pair = factories.pair(query)
            pool = {doc_id: factories.candidate(query, doc_id) for doc_id in "ABC"}
            factories.lead(self.project)
            for name, grades in (("ada", (0, 0, 1)), ("ben", (2, 1, 0))):
                by = factories.member(self.project, name)
                assignments.take(pair=self.pair, task=Assignment.Task.JUDGE, by=by)
                for candidate, relevance in zip(pool.values(), grades, strict=True):
                    judging.judge(
                        narrative=factories.altered(self.pair),
                        candidate=candidate,
                        relevance=relevance,
                        by=by,
                    )
            self.page: Page = new_person("carla")

        def at(self, doc_id: str) -> None:
            shows(self.page, doc_id)

        def press(self, key: str) -> None:
            """Press a key once the page's scripts listen."""
            self.page.wait_for_load_state()
            self.page.keyboard.press(key)

    return Scene()


def test_sent_back_by_keys_answered_by_a_key_and_open_again(scene, new_person):
    page = scene.page
    page.goto("/projects/tides/disagreements/")
    scene.press("Enter")
    scene.at("A")

    scene.press("-")
    expect(page.get_by_role("button", name="Ask them to look again")).to_be_in_viewport(ratio=1)
    page.get_by_role("radio", name="ada").check()
    page.get_by_label("What to look at").fill(WORDS)
    scene.press("Control+Enter")

    # The next disagreement opens, and the first waits.
    scene.at("B")
    expect(page.get_by_text("A was sent back and waits for an annotator.")).to_be_visible()
    page.goto("/projects/tides/disagreements/?state=waiting")
    expect(page.locator("tbody tr")).to_have_count(1)
    expect(page.locator("tbody tr")).to_contain_text("A")

    ada = new_person("ada")
    ada.goto("/")
    ada.keyboard.press("Enter")
    expect(ada.locator("[data-again]:visible")).to_contain_text(WORDS)
    listens(ada)
    ada.keyboard.press("0")
    until(ada, lambda: not RejudgeRequest.objects.open().exists(), "the answer")

    page.goto("/projects/tides/disagreements/")
    scene.press("Enter")
    scene.at("A")
    expect(page.get_by_text("ada was asked to look again by carla")).to_be_visible()
    expect(page.get_by_text("answered", exact=True)).to_be_visible()
    assert Judgment.objects.count() == 7


def test_a_case_goes_with_a_key_into_the_guidelines(scene):
    page = scene.page
    page.goto("/projects/tides/disagreements/")
    scene.press("Enter")
    scene.at("A")

    scene.press("+")
    expect(page.get_by_role("checkbox", name="A")).to_be_checked()
    page.get_by_role("textbox", name="Guidelines").fill("Rivers do not count.")
    page.get_by_role("button", name="Save as a new version").click()

    expect(page.get_by_role("heading", name="Cases that led to this version")).to_be_visible()
    case = Guideline.objects.get().cases.get()
    assert case.candidate.document.doc_id == "A"
    # Everything was judged before it.
    page.get_by_role("link", name="Ask for another look at older answers").click()
    # A choice submits the form once the page's scripts listen.
    page.wait_for_load_state()
    page.get_by_label("Documents").select_option("cases")
    expect(page.get_by_text("2 answers of 2 people will be asked for again.")).to_be_visible()
    page.get_by_role("button", name="Ask for them again").click()
    expect(page.get_by_text("2 answers are asked for again.")).to_be_visible()
    assert RejudgeRequest.objects.open().filter(guideline=case.guideline).count() == 2


def test_many_are_settled_as_the_preview_says_and_one_key_withdraws_them(scene):
    page = scene.page
    page.goto("/projects/tides/disagreements/")
    page.get_by_role("link", name="Settle these together").click()
    page.get_by_role("radio", name="One person says").check()
    page.get_by_label("Person, for").select_option(label="ben")
    page.get_by_role("button", name="Show the preview").click()
    expect(page.get_by_role("heading", name="3 documents would be settled")).to_be_visible()
    page.get_by_role("radio", name="Edge case").check()
    page.get_by_label("Reason").fill("Agreed in the meeting.")

    page.get_by_role("button", name="Settle 3 documents").click()

    expect(page.get_by_role("heading", name="3 documents settled together")).to_be_visible()
    decided = Adjudication.objects.current().order_by("candidate__document__doc_id")
    assert list(decided.values_list("relevance", flat=True)) == [2, 1, 0]
    scene.press("Backspace")
    expect(page.get_by_text("All of them are withdrawn.")).to_be_visible()
    assert not Adjudication.objects.current().exists()
