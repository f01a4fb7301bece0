"""A real Chromium in front of the real pages.

A page ends its test with a complaint from the browser if it had one: a script that failed, a file
that was not there, something that the Content-Security-Policy forbade.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

# Playwright keeps an event loop running in this thread, and Django would refuse to query from it.
os.environ.setdefault("DJANGO_ALLOW_ASYNC_UNSAFE", "true")

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.conf import settings
from django.test import Client
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Page,
    expect,
    sync_playwright,
)

from tests.services.chromium import FLAGS, chromium

# A page that a loaded machine draws slowly is waited for; nothing waits this long otherwise.
PATIENCE = 30_000
# How many times slower the processor is made, to try the tests as a slow machine runs them.
SLOWED = float(os.environ.get("REJUDGE_TEST_SLOWED", "1"))
expect.set_options(timeout=PATIENCE)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium, started once."""
    found = chromium()
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(
            executable_path=found.executable, args=FLAGS, env={**os.environ, **found.env}
        )
        yield started
        started.close()


@pytest.fixture
def expected_complaints() -> list[str]:
    """What the browser may complain of in this test: parts of its sentences, to be added to."""
    return []


@pytest.fixture
def new_person(
    browser: Browser, live_server: Any, expected_complaints: list[str]
) -> Iterator[Callable[..., Page]]:
    """Open a page of a person of their own: `new_person("ada")` is signed in, `new_person()` not.

    Options: `at`, the address of another server than the usual one, and those of Playwright's
    `new_context`: color_scheme, viewport, java_script_enabled.
    """
    contexts: list[BrowserContext] = []
    complaints: list[str] = []

    def watch(page: Page) -> None:
        page.on("pageerror", lambda error: complaints.append(f"{page.url}: {error}"))
        page.on("console", _note(complaints))
        if SLOWED > 1:
            session = page.context.new_cdp_session(page)
            session.send("Emulation.setCPUThrottlingRate", {"rate": SLOWED})

    def open_page(username: str | None = None, at: str | None = None, **options: Any) -> Page:
        url = at or live_server.url
        context = browser.new_context(base_url=url, **options)
        contexts.append(context)
        context.set_default_timeout(PATIENCE)
        context.route(lambda wanted: not wanted.startswith(url), _refuse(complaints))
        context.on("page", watch)
        if username is not None:
            sign_in(context, username, url)
        return context.new_page()

    yield open_page
    for context in contexts:
        context.close()
    unexpected = [
        complaint
        for complaint in complaints
        if not any(expected in complaint for expected in expected_complaints)
    ]
    assert unexpected == [], "the browser complained"


@pytest.fixture
def page(new_person: Callable[..., Page]) -> Page:
    """A page that nobody has signed in to."""
    return new_person()


@pytest.fixture
def accessibility() -> Callable[[Page], list[str]]:
    """Say what axe finds wrong with a page: one line per rule and element."""
    axe = Axe()

    def examine(page: Page) -> list[str]:
        return [
            f"{rule['id']}: {element['html'][:120]} ({rule['help']})"
            for rule in axe.run(page).response["violations"]
            for element in rule["nodes"]
        ]

    return examine


def sign_in(context: BrowserContext, username: str, url: str) -> None:
    """Give the context the cookie of a session, as signing in through the page would."""
    from annotate.models import User

    client = Client()
    client.force_login(User.objects.get(username=username))
    name = settings.SESSION_COOKIE_NAME
    context.add_cookies([{"name": name, "value": client.cookies[name].value, "url": url}])


def _refuse(complaints: list[str]) -> Callable[[Any], None]:
    def refuse(route: Any) -> None:
        complaints.append(f"a page wanted {route.request.url} from elsewhere")
        route.abort()

    return refuse


def _note(complaints: list[str]) -> Callable[[ConsoleMessage], None]:
    def note(message: ConsoleMessage) -> None:
        # A form that is refused with a sentence is no fault of the page.
        if message.type == "error" and "status of 422" not in message.text:
            complaints.append(f"{message.location.get('url', '')}: {message.text}")

    return note
