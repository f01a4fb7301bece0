"""Read the browser and operating system from a User-Agent. Pure."""

from __future__ import annotations

import re

# The first match counts: all browsers call themselves Mozilla, and most also Safari.
_BROWSERS = (
    ("Edge", re.compile(r"\bEdgA?(?:iOS)?/(\d+)")),
    ("Opera", re.compile(r"\bOPR/(\d+)")),
    ("Firefox", re.compile(r"\b(?:Firefox|FxiOS)/(\d+)")),
    ("Chrome", re.compile(r"\b(?:(?:Headless)?Chrome|CriOS)/(\d+)")),
    ("Safari", re.compile(r"\bVersion/(\d++)[\d.]*+ (?:Mobile/\w+ )?Safari/")),
)
_SYSTEMS = (
    ("iPhone", re.compile(r"\biPhone\b")),
    ("iPad", re.compile(r"\biPad\b")),
    ("Android", re.compile(r"\bAndroid\b")),
    ("Windows", re.compile(r"\bWindows\b")),
    ("macOS", re.compile(r"\bMac OS X\b")),
    ("ChromeOS", re.compile(r"\bCrOS\b")),
    ("Linux", re.compile(r"\bLinux\b")),
)


def browser_of(agent: str) -> tuple[str, str]:
    """Return the browser with its version, and the system; "" for each that is not recognized."""
    named = ((name, pattern.search(agent)) for name, pattern in _BROWSERS)
    browser = next((f"{name} {match[1]}" for name, match in named if match), "")
    return browser, next((name for name, pattern in _SYSTEMS if pattern.search(agent)), "")
