"""A sample from drawing to the sentence for the paper: two people check, a third settles."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from audit.models import Check, Sample
from tests.audit.checking import claimed_scene

# What is claimed, and what ada and ben press of each. C goes to dan, who presses 0.
CLAIMED = {"C1": {"A": 0, "B": 1}, "S1": {"C": 2, "D": 2}}
ADA = {"A": "0", "B": "1", "C": "1", "D": "2"}
BEN = {"A": "0", "B": "1", "C": "0", "D": "2"}


@pytest.fixture
def tides(live_server):
    return claimed_scene(CLAIMED)


def press(page, key):
    """Press a key that leads to another page."""
    with page.expect_navigation():
        page.keyboard.press(key)


def check_all(page, answers):
    """Press a grade for every document, as it comes."""
    seen = []
    for _ in answers:
        doc_id = page.locator(".document .id").text_content()
        seen.append(doc_id)
        press(page, answers[doc_id])
    assert sorted(seen) == sorted(answers)


def test_two_check_by_keys_a_third_settles_and_the_figures_are_those_counted_by_hand(
    tides, new_person, accessibility
):
    carla = new_person("carla")
    carla.goto("/projects/tides/checks/")
    carla.get_by_role("link", name="New sample").click()
    carla.get_by_label("Name").fill("Spot checks")
    carla.get_by_label("Strata").select_option("category")
    carla.get_by_label("How many").fill("2")
    carla.get_by_role("button", name="Show the strata").click()
    expect(carla.locator("#preview tbody tr")).to_have_count(2)
    assert not Sample.objects.exists()
    assert accessibility(carla) == []
    carla.get_by_role("button", name="Draw the sample").click()
    expect(carla.get_by_text("The sample is drawn.")).to_be_visible()

    sample = Sample.objects.get()
    for name, answers in (("ada", ADA), ("ben", BEN)):
        page = new_person(name)
        page.goto(f"/samples/{sample.pk}/")
        press(page, "Enter")
        assert accessibility(page) == []
        check_all(page, answers)
        expect(page.get_by_text("There is nothing more for you to check")).to_be_visible()

    dan = new_person("dan")
    dan.goto(f"/samples/{sample.pk}/")
    with dan.expect_navigation():
        dan.locator("#settle").click()
    expect(dan.get_by_text("One said")).to_be_visible()
    assert accessibility(dan) == []
    press(dan, "0")
    assert Check.objects.current().get(place=3).relevance == 0

    # One of four is wrong: C is claimed 2 and is 0. None of C1, one of two of S1.
    carla.goto(f"/samples/{sample.pk}/?bound=50")
    rows = carla.locator("#rates-status tr")
    expect(rows.nth(1)).to_contain_text("2 of 2")
    expect(rows.nth(1)).to_contain_text("0.0 to 84.2 %")
    expect(rows.nth(2)).to_contain_text("1.3 to 98.7 %")
    expect(rows.nth(3)).to_contain_text("25.0\xa0%")
    expect(rows.nth(3)).to_contain_text("0.6 to 80.6 %")
    # 1 in 8 at most is 47.1 % at 95 %, 1 in 7 is 52.1 %: four more.
    expect(rows.nth(3).locator("td").last).to_have_text("4")
    expect(carla.locator("#paper-words")).to_contain_text(
        "Two people each checked 4 of 4 labels (judgments of model; 2 of each stratum"
    )
    expect(carla.locator("#paper-words")).to_contain_text("a third person settled 1")
    assert accessibility(carla) == []


def test_a_press_too_many_is_taken_back_and_words_go_with_the_grade(tides, new_person):
    carla = new_person("carla")
    carla.goto("/projects/tides/checks/new/")
    carla.get_by_label("Name").fill("Spot checks")
    carla.get_by_label("How many").fill("4")
    carla.get_by_role("button", name="Draw the sample").click()
    page = new_person("ada")
    page.goto(f"/samples/{Sample.objects.get().pk}/checking/")
    first = page.locator(".document .id").text_content()

    press(page, "1")
    expect(page.locator(".document .id")).not_to_have_text(first)
    press(page, "z")
    expect(page.locator(".document .id")).to_have_text(first)
    assert not Check.objects.current().exists()

    page.keyboard.press("n")
    expect(page.get_by_label("Words", exact=True)).to_be_focused()
    page.keyboard.type("On page 2: 1 mill.")
    page.keyboard.press("Escape")
    press(page, "2")
    said = Check.objects.current().get()
    assert (said.relevance, said.words) == (2, "On page 2: 1 mill.")


def test_a_label_can_be_left_for_later(tides, new_person):
    carla = new_person("carla")
    carla.goto("/projects/tides/checks/new/")
    carla.get_by_label("Name").fill("Spot checks")
    carla.get_by_label("How many").fill("4")
    carla.get_by_role("button", name="Draw the sample").click()
    page = new_person("ada")
    page.goto(f"/samples/{Sample.objects.get().pk}/checking/")
    first = page.locator(".document .id").text_content()

    press(page, "ArrowRight")

    expect(page.locator(".document .id")).not_to_have_text(first)
    press(page, "q")
    expect(page.get_by_text("You have checked 0 of 4 labels.")).to_be_visible()
