"""Pages around the work page in narrow windows and by touch."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests import factories
from tests.second_pass import submit_levels

PHONE = {"viewport": {"width": 400, "height": 800}, "has_touch": True, "is_mobile": True}


@pytest.fixture
def tides(live_server):
    project = factories.project("tides")
    factories.lead(project)
    factories.query(project, "301", title="harbours closed by storms")
    return project


def small_targets(page: Page) -> list[str]:
    """Return the buttons and fields that are less than 44 px high."""
    targets = page.locator("button, a.button, summary, select, input[type=text]")
    small: list[str] = targets.evaluate_all(
        """all => all
            .filter((one) => one.checkVisibility() && one.getBoundingClientRect().height < 44)
            .map((one) => one.outerHTML)"""
    )
    return small


@pytest.mark.parametrize("scripted", [True, False])
def test_the_navigation_opens_from_a_button(tides, new_person, scripted):
    page = new_person("carla", java_script_enabled=scripted, **PHONE)
    page.goto("/projects/tides/queries/")
    navigation = page.get_by_role("navigation", name="Project")
    expect(navigation).to_be_hidden()

    page.get_by_role("button", name="Menu").tap()
    navigation.get_by_role("link", name="Members").tap()

    expect(page).to_have_url(re.compile("/projects/tides/members/$"))


def test_escape_closes_the_navigation(tides, new_person):
    page = new_person("carla", viewport={"width": 800, "height": 800})
    page.goto("/projects/tides/queries/")
    menu = page.get_by_role("button", name="Menu")
    menu.press("Enter")
    expect(page.get_by_role("navigation", name="Project")).to_be_visible()

    page.keyboard.press("Escape")

    expect(page.get_by_role("navigation", name="Project")).to_be_hidden()
    expect(menu).to_be_focused()


def test_a_wide_window_shows_the_navigation_beside_the_page(tides, new_person):
    page = new_person("carla", viewport={"width": 1280, "height": 800})
    page.goto("/projects/tides/queries/")

    expect(page.get_by_role("navigation", name="Project")).to_be_visible()
    expect(page.get_by_role("button", name="Menu")).to_be_hidden()


@pytest.mark.parametrize("address", ["", "queries/", "members/", "settings/", "checks/"])
def test_targets_are_as_large_as_a_finger(tides, new_person, address):
    page = new_person("carla", **PHONE)
    page.goto(f"/projects/tides/{address}")

    assert small_targets(page) == []


def test_the_filter_of_the_queries_takes_one_row_at_800_pixels(tides, new_person):
    page = new_person("carla", viewport={"width": 800, "height": 800})
    page.goto("/projects/tides/queries/")

    boxes = [field.bounding_box() for field in page.locator(".filter > .field").all()]

    assert len(boxes) > 2
    assert max(box["y"] for box in boxes) < min(box["y"] + box["height"] for box in boxes)


@pytest.mark.parametrize(
    "address",
    ["projects/tides/disagreements/?query=", "projects/tides/matrix/?query=", "{pair}?find="],
)
def test_a_long_word_that_was_looked_for_does_not_widen_the_page(tides, new_person, address):
    query = tides.queries.get()
    factories.candidate(query)
    pair = factories.pair(query)
    page = new_person("carla", viewport={"width": 420, "height": 800})

    page.goto("/" + address.format(pair=f"pairs/{pair.pk}/narrative/") + "x" * 120)

    expect(page.get_by_text("x" * 120).first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") == 420


@pytest.mark.parametrize(
    "address", ["/pairs/{pair}/narrative/", "/narratives/{narrative}/candidates/{pk}/disagreement/"]
)
def test_a_grade_with_a_long_name_does_not_widen_the_page(tides, new_person, address):
    tides.grades.filter(value=1).update(name="y" * 40)
    candidate = factories.candidate(tides.queries.get(), prior=1)
    pair = factories.pair(candidate.query)
    narrative = factories.altered(pair)
    for name, relevance in (("ada", 1), ("ben", 0)):
        factories.judgment(narrative, candidate, factories.member(tides, name), relevance)
    page = new_person("carla", viewport={"width": 420, "height": 800})

    page.goto(address.format(pair=pair.pk, narrative=narrative.pk, pk=candidate.pk))

    expect(page.get_by_text("y" * 40).first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") == 420


@pytest.mark.parametrize("width", [1280, 800, 420])
def test_there_is_room_for_the_reason_of_a_decision_on_an_instruction(tides, new_person, width):
    pair = factories.pair(tides.queries.get())
    auditor = factories.member(tides, "dan")
    factories.assignment(pair, auditor, task="review")
    submit_levels(factories.altered(pair), auditor)
    page = new_person("carla", viewport={"width": width, "height": 800})

    page.goto(f"/pairs/{pair.pk}/story/")

    box = page.get_by_label("Because").bounding_box()
    assert box is not None
    assert box["width"] >= 300
