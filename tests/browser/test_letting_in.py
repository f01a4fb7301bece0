"""A lead who lets somebody in copies their first password with one click."""

from __future__ import annotations

from playwright.sync_api import expect

from annotate.models import User
from tests import factories


def test_a_name_without_a_blank_does_not_push_the_buttons_off_the_screen(live_server, new_person):
    project = factories.project()
    factories.lead(project, "carla")
    factories.member(project, "x" * 150)
    page = new_person("carla", viewport={"width": 1280, "height": 900})

    for address in ("/projects/tides/members/", "/projects/tides/"):
        page.goto(address)
        assert page.evaluate("document.documentElement.scrollWidth") == 1280
    page.goto("/projects/tides/members/")
    expect(page.get_by_role("button", name="Let go")).to_be_in_viewport(ratio=1)


def test_the_first_password_is_copied(live_server, new_person):
    factories.lead(factories.project(), "carla")
    page = new_person("carla", permissions=["clipboard-read", "clipboard-write"])
    page.goto("/projects/tides/members/")
    page.get_by_label("User name").fill("ada")
    page.get_by_role("button", name="Add").click()

    page.get_by_role("button", name="Copy the password").click()

    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert User.objects.get(username="ada").check_password(copied)
    expect(page.get_by_role("button", name="Copy the password")).to_be_visible()
