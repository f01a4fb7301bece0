"""Small SVG charts; the text beside them says the same in words."""

from __future__ import annotations

from typing import Any

from django.contrib.humanize.templatetags.humanize import intcomma
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from base.tags.figures import bounds_of, field_of
from base.tags.library import register


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
