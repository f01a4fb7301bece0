"""A real Chromium that opens the real pages.

A test fails if the browser complained about a page: a script that failed, a missing file, something
that the Content-Security-Policy forbids.
"""

from __future__ import annotations

import os
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple
from unittest import mock
from urllib.parse import urlsplit

# Playwright runs an event loop in this thread, from which Django would refuse to query.
os.environ.setdefault("DJANGO_ALLOW_ASYNC_UNSAFE", "true")

import pytest
from django.conf import settings
from django.core.signals import request_finished, request_started
from django.test import Client
from playwright.sync_api import (
    Browser,
    BrowserContext,
    CDPSession,
    ConsoleMessage,
    Page,
    Request,
    expect,
    sync_playwright,
)

from tests.browser.axe import violations
from tests.services.chromium import FLAGS, chromium
from tests.services.static import RememberedAddresses, RememberedFiles

# How long to wait for a page on a busy machine, in milliseconds; usually no wait is this long.
PATIENCE = 30_000
# By which factor the browser's processor is slowed, to run the tests as on a slow machine.
SLOWED = float(os.environ.get("REJUDGE_TEST_SLOWED", "1"))
expect.set_options(timeout=PATIENCE)


# The browser resolves no other host name, so pages can load nothing from elsewhere.
HERE = {"localhost", "127.0.0.1"}
ONLY_HERE = f"--host-resolver-rules=MAP * ~NOTFOUND, {', '.join(f'EXCLUDE {one}' for one in HERE)}"
# The data of a person in a browser. Static files stay cached: they are the same for everybody.
LEFT_BEHIND = "cookies,file_systems,indexeddb,local_storage,service_workers,cache_storage"


