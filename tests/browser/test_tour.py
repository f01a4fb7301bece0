"""A newcomer goes through the tour by keys and is not asked again."""

from __future__ import annotations

from playwright.sync_api import expect

from tests import factories


def test_the_tour_is_gone_through_by_keys(live_server, new_person, accessibility):
    factories.lead(factories.project())
    page = new_person("carla")
    page.goto("/")
    page.get_by_role("link", name="Take the tour").click()
    heading = page.get_by_role("heading", level=1)
    expect(heading).to_have_text("The narrative changes, the documents stay")
    assert accessibility(page) == []

    page.keyboard.press("Enter")
    expect(heading).to_have_text("Judge a document by one key")
    assert accessibility(page) == []
    page.keyboard.press("0")
    expect(page.get_by_text("You pressed 0")).to_be_visible()
    page.keyboard.press("Enter")
    expect(heading).to_have_text("Nothing that you did is lost")
    page.keyboard.press("Enter")
    expect(heading).to_have_text("For leads: from files to a release")
    page.keyboard.press("Enter")

    expect(heading).to_have_text("Your work")
    expect(page.get_by_role("link", name="Take the tour")).to_have_count(0)
