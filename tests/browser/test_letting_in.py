"""A lead who adds somebody without an account copies the invitation link with one click."""

from __future__ import annotations

from playwright.sync_api import expect

from annotate.models import User
from tests import factories


def test_a_long_name_does_not_push_the_buttons_off_the_screen(live_server, new_person):
    project = factories.project()
    factories.lead(project, "carla")
    factories.member(project, "x" * 150)
    page = new_person("carla", viewport={"width": 1280, "height": 900})

    for address in ("/projects/tides/members/", "/projects/tides/"):
        page.goto(address)
        assert page.evaluate("document.documentElement.scrollWidth") == 1280
    page.goto("/projects/tides/members/")
    leave = page.get_by_role("button", name="Remove")
    expect(leave).to_be_in_viewport(ratio=1)
    other = page.get_by_role("button", name="Make lead")
    assert leave.bounding_box()["y"] == other.bounding_box()["y"]


def test_the_copied_link_lets_its_holder_join(live_server, new_person):
    factories.lead(factories.project(), "carla")
    page = new_person("carla", permissions=["clipboard-read", "clipboard-write"])
    page.goto("/projects/tides/members/")
    page.get_by_label("User name").fill("ada")
    page.get_by_role("button", name="Add").click()
    # It stands above the form, and is shown once.
    expect(page.locator(".link-once")).to_be_in_viewport()

    page.get_by_role("button", name="Copy the link").click()

    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    copied = page.evaluate("navigator.clipboard.readText()")
    expect(page.get_by_role("button", name="Copy the link")).to_be_visible()
    stranger = new_person(None)
    stranger.goto(copied)
    stranger.get_by_label("Password", exact=True).fill(factories.PASSWORD)
    stranger.get_by_label("Password again").fill(factories.PASSWORD)
    stranger.get_by_role("button", name="Join").click()
    expect(stranger).to_have_url(f"{live_server.url}/projects/tides/")
    assert User.objects.get(username="ada").memberships.get().role == "annotator"


def test_a_link_that_the_browser_refuses_to_copy_is_not_called_copied(live_server, new_person):
    factories.lead(factories.project(), "carla")
    page = new_person("carla")
    page.add_init_script("navigator.clipboard.writeText = () => Promise.reject(new Error('no'))")
    page.goto("/projects/tides/members/")
    page.get_by_label("User name").fill("ada")
    page.get_by_role("button", name="Add").click()

    page.get_by_role("button", name="Copy the link").click()

    expect(page.get_by_role("button", name="Not copied: the browser refused")).to_be_visible()


def test_the_form_for_several_people_opens_by_key_and_invites_them(live_server, new_person):
    for slug in ("tides", "moon"):
        factories.lead(factories.project(slug), "carla")
    page = new_person("carla")
    page.goto("/projects/tides/members/")
    opener = page.locator("#several summary")
    opener.focus()

    page.keyboard.press("Enter")

    expect(page.get_by_role("button", name="Invite", exact=True)).to_be_visible()
    expect(opener).to_be_focused()
    page.get_by_label("People").fill("ada\nben")
    page.get_by_label("Moon").select_option("annotator")
    page.get_by_role("button", name="Invite", exact=True).click()
    invited = page.get_by_role("row").filter(has_text="ben")
    expect(invited.get_by_role("cell").first).to_have_text("Tides, Moon")
