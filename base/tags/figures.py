"""Template filters that format times and numbers, and small SVG charts."""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping
from typing import Any

from django import template
from django.contrib.humanize.templatetags.humanize import intcomma
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from base import reader_preferences

register = template.Library()

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


NOTHING = "–"


def browser_of(agent: str) -> tuple[str, str]:
    """Return the browser with its version, and the system; "" for each that is not recognized."""
    named = ((name, pattern.search(agent)) for name, pattern in _BROWSERS)
    browser = next((f"{name} {match[1]}" for name, match in named if match), "")
    return browser, next((name for name, pattern in _SYSTEMS if pattern.search(agent)), "")


@register.filter
def local_time(moment: datetime.datetime | str | None, style: str = "datetime") -> SafeString | str:
    """Render a time; `static/js/time.js` rewrites it in the reader's time zone.

    `style` is datetime, date or time (with seconds). Without script the time is shown in the zone
    that the reader chose, else in UTC, with the zone's name. A string is parsed as ISO 8601, the
    form in stored reports.
    """
    if not moment:
        return NOTHING
    if isinstance(moment, str):
        moment = datetime.datetime.fromisoformat(moment)
    if style not in {"datetime", "date", "time"}:
        raise template.TemplateSyntaxError(f"local_time has no style {style!r}")
    universal = moment.astimezone(datetime.UTC)
    zone = reader_preferences.zone_of_reader() or datetime.UTC
    local = moment.astimezone(zone)
    shown = {
        "datetime": f"{date_format(local, 'j M Y, H:i')} {zone}",
        "date": date_format(local, "j M Y"),
        "time": f"{date_format(local, 'H:i:s')} {zone}",
    }[style]
    return format_html(
        '<time datetime="{}" data-local="{}">{}</time>',
        universal.isoformat(timespec="seconds").replace("+00:00", "Z"),
        style,
        shown,
    )


@register.filter
def since(moment: datetime.datetime | None) -> str:
    """Return how long ago a time was, in whole seconds below a minute, else in minutes."""
    if moment is None:
        return NOTHING
    return duration(round((timezone.now() - moment).total_seconds()))


@register.filter
def browser_name(agent: str) -> str:
    """Return the browser and system of a User-Agent in words; an unrecognized one as it is."""
    browser, system = browser_of(agent)
    if browser and system:
        return f"{browser} on {system}"
    return browser or agent


@register.filter
def duration(seconds: float | None) -> str:
    """Return a duration as an estimate in words: "0.4 s", "8 s", "3 min", "2 h 5 min"."""
    if seconds is None:
        return NOTHING
    if 0 < seconds < 0.95:
        return f"{max(seconds, 0.1):.1f} s"
    whole = max(0, round(seconds))
    if whole < 60:
        return f"{whole} s"
    minutes = round(whole / 60)
    if minutes < 60:
        return f"{minutes} min"
    return f"{minutes // 60} h {minutes % 60} min"


@register.filter
def percent(share: float | None, digits: int = 0) -> str:
    """Format a share between 0 and 1 as "44%"; "100%" and "0%" only for exactly 1 and 0."""
    if share is None:
        return NOTHING
    shown = round(share * 100, digits)
    least = 10**-digits
    if 0 < share < 1:
        shown = min(max(shown, least), 100 - least)
    return f"{shown:.{digits}f}%"


@register.simple_tag
def percent_of(part: int | None, whole: int | None, digits: int = 0) -> str:
    """Format the share of `part` in `whole`; a dash if `whole` is 0."""
    return percent(part / whole if whole and part is not None else None, digits)


@register.filter
def coefficient(figure: Any) -> SafeString | str:
    """Format a coefficient to three decimals, or return the reason why it is undefined.

    `figure` is an `agreement.Coefficient` or the mapping it is stored as: `value`, and `note` for
    the reason.
    """
    if figure is None:
        return NOTHING
    value = field_of(figure, "value")
    if value is None:
        return format_html('<span class="muted">{}</span>', field_of(figure, "note"))
    # A minus sign is as wide as a plus; with a hyphen columns would not align.
    return three_digits(value)


@register.filter
def three_digits(number: float) -> str:
    """Format a number to three decimals with a true minus sign, as coefficients are shown."""
    return true_minus(f"{number:.3f}")


@register.filter
def true_minus(number: str) -> str:
    """Write a number with a true minus sign, which is as wide as a plus; files keep the hyphen."""
    return number.replace("-", "−")


@register.filter
def interval(figure: Any) -> str:
    """Format the 95% interval of a coefficient as "0.412 to 0.561", or return a dash."""
    bounds = bounds_of(figure)
    if bounds is None:
        return NOTHING
    low, high = map(three_digits, bounds)
    return f"{low} to {high}"


