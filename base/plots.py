"""Charts as SVG, with numbers on their axes and names on their marks, for pages and for files.

Colours are attributes, so that a downloaded file has them; on a page the stylesheet replaces them
(`components/plot.css`). A table beside each chart has the same values.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

WIDTH, HEIGHT = 760, 250
LEFT, RIGHT, TOP, BOTTOM = 60, 12, 12, 28
# How much more room names need that do not fit beside each other, and the width of a letter.
SLANTED, LETTER = 52, 7.5
# The width of charts of which two stand side by side, and the side of a square one.
HALF, SIDE = 440, 420
# With more marks than this, only some of them have their names below.
MOST_NAMED = 40
MOST_LETTERS = 14
COLOURS = {"counting": "#2f6f4f", "falling": "#a8442a", "other": "#7a7a85"}
INK, LINE = "#55555f", "#d5d5dc"


class Mark(NamedTuple):
    """A bar or a point: its place on both axes, its name, and the page that it links to."""

    x: float
    y: float
    name: str
    words: str
    url: str = ""
    kind: str = "counting"


@dataclass(frozen=True)
class Axis:
    """An axis: its title, and its ticks (position, number) in the order of the positions."""

    title: str
    ticks: Sequence[tuple[float, str]]
    scale: Callable[[float], float] = field(default=float)

    @property
    def ends(self) -> tuple[float, float]:
        """Return the scaled positions of the first and the last tick."""
        return self.scale(self.ticks[0][0]), self.scale(self.ticks[-1][0])


def numbered(low: float, high: float, title: str, about: int = 5) -> Axis:
    """Return an axis with round numbers that covers both values.

    >>> [text for _, text in numbered(0, 0.83, "").ticks]
    ['0', '0.2', '0.4', '0.6', '0.8', '1']
    >>> [text for _, text in numbered(-0.4, 0.5, "").ticks]
    ['−0.4', '−0.2', '0', '0.2', '0.4', '0.6']
    """
    span = (high - low) or 1.0
    rough = span / about
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * n for n in (1, 2, 5, 10) if power * n >= rough * 0.999)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    if first == last:
        last += 1
    digits = max(0, -math.floor(math.log10(step) + 1e-9))
    ticks = [(n * step, _number(n * step, digits)) for n in range(first, last + 1)]
    return Axis(title, ticks)


def _number(value: float, digits: int) -> str:
    text = f"{value:.{digits}f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text == "-0" else text.replace("-", "\N{MINUS SIGN}")


def bar_chart(title: str, marks: Sequence[Mark], y: Axis) -> SafeString:
    """Draw a bar with its name for each mark, from 0 to its value; `x` of a mark does not count."""
    width, height = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM
    at = _positions(y, TOP + height, TOP)
    step = width / max(len(marks), 1)
    fits = max((len(_shortened(mark.name)) for mark in marks), default=0) * LETTER < step
    zero = at(0)
    drawn = []
    every = math.ceil(len(marks) / MOST_NAMED)
    names = []
    for place, mark in enumerate(marks):
        x, top = LEFT + place * step, at(mark.y)
        thick = min(step * 0.8, 48.0)
        bar = format_html(
            '<rect class="{}" fill="{}" x="{}" y="{}" width="{}" height="{}"/>',
            *(mark.kind, COLOURS[mark.kind], f"{x + (step - thick) / 2:.2f}"),
            *(f"{min(top, zero):.2f}", f"{thick:.2f}", f"{max(abs(top - zero), 0.75):.2f}"),
        )
        drawn.append(_linked(mark, bar))
        if place % every == 0:
            names.append((f"{x + step / 2:.2f}", str(TOP + height + 14), _shortened(mark.name)))
    anchor, turn = ("middle", "") if fits else ("end", " rotate(-40)")
    labels = format_html_join(
        "",
        '<text fill="{}" font-size="12" text-anchor="{}" transform="translate({} {}){}">{}</text>',
        ((INK, anchor, x, y, turn, name) for x, y, name in names),
    )
    line = _line("axis", INK, LEFT, zero, WIDTH - RIGHT, zero)
    frame = _y_axis(y, at, WIDTH)
    whole = HEIGHT if fits else HEIGHT + SLANTED
    return _svg(title, WIDTH, whole, [frame, *drawn, line, labels])


def histogram(title: str, marks: Sequence[Mark], x: Axis, y: Axis) -> SafeString:
    """Draw a bar for each mark, which begins at its `x` and ends where the next one begins."""
    width, height = HALF - LEFT - RIGHT, HEIGHT - TOP - 44
    across, up = _positions(x, LEFT, LEFT + width), _positions(y, TOP + height, TOP)
    step = width / max(len(marks), 1)
    drawn = []
    for mark in marks:
        if mark.y:
            bar = format_html(
                '<rect class="{}" fill="{}" x="{}" y="{}" width="{}" height="{}"/>',
                *(mark.kind, COLOURS[mark.kind], f"{across(mark.x) + 1:.2f}"),
                *(f"{up(mark.y):.2f}", f"{step - 2:.2f}", f"{up(0) - up(mark.y):.2f}"),
            )
            drawn.append(_linked(mark, bar))
    parts = [_y_axis(y, up, HALF), *drawn, _x_axis(x, across, TOP + height)]
    return _svg(title, HALF, HEIGHT, parts)


def scatter(title: str, marks: Sequence[Mark], x: Axis, y: Axis) -> SafeString:
    """Draw a point for each mark in a square, whose diagonal goes down from the first corner."""
    right, bottom = SIDE - RIGHT, SIDE - 52
    across, down = _positions(x, LEFT + 8, right - 8), _positions(y, TOP + 8, bottom - 8)
    frame = format_html(
        '<rect class="edge" fill="none" stroke="{}" x="{}" y="{}" width="{}" height="{}"/>',
        *(LINE, LEFT, TOP, right - LEFT, bottom - TOP),
    )
    points = [
        _linked(
            mark,
            format_html(
                '<circle class="{}" fill="{}" fill-opacity="0.75" cx="{}" cy="{}" r="4.5"/>',
                *(mark.kind, COLOURS[mark.kind], f"{across(mark.x):.1f}", f"{down(mark.y):.1f}"),
            ),
        )
        for mark in marks
    ]
    diagonal = _line("axis", INK, LEFT, TOP, right, bottom)
    return _svg(
        title,
        SIDE,
        SIDE,
        [frame, diagonal, _y_axis(y, down, None), _x_axis(x, across, bottom), *points],
    )


def as_file(chart: SafeString) -> str:
    """Return a chart as the content of an SVG file, on white."""
    head, end, rest = chart.partition(">")
    white = '<rect width="100%" height="100%" fill="#ffffff"/>'
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{head}{end}{white}{rest}\n'


def _positions(axis: Axis, first: float, last: float) -> Callable[[float], float]:
    """Return a function from a value to its coordinate."""
    low, high = axis.ends
    span = (high - low) or 1.0
    return lambda value: first + (last - first) * (axis.scale(value) - low) / span


def _y_axis(axis: Axis, at: Callable[[float], float], across: float | None) -> SafeString:
    parts = []
    for value, number in axis.ticks:
        y = at(value)
        if across is not None:
            parts.append((_line("rule", LINE, LEFT, y, across - RIGHT, y),))
        parts.append((_text(LEFT - 6, y + 4, number, "end"),))
    middle = (at(axis.ticks[0][0]) + at(axis.ticks[-1][0])) / 2
    title = format_html(
        '<text class="number" fill="{}" font-size="12" text-anchor="middle" '
        'transform="translate(14 {}) rotate(-90)">{}</text>',
        *(INK, f"{middle:.1f}", axis.title),
    )
    return format_html("{}{}", format_html_join("", "{}", parts), title)


def _x_axis(axis: Axis, at: Callable[[float], float], below: float) -> SafeString:
    numbers = [(_text(at(value), below + 16, number, "middle"),) for value, number in axis.ticks]
    middle = (at(axis.ticks[0][0]) + at(axis.ticks[-1][0])) / 2
    line = _line("axis", INK, at(axis.ticks[0][0]), below, at(axis.ticks[-1][0]), below)
    title = _text(middle, below + 36, axis.title, "middle")
    return format_html("{}{}{}", line, format_html_join("", "{}", numbers), title)


def _text(x: float, y: float, words: str, anchor: str) -> SafeString:
    return format_html(
        '<text class="number" fill="{}" font-size="12" text-anchor="{}" x="{}" y="{}">{}</text>',
        *(INK, anchor, f"{x:.1f}", f"{y:.1f}", words),
    )


def _line(name: str, colour: str, x1: float, y1: float, x2: float, y2: float) -> SafeString:
    return format_html(
        '<line class="{}" stroke="{}" x1="{}" y1="{}" x2="{}" y2="{}"/>',
        *(name, colour, f"{x1:.2f}", f"{y1:.2f}", f"{x2:.2f}", f"{y2:.2f}"),
    )


def _shortened(name: str) -> str:
    return name if len(name) <= MOST_LETTERS else f"{name[: MOST_LETTERS - 1]}…"


def _linked(mark: Mark, drawn: SafeString) -> SafeString:
    if not mark.url:
        return format_html("<g><title>{}</title>{}</g>", mark.words, drawn)
    return format_html(
        '<a href="{}" tabindex="-1"><title>{}</title>{}</a>', mark.url, mark.words, drawn
    )


def _svg(title: str, width: int, height: int, parts: Sequence[SafeString]) -> SafeString:
    return format_html(
        '<svg xmlns="http://www.w3.org/2000/svg" class="chart" viewBox="0 0 {} {}" role="group" '
        'aria-label="{}" font-family="sans-serif"><desc>{}</desc>{}</svg>',
        *(width, height, title, f"{title}. The table below the chart has the same values."),
        format_html_join("", "{}", ((part,) for part in parts)),
    )
