"""The documentation in a browser: search, keyboard, dark theme, under the security policy."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.axe import violations
from tests.config.conftest import documentation

__all__ = ["documentation"]


@pytest.fixture
def help_page(documentation, settings, new_person, live_server):
    """A page of a person who is not signed in, at the documentation's start."""
    settings.HELP = documentation

    def open_page(**options):
        page = new_person(**options)
        page.goto(f"{live_server.url}/help/")
        return page

    return open_page


def test_a_word_is_found_from_any_page_by_keyboard(help_page):
    page = help_page()

    page.keyboard.press("/")
    page.keyboard.type("Krippendorff")
    page.keyboard.press("Enter")

    expect(page.locator("#properdocs-search-results a").first).to_be_visible()
    expect(page.locator("#properdocs-search-results")).to_contain_text("Krippendorff")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_documentation_has_no_accessibility_violations(help_page, scheme):
    page = help_page(color_scheme=scheme)
    background = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")

    assert violations(page) == []
    page.get_by_role("link", name="Ten minutes from nothing to qrels").first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Ten minutes from nothing to qrels")
    assert violations(page) == []
    assert ("0.178" in background) == (scheme == "dark")
