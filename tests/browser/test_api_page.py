"""The API page in a real browser: it works under our Content-Security-Policy, "Try it out" too."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from annotate.models import Preferences, Token
from tests import factories


def test_trying_out_an_operation_changes_the_readers_preferences(new_person, live_server):
    factories.user("ada")
    page = new_person("ada")
    page.goto("/api/v1/")
    page.locator("#operations-tag-You").click()
    change = page.locator("#operations-You-my_preferences_patch")
    change.locator(".opblock-summary-control").click()
    change.get_by_role("button", name="Try it out").click()
    change.locator("textarea").fill('{"theme": "dark"}')

    with page.expect_response("**/api/v1/me/preferences/") as response:
        change.get_by_role("button", name="Execute").click()

    assert response.value.status == 200
    assert Preferences.objects.get().theme == "dark"


def test_a_token_is_made_by_keyboard_shown_and_ended(new_person, live_server):
    factories.user("ada")
    page = new_person("ada")
    page.goto("/settings/")
    page.get_by_role("link", name="Tokens for programs").click()
    page.get_by_label("Name").fill("Notebook")
    page.get_by_label("Take tasks, rewrite, judge, review and check").check()
    page.keyboard.press("Enter")

    shown = page.get_by_label("Token", exact=True)
    expect(shown).to_have_value(re.compile(r"^rejudge_[\w-]{43}$"))
    assert shown.input_value().startswith(Token.objects.get().start)
    page.get_by_role("button", name=re.compile(r"^End\b")).click()

    expect(page.get_by_text("You have no tokens. Make one below")).to_be_visible()
    assert Token.objects.get().ended_at is not None
