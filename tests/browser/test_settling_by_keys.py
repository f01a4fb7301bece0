"""The queue of disagreements by keyboard alone: from the list through all four kinds."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from annotate.judgments import assignments
from annotate.models import Adjudication, Assignment, Condition, ConditionAdjudication, Verdict
from audit.checks import actions as checking
from audit.models import Check, Decision, Reveal, Sample, SampleItem
from audit.reviews.actions import save_ratings, submit_review
from audit.reviews.criteria import FOLLOWTABLE
from audit.settling.adjudication import adjudicate
from tests import factories
from tests.browser.waiting import listens, press, saved, shows


@pytest.fixture
def tides(live_server):
    """One disagreement of each kind: first a judgment, then check, review and verdict."""
    project = factories.project("tides", overlap_review=2)
    query = factories.query(project, "301", title="tidal power")
    pair = factories.pair(query, original="All plants at sea count.")
    narrative = factories.altered(pair)
    ada, ben = factories.member(project, "ada"), factories.member(project, "ben")
    carla = factories.lead(project, "carla")
    judged = factories.candidate(query, "A", text="This is document A.")
    for member, relevance in ((ada, 0), (ben, 2)):
        factories.judgment(narrative, judged, member, relevance, note=f"{relevance} of two.")
    condition = Condition.objects.create(narrative=narrative, number=1, text="At sea.")
    answered = factories.candidate(query, "B", text="This is document B.")
    for member, answer in ((ada, "met"), (ben, "cant_tell")):
        judgment = factories.judgment(narrative, answered, member, 1)
        Verdict.objects.create(statement=judgment, condition=condition, answer=answer)
    for member, level in ((ada, "acceptable"), (ben, "poor")):
        assignments.take(pair=pair, task=Assignment.Task.REVIEW, by=member)
        answers = dict.fromkeys(FOLLOWTABLE.keys, ("excellent", ""))
        answers["query_dependency"] = (level, "Weak.")
        save_ratings(narrative=narrative, answers=answers, by=member)
        submit_review(narrative=narrative, by=member)
    sample = Sample.objects.create(
        project=project, name="Spot", source="prior", seed=1, size=1, created_by=carla
    )
    checked = factories.candidate(query, "C", text="This is document C.")
    item = SampleItem.objects.create(
        sample=sample, narrative=narrative, candidate=checked, claimed=1
    )
    for member, relevance in ((ada, 0), (ben, 1)):
        checking.check(item=item, relevance=relevance, by=member)
    return project


@pytest.mark.parametrize("width", [1280, 800])
def test_the_auditors_of_a_review_have_columns_of_one_width(tides, new_person, width):
    page = new_person("carla", viewport={"width": width, "height": 800})
    page.goto("/projects/tides/disagreements/?kind=review")
    with page.expect_navigation():
        page.locator("main table a").first.click()

    columns = page.locator(".contrasts thead th").evaluate_all(
        "cells => cells.map((cell) => Math.round(cell.getBoundingClientRect().width))"
    )

    assert len(columns) == 3
    assert columns[1] == columns[2]


def test_four_kinds_are_settled_from_the_list_to_its_end_by_keys(tides, new_person, accessibility):
    page = new_person("carla")
    page.goto("/projects/tides/disagreements/")
    expect(page.get_by_role("navigation", name="Kinds")).to_contain_text("All kinds 4")
    press(page, "Enter")

    # Judgments two grades apart come first: a cause and an answer's key adopt the answer.
    shows(page, "A")
    page.keyboard.press("b")
    adopting = page.locator(".answer", has_text="Highly relevant").locator("[name=adopt]")
    page.keyboard.press(adopting.get_attribute("data-key"))

    # The check: the page announces what comes next.
    shows(page, "C")
    expect(page.locator("#spoken")).to_contain_text("Disagreement 2 of 4: C")
    assert accessibility(page) == []
    page.keyboard.press("1")

    # The instruction: the decision asks for its reason.
    expect(page.get_by_text("they differ", exact=True)).to_be_visible()
    page.keyboard.press("2")
    expect(page.locator("#note")).to_be_focused()
    page.keyboard.type("Do not repeat the query.")
    page.keyboard.press("Enter")

    # The condition, with the lead's own reason.
    shows(page, "B")
    assert accessibility(page) == []
    page.keyboard.press("p")
    page.keyboard.press("n")
    page.keyboard.type("Nothing says so.")
    page.keyboard.press("Escape")
    page.keyboard.press("2")

    expect(page.locator(".finished")).to_contain_text("No disagreement is left here")
    saved(page)
    made = Adjudication.objects.get()
    assert (made.relevance, made.reason) == (2, "As one of them said: 2 of two.")
    assert Check.objects.get(place=Check.SETTLES).relevance == 1
    assert Decision.objects.get().outcome == "revise"
    assert ConditionAdjudication.objects.get().answer == "not_met"
    press(page, "Enter")
    expect(page.get_by_text("Everything is settled")).to_be_visible()


@pytest.mark.parametrize("kind", ["judgment", "verdict", "review", "check"])
def test_one_key_reveals_the_names_and_is_recorded(tides, new_person, kind):
    page = new_person("carla")
    page.goto(f"/projects/tides/disagreements/?kind={kind}")
    press(page, "Enter")
    expect(page.get_by_text("Person A", exact=True).first).to_be_visible()
    expect(page.get_by_text("ada", exact=True)).to_have_count(0)

    press(page, "r")

    expect(page.get_by_text("ada", exact=True).first).to_be_visible()
    expect(page.get_by_text(re.compile("carla looked up the names"))).to_be_visible()
    assert Reveal.objects.count() == 1


def test_one_key_undoes_the_last_decision_of_any_kind(tides, new_person):
    page = new_person("carla")
    page.goto("/projects/tides/disagreements/?kind=check")
    press(page, "Enter")
    page.keyboard.press("0")
    saved(page)
    assert Check.objects.current().filter(place=Check.SETTLES).exists()
    page.goto("/projects/tides/disagreements/?kind=verdict")
    press(page, "Enter")
    listens(page)

    page.keyboard.press("z")

    shows(page, "C")
    saved(page, "Taken back")
    assert not Check.objects.current().filter(place=Check.SETTLES).exists()


def test_a_decision_is_refused_with_a_message_if_another_lead_was_faster(tides, new_person):
    page = new_person("carla")
    page.goto("/projects/tides/disagreements/?kind=judgment")
    press(page, "Enter")
    listens(page)
    narrative = Condition.objects.get().narrative
    adjudicate(
        narrative=narrative,
        candidate=narrative.statements.get(candidate__document__doc_id="A", relevance=0).candidate,
        relevance=1,
        cause="edge",
        reason="At the mouth.",
        by=factories.lead(tides, "clara"),
    )

    page.keyboard.press("b")
    page.keyboard.press("a")

    expect(page.locator("[data-notices]")).to_contain_text("clara has settled this as 1.")
    expect(page.locator("#save-line")).to_contain_text("Not saved: 1")
    assert Adjudication.objects.get().relevance == 1
