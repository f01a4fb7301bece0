"""Accessibility violations that axe finds on an open page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

AXE = Axe()
RUN = "(options) => axe.run(options).then((results) => results.violations)"

# WCAG 2.2 AA and axe's best practices; the check of target sizes is off by default.
OPTIONS = {
    "rules": {"target-size": {"enabled": True}},
    "resultTypes": ["violations"],
    "selectors": False,
}
# The rules whose result colours and width can change on a page already checked with every rule.
OF_LOOKS = ("color-contrast", "link-in-text-block", "target-size", "scrollable-region-focusable")


def violations(page: Page, rules: Sequence[str] = ()) -> list[str]:
    """Return a line for each violated rule and element; with `rules`, check only these."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE.axe_script)
    options: dict[str, Any] = dict(OPTIONS)
    if rules:
        # Stylesheets need not be loaded: only the rule on locked orientation reads them.
        options |= {"runOnly": list(rules), "preload": False}
    return [
        f"{rule['id']}: {element['html'][:160]} ({rule['help']}; {element['failureSummary']})"
        for rule in page.evaluate(RUN, options)
        for element in rule["nodes"]
    ]
