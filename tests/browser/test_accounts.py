"""Pages about accounts, in a real browser: each is accessible."""

from __future__ import annotations

import re
import time

import pytest
from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value
from django.core.cache import cache
from django.urls import reverse
from playwright.sync_api import expect

from annotate.people.invitations import invite
from tests import factories
from tests.browser.axe import violations
from tests.browser.test_accessibility import GUARDED_PAGES, OVERFLOW, SETTLE, SIGN_IN_PAGES

# Opened without their precondition, they redirect to another of these pages.
REDIRECTING_PAGES = {
    "socialaccount_signup",
    "mfa_authenticate",
    "openid_connect_login",
    "annotate:people",
}


@pytest.fixture(autouse=True)
def ada(live_server):
    cache.clear()
    return factories.user("ada")


def check_page(page, problems):
    """Check the page as it is now in both themes and at three widths."""
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        page.evaluate(SETTLE, scheme)
        problems += [f"{page.url} {scheme}: {line}" for line in violations(page)]
    for width in (1280, 800, 640):
        page.set_viewport_size({"width": width, "height": 800})
        if over := page.evaluate(OVERFLOW):
            problems.append(f"{page.url} at {width}: {over} px too wide")


def test_pages_before_signing_in_are_accessible(page, expected_complaints):
    expected_complaints.append("status of 4")
    problems: list[str] = []
    link = invite(role="lead", by=factories.lead(factories.project()))

    for name in sorted(SIGN_IN_PAGES - REDIRECTING_PAGES):
        page.goto(reverse(name))
        check_page(page, problems)
    for address in (f"/invitations/{link.token}/", "/invitations/nonsense/"):
        page.goto(address)
        check_page(page, problems)

    assert problems == []


def sign_in(page):
    page.goto("/accounts/login/")
    page.get_by_label("User name or mail address").fill("ada")
    page.get_by_label("Password").fill(factories.PASSWORD)
    page.keyboard.press("Enter")


def test_an_app_is_set_up_by_its_qr_code_and_required_from_then_on(page, live_server, new_person):
    problems: list[str] = []
    sign_in(page)
    expect(page).to_have_url(f"{live_server.url}/")
    page.goto("/accounts/")
    page.get_by_role("link", name=re.compile("Set up ?: Second factor")).click()
    page.get_by_role("link", name="Set up an app").click()
    expect(page.get_by_role("heading", name="Confirm it is you")).to_be_visible()
    page.get_by_label("Password").fill(factories.PASSWORD)
    page.keyboard.press("Enter")

    picture = page.get_by_role("img", name="The secret as a picture for your app")
    expect(picture).to_be_visible()
    assert picture.evaluate("async (one) => { await one.decode(); return one.naturalWidth; }") > 100
    check_page(page, problems)
    secret = page.locator("main code").inner_text().replace(" ", "")
    page.get_by_label("Code that the app shows").fill(code(secret))
    page.keyboard.press("Enter")
    expect(page.get_by_text("10 of 10 are left.")).to_be_visible()
    for name in sorted(GUARDED_PAGES - REDIRECTING_PAGES - {"mfa_activate_totp"}):
        page.goto(reverse(name))
        check_page(page, problems)
    for name in ("mfa_index", "annotate:account", "annotate:sessions"):
        page.goto(reverse(name))
        check_page(page, problems)

    other = new_person(None)
    sign_in(other)
    expect(other.get_by_role("heading", name="One more step")).to_be_visible()
    check_page(other, problems)
    expect(other.get_by_label("Code")).to_be_focused()
    other.keyboard.type(code(secret))
    other.keyboard.press("Enter")
    expect(other).to_have_url(f"{live_server.url}/")
    assert problems == []


def code(secret):
    return format_hotp_value(hotp_value(secret, int(time.time()) // 30))


def test_an_administrator_uses_the_page_of_people(new_person, ada):
    problems: list[str] = []
    root = factories.user("root")
    root.is_superuser = root.is_staff = True
    root.save()
    page = new_person("root", viewport={"width": 1280, "height": 800})
    page.goto("/people/")
    check_page(page, problems)

    page.get_by_role("button", name=re.compile("Close ?: ada")).click()

    expect(page.get_by_text("The account of ada is closed.")).to_be_visible()
    page.get_by_role("button", name=re.compile("Reopen ?: ada")).click()
    expect(page.get_by_text("ada can sign in again.")).to_be_visible()
    page.get_by_role("button", name="Make the link").click()
    expect(page.get_by_text("Pass it on now")).to_be_visible()
    check_page(page, problems)
    assert problems == []
