from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests import factories


@pytest.fixture(autouse=True)
def ada(live_server):
    return factories.user("ada")


def test_a_person_signs_in_by_keyboard_and_sees_home(page, live_server):
    page.goto("/")
    page.get_by_label("User name or mail address").focus()
    page.keyboard.type("ada")
    page.keyboard.press("Tab")
    page.keyboard.type(factories.PASSWORD)
    page.keyboard.press("Enter")

    expect(page).to_have_url(f"{live_server.url}/")
    expect(page.get_by_role("main")).to_be_visible()


def test_a_wrong_password_says_so_and_signs_nobody_in(page):
    page.goto("/")
    page.get_by_label("User name or mail address").fill("ada")
    page.get_by_label("Password").fill("not hers")
    page.keyboard.press("Enter")

    expect(page.get_by_text("The user name or the password is wrong")).to_be_visible()
    assert "sessionid" not in {cookie["name"] for cookie in page.context.cookies()}
