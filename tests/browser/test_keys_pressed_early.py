"""Keys pressed before a page listens take effect once it does: in order, and each one once.

The tests simulate a slow connection by holding back the page's modules until keys are pressed.
"""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from annotate.judging import judging_session
from annotate.judgments import assignments
from annotate.models import Adjudication, Assignment, Judgment
from audit.models import Check, Rating, Sample, SampleItem
from tests import factories
from tests.browser.test_keys import press_typed
from tests.browser.waiting import saved, until


def press_early(page: Page, path: str, *keys: str | tuple[str, str]) -> None:
    """Open a page, press keys before any of its modules is loaded, then let them load.

    A pair of a key and its place is pressed as on a layout on which the place types that key.
    """
    kept_back = []
    page.route("**/js/**", lambda route: kept_back.append(route))
    page.route("**/js/held-keys.js", lambda route: route.continue_())
    page.goto(path, wait_until="commit")
    expect(page.locator("#content")).to_be_visible()
    until(page, lambda: kept_back, "the page's modules")
    for key in keys:
        if isinstance(key, tuple):
            press_typed(page, *key)
        else:
            page.keyboard.press(key)
    page.unroute("**/js/**")
    for route in kept_back:
        route.continue_()


@pytest.fixture
def tides(live_server):
    """A query of three documents; ada judges and reviews its pair, carla settles its document Z."""
    project = factories.project("tides")
    query = factories.query(project)
    pair = factories.pair(query)
    for doc_id in "XYZ":
        factories.candidate(query, doc_id, text=f"The text of {doc_id}.")
    ada = factories.member(project, "ada")
    factories.lead(project, "carla")
    for task in (Assignment.Task.JUDGE, Assignment.Task.REVIEW):
        assignments.take(pair=pair, task=task, by=ada)
    return pair


def judged(pair) -> list[tuple[int, str]]:
    """Return grade and note of ada's judgments, in the order in which documents are shown."""
    ada = pair.project.memberships.get(name="ada")
    narrative = factories.altered(pair)
    order = judging_session.read_judging_session(narrative=narrative, by=ada).order
    found = {one.candidate_id: one for one in Judgment.objects.current().filter(annotator=ada)}
    return [(found[pk].relevance, found[pk].note) for pk in order if pk in found]


def test_the_judge_page_gives_each_document_its_grade_and_its_note(tides, new_person):
    page = new_person("ada")

    press_early(page, f"/pairs/{tides.pk}/judging/", "2", "n", "o", "k", "Escape", "1")

    expect(page.locator("#judge-progress .count")).to_have_text("2 of 3")
    saved(page)
    assert judged(tides) == [(2, ""), (1, "ok")]


def test_letters_of_a_layout_without_latin_letters_are_held_too(tides, new_person):
    page = new_person("ada")

    early = (("ى", "KeyN"), ("ئ", "KeyZ"), "Escape", "2", "1")
    press_early(page, f"/pairs/{tides.pk}/judging/", *early)

    expect(page.locator("#judge-progress .count")).to_have_text("2 of 3")
    saved(page)
    assert judged(tides) == [(2, "ئ"), (1, "")]


def test_the_list_gives_each_row_its_grade(tides, new_person):
    page = new_person("ada")

    press_early(page, f"/pairs/{tides.pk}/list/", "2", "0", "1")

    expect(page.locator("#judge-progress .count")).to_have_text("3 of 3")
    saved(page)
    assert judged(tides) == [(2, ""), (0, ""), (1, "")]


def test_the_review_page_takes_levels_and_the_words_between_them(tides, new_person):
    page = new_person("ada")

    press_early(page, f"/pairs/{tides.pk}/review/", "3", "1", *"dull", "Enter", "2")

    expect(page.locator("#judge-progress")).to_have_text("3 of 6")
    ratings = Rating.objects.order_by("pk").values_list("level", "words")
    wanted = [("excellent", ""), ("poor", "dull"), ("acceptable", "")]
    until(page, lambda: list(ratings.all()) == wanted, "the levels with the words")


def test_the_list_of_disagreements_and_the_page_of_one_settle_it(tides, new_person):
    narrative = factories.altered(tides)
    candidate = tides.query.candidates.get(document__doc_id="Z")
    for name, relevance in (("ben", 0), ("dan", 2)):
        factories.judgment(narrative, candidate, factories.member(tides.project, name), relevance)
    page = new_person("carla")

    press_early(page, "/projects/tides/disagreements/", "Enter")
    expect(page.locator("[name=adopt]").first).to_be_visible()
    adopt = page.locator(".answer", has=page.locator(".answer__value", has_text="2")).locator(
        "[name=adopt]"
    )
    press_early(page, page.url, "b", "p", adopt.get_attribute("data-key"))

    until(page, Adjudication.objects.exists, "the decision")
    made = Adjudication.objects.get()
    assert (made.relevance, made.cause) == (2, Adjudication.Cause.AMBIGUOUS)


def test_a_check_is_answered_once(tides, new_person):
    sample = Sample.objects.create(
        project=tides.project,
        name="Spot",
        source="prior",
        seed=1,
        size=3,
        created_by=tides.project.memberships.get(name="carla"),
    )
    for candidate in tides.query.candidates.all():
        SampleItem.objects.create(
            sample=sample, narrative=factories.altered(tides), candidate=candidate, claimed=1
        )
    page = new_person("ada")
    page.goto(f"/samples/{sample.pk}/checking/")

    press_early(page, page.url, "1")

    until(page, Check.objects.exists, "the check")
    assert list(Check.objects.values_list("relevance", flat=True)) == [1]