@register.filter
def interval_remark(note: str | None) -> str:
    """Return what the note on an interval warns of, in a few words; "" if of nothing.

    >>> interval_remark("95% BCa bootstrap; the value is outside, because resamples are biased")
    'does not contain the value'
    """
    note = note or ""
    if "cannot show the uncertainty" in note:
        return "cannot show the uncertainty"
    if "the value is outside" in note:
        return "does not contain the value"
    return ""


@register.filter
def characters(count: int | None) -> str:
    """Format the length of a document's text, or say that there is no text."""
    if count is None:
        return "no text"
    return f"{count:,} character" if count == 1 else f"{count:,} characters"


def field_of(thing: Any, name: str) -> Any:
    """Read a field of a record, or of the mapping it is stored as."""
    return thing[name] if isinstance(thing, Mapping) else getattr(thing, name)


def bounds_of(figure: Any) -> tuple[float, float] | None:
    """Return the bounds of a coefficient's interval, stored as a pair or as low and high."""
    bounds = field_of(figure, "interval") if figure is not None else None
    if bounds is None:
        return None
    if isinstance(bounds, Mapping):
        return float(bounds["low"]), float(bounds["high"])
    low, high = bounds
    return float(low), float(high)


@register.simple_tag
def stacked_bar(total: int, **parts: int | None) -> SafeString:
    """Draw a bar of `total` with one segment for each named part, in the order given.

    A segment has the class `part-<name>`; the rest is the empty track. Say the same in words beside
    it: the picture is hidden from screen readers.
    """
    stretches, x = [], 0.0
    for name, count in parts.items():
        # Even the smallest part stays visible; its number is shown beside it.
        width = max(100 * count / total, 1.0) if total and count else 0
        if width:
            stretches.append((f"{x:.3f}", f"{width:.3f}", name))
            x += width
    return format_html(
        '<svg class="stack" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">'
        "{}</svg>",
        format_html_join(
            "", '<rect x="{}" y="0" width="{}" height="4" class="part-{}"/>', stretches
        ),
    )


@register.simple_tag
def progress(done: int, total: int | None, label: str, unit: str = "") -> SafeString:
    """Draw a progress bar with the count in words.

    `total`: None while it is not known; `label`: what is counted, for screen readers; `unit`: a
    word after the count.
    """
    if total is None:
        bar = format_html('<progress aria-label="{}"></progress>', label)
        words = intcomma(done)
    else:
        bar = format_html(
            '<progress aria-label="{}" value="{}" max="{}"></progress>', label, done, total or 1
        )
        words = f"{intcomma(done)} of {intcomma(total)}"
    return format_html(
        '<div class="progress">{} <span class="count">{}{}</span></div>',
        bar,
        words,
        f" {unit}" if unit else "",
    )


@register.simple_tag
def share_bar(part: int, whole: int, goal: float = 0.5) -> SafeString:
    """Draw a share as a bar with a tick at its goal; `static/js/rewriting/ticks.js` updates it."""
    width = 100 * part / whole if whole else 0
    return format_html(
        '<svg class="share" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">'
        '<rect class="track" x="0" y="3" width="100" height="4"/>'
        '<rect class="now" x="0" y="3" width="{}" height="4" data-tally-bar/>'
        '<line class="goal" x1="{}" x2="{}" y1="0" y2="10"/></svg>',
        f"{width:.2f}",
        f"{100 * goal:.2f}",
        f"{100 * goal:.2f}",
    )


@register.simple_tag
def interval_plot(figure: Any, low: float = -0.2, high: float = 1.0) -> SafeString | str:
    """Draw a coefficient and its interval on a line from `low` to `high`, with a tick at 0.

    Returns "" if there is no value: the reason is shown beside it.
    """
    value = field_of(figure, "value") if figure is not None else None
    if value is None:
        return ""

    def at(number: float) -> str:
        return f"{100 * (min(max(number, low), high) - low) / (high - low):.2f}"

    bounds = bounds_of(figure)
    span = (
        format_html(
            '<line class="span" x1="{}" x2="{}" y1="8" y2="8"/>', at(bounds[0]), at(bounds[1])
        )
        if bounds
        else ""
    )
    return format_html(
        '<svg class="interval" viewBox="0 0 100 16" preserveAspectRatio="none" aria-hidden="true">'
        '<line class="axis" x1="0" x2="100" y1="8" y2="8"/>'
        '<line class="zero" x1="{}" x2="{}" y1="2" y2="14"/>{}'
        '<line class="point" x1="{}" x2="{}" y1="2" y2="14"/></svg>',
        at(0),
        at(0),
        span,
        at(value),
        at(value),
    )
