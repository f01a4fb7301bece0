"""Waiting for what people wait for: a page that listens to keys, a line that says "Saved"."""

from __future__ import annotations

import time
from collections.abc import Callable

from playwright.sync_api import Page, expect

from annotate.models import Document


def listens(page: Page) -> None:
    """Wait until the page takes keys: its script has read what this browser stores."""
    expect(page.locator("[data-keys-wait]")).to_have_count(0)


def saved(page: Page, words: str = "Saved") -> None:
    """Wait until every answer given on the page is on the server."""
    expect(page.locator(".save-line[data-state=saved]")).to_contain_text(words)


def until(page: Page, condition: Callable[[], object], what: str, seconds: float = 20) -> None:
    """Return as soon as `condition()` is true; fail with `what` if it does not become true.

    The page's requests pass through this process (`new_person` checks them), so it must not sleep
    meanwhile: Playwright does the waiting.
    """
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"waited in vain for {what}"
        page.wait_for_timeout(20)


def holds(page: Page, script: str) -> None:
    """Wait until a script returns true.

    `Page.wait_for_function` would poll by `eval`, which our Content-Security-Policy forbids.
    """
    until(page, lambda: page.evaluate(script), script)


def shows(page: Page, doc_id: str) -> None:
    """Wait until the page shows this document. Its id may be hidden."""
    key = Document.objects.get(doc_id=doc_id).pk
    expect(page.locator(f".document[data-document='{key}']").first).to_be_visible()


def document_on(page: Page) -> str:
    """Return the id of the document that the page shows, even if the id is hidden."""
    key = page.locator(".document").first.get_attribute("data-document") or ""
    return Document.objects.get(pk=key).doc_id


def hides(page: Page, doc_id: str) -> None:
    """Wait until the page no longer shows this document."""
    key = Document.objects.get(doc_id=doc_id).pk
    expect(page.locator(f".document[data-document='{key}']")).to_have_count(0)


def press(page: Page, key: str) -> None:
    """Press a key that leads to another page."""
    with page.expect_navigation():
        page.keyboard.press(key)
