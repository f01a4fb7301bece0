"""Template tags that draw the charts of an evaluation as SVG.

Each chart is hidden from screen readers and from the Tab key, because a table beside it has the
same values and links.
"""

from __future__ import annotations

from collections.abc import Sequence

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from exporters.evaluations.page import Bar, Bin, Move

register = template.Library()

HEIGHT = 100
STEP, BAR = 10, 8
# The side of the square of ranks, and the margin around it.
SIDE, MARGIN = 300, 4


@register.simple_tag
def query_chart(bars: Sequence[Bar]) -> SafeString:
    """Draw a bar for each topic, upwards if its value is above 0, each a link to its query."""
    top = max((bar.value for bar in bars), default=0)
    bottom = min((bar.value for bar in bars), default=0)
    top, bottom = max(top, 0.0), min(bottom, 0.0)
    scale = HEIGHT / ((top - bottom) or 1)
    # If every value is 0, the line and its bars are in the middle of the figure.
    zero = top * scale if top or bottom else HEIGHT / 2
    drawn = []
    for place, bar in enumerate(bars):
        height = max(abs(bar.value) * scale, 0.5)
        y = zero - height if bar.value > 0 else zero
        name = "counting" if bar.value >= 0 else "falling"
        rect = _rect(name, place * STEP + 1, y, BAR, height)
        drawn.append((_link(bar.url, format_html("{}: {}", bar.label, f"{bar.value:+.3f}"), rect),))
    width = max(len(bars), 1) * STEP
    return format_html(
        '<svg class="bars" viewBox="0 0 {} {}" preserveAspectRatio="none" aria-hidden="true">{}'
        '<line class="axis" x1="0" x2="{}" y1="{}" y2="{}"/></svg>',
        *(width, HEIGHT, format_html_join("", "{}", drawn), width, f"{zero:.2f}", f"{zero:.2f}"),
    )


@register.simple_tag
def histogram_chart(bins: Sequence[Bin]) -> SafeString:
    """Draw a bar for each bin, whose height is its number of topics, and a line at 0."""
    most = max((len(one.topics) for one in bins), default=0) or 1
    drawn = []
    for place, one in enumerate(bins):
        if one.topics:
            height = HEIGHT * len(one.topics) / most
            name = "counting" if one.low >= 0 else "falling"
            words = f"{one.low:+.1f} to {one.high:+.1f}: {len(one.topics):,}"
            rect = _rect(name, place * STEP + 1, HEIGHT - height, BAR, height)
            drawn.append((format_html("<g><title>{}</title>{}</g>", words, rect),))
    width = len(bins) * STEP
    return format_html(
        '<svg class="bars" viewBox="0 0 {} {}" preserveAspectRatio="none" aria-hidden="true">{}'
        '<line class="axis" x1="0" x2="{}" y1="{}" y2="{}"/>'
        '<line class="axis" x1="{}" x2="{}" y1="0" y2="{}"/></svg>',
        *(width, HEIGHT, format_html_join("", "{}", drawn), width, HEIGHT, HEIGHT),
        *(width / 2, width / 2, HEIGHT),
    )


@register.simple_tag
def rank_chart(moves: Sequence[Move]) -> SafeString:
    """Draw a point for each changed document: the original rank across, the new rank down.

    Both axes are square roots of ranks. A document below the line falls, as it should.
    """
    most = max((max(move.original, move.changed) for move in moves), default=1)
    drawn = []
    for move in moves:
        words = f"{move.document} ({move.topic}): {move.original} → {move.changed}"
        name = "counting" if move.changed > move.original else "falling"
        if move.changed == move.original:
            name = "other"
        point = format_html(
            '<circle class="{}" cx="{}" cy="{}" r="4"/>',
            *(name, _coordinate(move.original, most), _coordinate(move.changed, most)),
        )
        drawn.append((_link(move.url, words, point),))
    size = SIDE + 2 * MARGIN
    return format_html(
        '<svg class="ranks" viewBox="0 0 {} {}" aria-hidden="true">'
        '<rect class="frame" x="{}" y="{}" width="{}" height="{}"/>'
        '<line class="axis" x1="{}" y1="{}" x2="{}" y2="{}"/>{}</svg>',
        *(size, size, MARGIN, MARGIN, SIDE, SIDE, MARGIN, MARGIN, size - MARGIN, size - MARGIN),
        format_html_join("", "{}", drawn),
    )


def _coordinate(rank: int, most: int) -> str:
    """Return the coordinate of a rank: the first ranks, which count most, get the most space."""
    whole = most**0.5 - 1 or 1.0
    return f"{MARGIN + 8 + (SIDE - 16) * (rank**0.5 - 1) / whole:.1f}"


def _rect(name: str, x: float, y: float, width: float, height: float) -> SafeString:
    return format_html(
        '<rect class="{}" x="{}" y="{}" width="{}" height="{}"/>',
        *(name, f"{x:g}", f"{y:.2f}", f"{width:g}", f"{height:.2f}"),
    )


def _link(url: str, words: str, drawn: SafeString) -> SafeString:
    if not url:
        return format_html("<g><title>{}</title>{}</g>", words, drawn)
    return format_html('<a href="{}" tabindex="-1"><title>{}</title>{}</a>', url, words, drawn)
