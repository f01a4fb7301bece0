"""Rejudge requests are answered by keys on the judge page and in the list, and undone."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from annotate.guidelines import rejudge_requests
from annotate.judging import actions as judging
from annotate.judgments import assignments
from annotate.models import Assignment, Judgment, Project, RejudgeRequest
from tests import factories
from tests.browser.waiting import listens, shows, until

WORDS = "Look at the second table."


@pytest.fixture
def scene(live_server, new_person):
    class Scene:
        """ada has judged A (1), B (2) and C (0); carla asks her to look at B again."""

        def __init__(self) -> None:
            project = factories.project("tides", judge_order=Project.Order.DOC_ID, order_seed=3)
            query = factories.query(project)
            self.pair = factories.pair(query)
            self.ada = factories.member(project, "ada")
            self.carla = factories.lead(project)
            pool = {doc_id: factories.candidate(query, doc_id) for doc_id in "ABC"}
            assignments.take(pair=self.pair, task=Assignment.Task.JUDGE, by=self.ada)
            for doc_id, relevance in (("A", 1), ("B", 2), ("C", 0)):
                judging.judge(
                    narrative=factories.altered(self.pair),
                    candidate=pool[doc_id],
                    relevance=relevance,
                    by=self.ada,
                )
            self.rejudge_request = self.ask("B")
            self.page: Page = new_person("ada")

        def ask(self, doc_id: str) -> RejudgeRequest:
            return rejudge_requests.ask(
                statement=Judgment.objects.current().get(candidate__document__doc_id=doc_id),
                words=WORDS,
                by=self.carla,
            )

        def is_open(self) -> bool:
            return RejudgeRequest.objects.open().exists()

        def answered(self) -> None:
            until(self.page, lambda: not self.is_open(), "the answer")

    return Scene()


def notice(page: Page):
    return page.locator("[data-again]:visible")


def test_home_leads_to_the_document_and_the_same_grade_answers_the_request(scene):
    page = scene.page
    page.goto("/")
    expect(page.get_by_text("Look again: 1 document")).to_be_visible()

    page.keyboard.press("Enter")

    shows(page, "B")
    expect(notice(page)).to_contain_text("carla asks you to look again:")
    expect(notice(page)).to_contain_text(WORDS)
    expect(page.locator("#spoken")).to_contain_text(WORDS)
    expect(page.locator("#judge-progress .count")).to_have_text("2 of 3")

    page.keyboard.press("2")

    expect(page.get_by_role("heading", name="Query finished")).to_be_visible()
    expect(page.locator("#judge-progress .count")).to_have_text("3 of 3")
    scene.answered()
    answer = Judgment.objects.current().get(candidate__document__doc_id="B")
    assert (answer.relevance, answer.replaces) == (2, scene.rejudge_request.statement)


def test_undo_brings_the_notice_back_and_another_grade_answers(scene):
    page = scene.page
    page.goto(f"/pairs/{scene.pair.pk}/judging/")
    shows(page, "B")
    page.keyboard.press("2")
    expect(page.get_by_role("heading", name="Query finished")).to_be_visible()
    scene.answered()

    page.keyboard.press("z")

    shows(page, "B")
    expect(notice(page)).to_contain_text(WORDS)
    until(page, scene.is_open, "the rejudge request to be back")
    page.keyboard.press("0")
    scene.answered()
    assert Judgment.objects.current().get(candidate__document__doc_id="B").relevance == 0


def test_undoing_an_earlier_answer_restores_the_notice(scene):
    judging.judge(
        narrative=scene.rejudge_request.statement.narrative,
        candidate=scene.rejudge_request.statement.candidate,
        relevance=0,
        by=scene.ada,
    )
    page = scene.page
    page.goto(f"/pairs/{scene.pair.pk}/judging/")
    expect(page.get_by_role("heading", name="Query finished")).to_be_visible()

    page.keyboard.press("z")

    shows(page, "B")
    until(page, scene.is_open, "the rejudge request to be back")
    expect(notice(page)).to_contain_text(WORDS)
    expect(page.locator("#judge-progress .count")).to_have_text("2 of 3")


def test_a_postponed_document_comes_last_with_the_words_of_its_request(scene):
    scene.ask("A")
    page = scene.page
    page.goto(f"/pairs/{scene.pair.pk}/judging/")
    shows(page, "A")

    page.keyboard.press("l")
    shows(page, "B")
    page.keyboard.press("1")

    shows(page, "A")
    expect(notice(page)).to_contain_text(WORDS)
    page.keyboard.press("1")
    expect(page.get_by_role("heading", name="Query finished")).to_be_visible()
    expect(page.locator("#judge-progress .count")).to_have_text("3 of 3")


def test_other_documents_show_no_notice(scene):
    page = scene.page
    page.goto(f"/pairs/{scene.pair.pk}/judging/")
    shows(page, "B")

    page.keyboard.press("ArrowRight")
    shows(page, "C")
    expect(notice(page)).to_have_count(0)

    page.keyboard.press("ArrowLeft")
    shows(page, "B")
    expect(notice(page)).to_have_count(1)


def test_the_same_grade_answers_a_request_in_the_list_and_the_next_row_is_unchanged(scene):
    page = scene.page
    page.goto(f"/pairs/{scene.pair.pk}/list/")
    listens(page)
    expect(page.locator("[data-current] a").first).to_have_text("B")
    expect(notice(page)).to_contain_text(WORDS)
    expect(page.locator("[data-count='again']")).to_have_text("1")

    page.keyboard.press("2")
    scene.answered()

    expect(notice(page)).to_have_count(0)
    expect(page.locator("[data-count='again']")).to_have_text("0")
    # Nobody asked for C, so the same grade again changes nothing.
    expect(page.locator("[data-current] a").first).to_have_text("C")
    page.keyboard.press("0")
    page.keyboard.press("z")
    until(page, scene.is_open, "the rejudge request to be back")
    expect(notice(page)).to_contain_text(WORDS)
    assert Judgment.objects.count() == 4


def test_an_offline_answer_waits_in_the_browser(scene, expected_complaints):
    expected_complaints.append("ERR_INTERNET_DISCONNECTED")
    page = scene.page
    page.goto(f"/pairs/{scene.pair.pk}/judging/")
    shows(page, "B")
    page.context.set_offline(True)

    page.keyboard.press("2")

    expect(page.get_by_role("heading", name="Query finished")).to_be_visible()
    assert scene.is_open()
    page.context.set_offline(False)
    scene.answered()
