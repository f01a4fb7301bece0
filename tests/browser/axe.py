"""Accessibility violations that axe finds on an open page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

# Reading a colour takes axe a third of its time, and a page has few colours.
REMEMBER_COLORS = """
(({ prototype }) => {
    const read = prototype.parseString;
    const known = new Map();
    prototype.parseString = function (text) {
        if (known.has(text)) return Object.assign(this, known.get(text));
        read.call(this, text);
        known.set(text, { r: this.r, g: this.g, b: this.b, alpha: this.alpha });
        return this;
    };
})(axe.commons.color.Color);
"""
SCRIPT = f"{Axe().axe_script};{REMEMBER_COLORS}"
RUN = "(options) => axe.run(options).then((results) => results.violations)"

# WCAG 2.2 AA and axe's best practices; the check of target sizes is off by default.
OPTIONS = {
    "rules": {"target-size": {"enabled": True}},
    # Stylesheets need not be fetched: only a rule that axe calls experimental reads them.
    "preload": {"assets": ["media"]},
    "resultTypes": ["violations"],
    "selectors": False,
}
# The rules whose result colours and width can change on a page already checked with every rule.
OF_LOOKS = ("color-contrast", "link-in-text-block", "target-size", "scrollable-region-focusable")


def bring_axe(page: Page) -> None:
    """Let axe come with every page that is opened from now on; sending it to each takes longer."""
    page.add_init_script(SCRIPT)


def violations(page: Page, rules: Sequence[str] = ()) -> list[str]:
    """Return a line for each violated rule and element; with `rules`, check only these."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(SCRIPT)
    options: dict[str, Any] = dict(OPTIONS)
    if rules:
        options |= {"runOnly": list(rules), "preload": False}
    return [
        f"{rule['id']}: {element['html'][:160]} ({rule['help']}; {element['failureSummary']})"
        for rule in page.evaluate(RUN, options)
        for element in rule["nodes"]
    ]
