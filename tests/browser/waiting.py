"""Waiting for rows that a page is about to save."""

from __future__ import annotations

import time
from collections.abc import Callable

from playwright.sync_api import Page


def until(page: Page, condition: Callable[[], object], what: str, seconds: float = 20) -> None:
    """Return as soon as `condition()` holds; fail with `what` if it does not.

    The page's requests pass through this process (`new_person` looks where they go), so it must
    not sleep meanwhile: Playwright does the waiting.
    """
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"waited in vain for {what}"
        page.wait_for_timeout(20)
