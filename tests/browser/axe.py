"""What axe finds wrong with an opened page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

AXE = Axe()
RUN = "(options) => axe.run(options).then((results) => results.violations)"

# WCAG 2.2 AA and what axe thinks good besides; the size of targets is off unless asked for.
OPTIONS = {
    "rules": {"target-size": {"enabled": True}},
    "resultTypes": ["violations"],
    "selectors": False,
}
# What other colours and another width can change in a page that was looked at with every rule.
OF_LOOKS = ("color-contrast", "link-in-text-block", "target-size", "scrollable-region-focusable")


def violations(page: Page, rules: Sequence[str] = ()) -> list[str]:
    """Return a line for each rule and element; with `rules`, look at these alone."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE.axe_script)
    options: dict[str, Any] = dict(OPTIONS)
    if rules:
        # Only the rule on a locked orientation reads the stylesheets themselves.
        options |= {"runOnly": list(rules), "preload": False}
    return [
        f"{rule['id']}: {element['html'][:160]} ({rule['help']})"
        for rule in page.evaluate(RUN, options)
        for element in rule["nodes"]
    ]