@pytest.fixture(scope="session", autouse=True)
def static_files() -> Iterator[None]:
    """Let every server of these tests serve static files from memory, joined as in production."""
    name = "django.contrib.staticfiles.handlers.StaticFilesHandler"
    with (
        mock.patch(name, RememberedFiles),
        mock.patch.object(RememberedAddresses, "joins_files", True, create=True),
    ):
        yield


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium, started once."""
    found = chromium()
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(
            executable_path=found.executable,
            args=[*FLAGS, ONLY_HERE],
            env={**os.environ, **found.env},
        )
        yield started
        started.close()


class OpenRequests:
    """The number of requests that the servers of this process are answering."""

    def __init__(self) -> None:
        self.count = 0
        self.changed = threading.Condition()

    def begin(self, **_signal: Any) -> None:
        with self.changed:
            self.count += 1

    def end(self, **_signal: Any) -> None:
        with self.changed:
            self.count -= 1
            self.changed.notify_all()

    def wait_for_none(self) -> None:
        """Return when the last request is answered, at the latest after `PATIENCE`."""
        with self.changed:
            answered = self.changed.wait_for(lambda: self.count <= 0, PATIENCE / 1000)
        assert answered, f"{self.count} requests are still being answered"


@pytest.fixture(autouse=True)
def open_requests() -> Iterator[OpenRequests]:
    """Count the requests of this test."""
    requests = OpenRequests()
    request_started.connect(requests.begin)
    request_finished.connect(requests.end)
    yield requests
    request_started.disconnect(requests.begin)
    request_finished.disconnect(requests.end)


class ReusableContext(NamedTuple):
    """A browser context, and the session of its blank page, which clears it after a test."""

    context: BrowserContext
    blank: CDPSession


@pytest.fixture(scope="session")
def used_contexts() -> dict[str, list[ReusableContext]]:
    """Emptied browser contexts of earlier tests, by their options.

    A later test with the same options reuses one, with static files already in its cache.
    """
    return defaultdict(list)


@pytest.fixture
def expected_complaints() -> list[str]:
    """Parts of complaints that this test expects from the browser; tests add to the list."""
    return []


@pytest.fixture
def new_person(
    browser: Browser,
    live_server: Any,
    expected_complaints: list[str],
    used_contexts: dict[str, list[ReusableContext]],
    open_requests: OpenRequests,
) -> Iterator[Callable[..., Page]]:
    """A function that opens a page in its own browser context.

    `new_person("ada")` is signed in, `new_person()` is not. Options: `at`, the address of another
    server than the usual one, and those of Playwright's `new_context`: color_scheme, viewport,
    java_script_enabled.
    """
    reusable: list[tuple[str, ReusableContext]] = []
    others: list[BrowserContext] = []
    complaints: list[str] = []
    listeners = {"page": _watch(complaints), "requestfailed": _refuse(complaints)}

    def open_page(username: str | None = None, at: str | None = None, **options: Any) -> Page:
        url = at or live_server.url
        if at is None:
            kind = repr(sorted(options.items()))
            if not used_contexts[kind]:
                used_contexts[kind].append(_new_context(browser, url, options))
            reusable.append((kind, used_contexts[kind].pop()))
            context = reusable[-1][1].context
        else:
            context = browser.new_context(base_url=url, **options)
            others.append(context)
        context.set_default_timeout(PATIENCE)
        for event, listener in listeners.items():
            context.on(event, listener)  # type: ignore[call-overload]
        if username is not None:
            sign_in(context, username, url)
        return context.new_page()

    yield open_page
    for context in others:
        context.close()
    for _kind, used in reusable:
        # Complaints that are on their way arrive with the answer.
        used.context.cookies()
    # Complaints of pages that lose their session below are not faults.
    unexpected = [
        complaint
        for complaint in complaints
        if not any(expected in complaint for expected in expected_complaints)
    ]
    for kind, used in reusable:
        for event, listener in listeners.items():
            used.context.remove_listener(event, listener)
        _empty(used, live_server.url, open_requests)
        used_contexts[kind].append(used)
    assert unexpected == [], "the browser complained"


@pytest.fixture
def page(new_person: Callable[..., Page]) -> Page:
    """A page that nobody has signed in to."""
    return new_person()


@pytest.fixture
def accessibility() -> Callable[[Page], list[str]]:
    """A function that returns the violations axe finds on a page: one line per rule and element."""
    return violations


def sign_in(context: BrowserContext, username: str, url: str) -> None:
    """Give the context a session cookie, as signing in through the page would."""
    from annotate.models import User

    client = Client()
    client.force_login(User.objects.get(username=username))
    name = settings.SESSION_COOKIE_NAME
    context.add_cookies([{"name": name, "value": client.cookies[name].value, "url": url}])


def _new_context(browser: Browser, url: str, options: dict[str, Any]) -> ReusableContext:
    context = browser.new_context(base_url=url, **options)
    return ReusableContext(context, context.new_cdp_session(context.new_page()))


def _empty(used: ReusableContext, url: str, open_requests: OpenRequests) -> None:
    """Close the pages of a context and clear the data that a person left in it."""
    # First: a last request of a closing page must not carry the session.
    used.context.clear_cookies()
    used.context.unroute_all()
    used.context.set_offline(False)
    _blank, *others = used.context.pages
    for page in others:
        page.close()
    # An answer that came during the next test would delete that test's cookie, because the session
    # it belongs to is gone.
    open_requests.wait_for_none()
    what = {"origin": url, "storageTypes": LEFT_BEHIND}
    used.blank.send("Storage.clearDataForOrigin", what)


def _watch(complaints: list[str]) -> Callable[[Page], None]:
    def watch(page: Page) -> None:
        page.on("pageerror", lambda error: complaints.append(f"{page.url}: {error}"))
        page.on("console", _note(complaints))
        if SLOWED > 1:
            session = page.context.new_cdp_session(page)
            session.send("Emulation.setCPUThrottlingRate", {"rate": SLOWED})

    return watch


def _refuse(complaints: list[str]) -> Callable[[Request], None]:
    def refuse(request: Request) -> None:
        if urlsplit(request.url).hostname not in HERE | {None}:
            complaints.append(f"a page wanted {request.url} from elsewhere")

    return refuse


def _note(complaints: list[str]) -> Callable[[ConsoleMessage], None]:
    def note(message: ConsoleMessage) -> None:
        # A form that is refused with an error message is not a fault of the page.
        if message.type == "error" and "status of 422" not in message.text:
            complaints.append(f"{message.location.get('url', '')}: {message.text}")

    return note
