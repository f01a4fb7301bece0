"""What people wait for without a thought: keys that are heard, a line that says it is saved."""

from __future__ import annotations

import time
from collections.abc import Callable

from playwright.sync_api import Page, expect

from annotate.models import Document


def listens(page: Page) -> None:
    """Wait until the page takes keys: its own script has found what this browser keeps."""
    expect(page.locator("[data-keys-wait]")).to_have_count(0)


def saved(page: Page, words: str = "Saved") -> None:
    """Wait until all that was said on the page is on the server, the last of it too."""
    expect(page.locator(".save-line[data-state=saved]")).to_contain_text(words)


def until(page: Page, condition: Callable[[], object], what: str, seconds: float = 20) -> None:
    """Return as soon as `condition()` holds; fail with `what` if it does not.

    The page's requests pass through this process (`new_person` looks where they go), so it must
    not sleep meanwhile: Playwright does the waiting.
    """
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"waited in vain for {what}"
        page.wait_for_timeout(20)


def holds(page: Page, script: str) -> None:
    """Wait until a script says true. `Page.wait_for_function` asks again by `eval`, which the
    Content-Security-Policy of our pages forbids.
    """
    until(page, lambda: page.evaluate(script), script)


def shows(page: Page, doc_id: str) -> None:
    """Wait until this document is before the reader. Its id may be hidden from them."""
    key = Document.objects.get(doc_id=doc_id).pk
    expect(page.locator(f".document[data-document='{key}']").first).to_be_visible()


def document_on(page: Page) -> str:
    """The id of the document before the reader, be it hidden from them."""
    key = page.locator(".document").first.get_attribute("data-document") or ""
    return Document.objects.get(pk=key).doc_id


def hides(page: Page, doc_id: str) -> None:
    """Wait until this document is no longer before the reader."""
    key = Document.objects.get(doc_id=doc_id).pk
    expect(page.locator(f".document[data-document='{key}']")).to_have_count(0)
