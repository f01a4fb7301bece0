"""A form that is sent in place: its page stays, its content is replaced, the focus is not lost."""

from __future__ import annotations

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from annotate.models import Membership
from jobs.models import Job
from tests import factories


@pytest.fixture
def carla(live_server, new_person):
    factories.lead(factories.project("tides"))
    page = new_person("carla")
    page.goto("/projects/tides/members/")
    page.evaluate("window.stays = true")
    return page


def add(page: Page, name: str) -> None:
    page.get_by_label("User name").fill(name)
    page.get_by_role("button", name="Add", exact=True).click()


def test_the_content_is_replaced_and_what_was_done_takes_the_focus(carla, accessibility):
    factories.user("ada")

    add(carla, "ada")

    expect(carla.get_by_text("ada is now in the project")).to_be_visible()
    expect(carla.get_by_role("rowheader", name="ada")).to_be_visible()
    # A screen reader reads what takes the focus.
    expect(carla.locator("#notices")).to_be_focused()
    expect(carla.locator("#notices")).to_contain_text("ada is now in the project")
    assert carla.evaluate("window.stays")
    assert accessibility(carla) == []


def test_a_refused_form_shows_and_focuses_its_first_error(carla):
    add(carla, "carla")

    expect(carla.get_by_label("User name")).to_be_focused()
    expect(carla.locator(".errorlist").first).to_be_in_viewport()
    assert carla.evaluate("window.stays")


def test_pressing_twice_adds_once(carla):
    factories.user("ada")
    carla.get_by_label("User name").fill("ada")

    carla.get_by_role("button", name="Add", exact=True).dblclick()

    expect(carla.get_by_text("ada is now in the project")).to_be_visible()
    assert Membership.objects.filter(name="ada").count() == 1


def test_it_works_without_script(carla, new_person):
    factories.user("ada")
    plain = new_person("carla", java_script_enabled=False)
    plain.goto("/projects/tides/members/")

    add(plain, "ada")

    expect(plain.get_by_role("rowheader", name="ada")).to_be_visible()


def test_an_ended_session_keeps_the_page_and_says_so(carla):
    carla.context.clear_cookies(name="sessionid")
    carla.get_by_label("User name").fill("ada")

    carla.get_by_role("button", name="Add", exact=True).click()

    expect(carla.get_by_text("You are signed out, so nothing was saved")).to_be_visible()
    expect(carla.get_by_label("User name")).to_have_value("ada")


def test_settings_that_are_not_saved_stay_while_a_layout_is_written_and_proved(carla):
    carla.goto("/projects/tides/publication/")
    carla.get_by_label("Publisher").fill("The university")

    carla.get_by_role("button", name="Write and prove").first.click()

    job = carla.locator("#job")
    expect(job).to_contain_text("Waiting")
    expect(carla.get_by_label("Publisher")).to_have_value("The university")
    now = timezone.now()
    Job.objects.update(state=Job.State.CANCELLED, cancel_requested_at=now, finished_at=now)
    expect(job).to_contain_text("Cancelled")
    expect(carla.get_by_label("Publisher")).to_have_value("The university")
    expect(carla.get_by_text("had not saved, is back")).to_be_visible()


def test_settings_that_were_refused_come_back(carla):
    carla.on("dialog", lambda dialog: dialog.accept())
    carla.goto("/projects/tides/publication/")
    carla.get_by_label("Publisher").fill("The university")
    carla.get_by_label("Year").fill("5")
    carla.locator("form[data-draft]").evaluate("form => (form.noValidate = true)")
    carla.get_by_role("button", name="Save", exact=True).click()
    expect(carla.get_by_text("Ensure this value is greater than or equal to")).to_be_visible()

    carla.goto("/projects/tides/publication/")

    expect(carla.get_by_label("Publisher")).to_have_value("The university")
    expect(carla.get_by_text("had not saved, is back")).to_be_visible()
