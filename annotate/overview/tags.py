"""Small charts, drawn as SVG, and the next step of a project.

Charts are hidden from screen readers: a table beside each has the same numbers, as have its
tooltips.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from django import template
from django.utils.formats import date_format
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from annotate.overview import steps
from annotate.overview.pace import Day
from annotate.projects.models import Membership

register = template.Library()

# The width of a day and of the bar in it, and the height of the chart.
STEP, BAR, HEIGHT = 10, 8, 100


class HasDays(Protocol):
    """A person with what they did on each day."""

    days: Sequence[Day]


@register.simple_tag
def most_a_day(people: Sequence[HasDays]) -> int:
    """Return the most judgments that anybody made on a day: the scale of several charts."""
    return max((day.made for person in people for day in person.days), default=0)


@register.simple_tag
def busiest(days: Sequence[Day]) -> int:
    """Return the most judgments made on one of these days."""
    return max((day.made for day in days), default=0)


@register.simple_tag
def day_bars(days: Sequence[Day], most: int = 0) -> SafeString:
    """Draw a bar for each day: answers that count, and on top of them those that no longer do.

    `most` is the number at the top of the chart. Without it the tallest bar reaches the top, and
    each bar has a tooltip with its numbers.
    """
    words = not most
    most = most or busiest(days) or 1
    bars = []
    for place, day in enumerate(days):
        if not day.made:
            continue
        counting = HEIGHT * day.counting / most
        other = HEIGHT * day.other / most
        x = place * STEP + (STEP - BAR) / 2
        bars.append(
            (
                format_html("<title>{}</title>", _day_in_words(day)) if words else "",
                _rect("counting", x, HEIGHT - counting, counting),
                _rect("other", x, HEIGHT - counting - other, other),
            )
        )
    return format_html(
        '<svg class="bars" viewBox="0 0 {} {}" preserveAspectRatio="none" aria-hidden="true">'
        '{}<line class="axis" x1="0" x2="{}" y1="{}" y2="{}"/></svg>',
        len(days) * STEP,
        HEIGHT,
        format_html_join("", "<g>{}{}{}</g>", bars),
        len(days) * STEP,
        HEIGHT,
        HEIGHT,
    )


@register.filter
def first_of_weeks(days: Sequence[Day]) -> list[Day]:
    """Return the first of every seven days: those whose date the chart names."""
    return list(days[::7])


def _rect(name: str, x: float, y: float, height: float) -> SafeString | str:
    if not height:
        return ""
    return format_html(
        '<rect class="{}" x="{}" y="{}" width="{}" height="{}"/>',
        name,
        f"{x:g}",
        f"{y:.2f}",
        BAR,
        f"{height:.2f}",
    )


def _day_in_words(day: Day) -> str:
    made = f"{date_format(day.on, 'j M Y')}: {day.made}"
    return f"{made}, {day.other} of them no longer count" if day.other else made


@register.inclusion_tag("overview/_next_step.html")
def next_step(member: Membership) -> dict[str, Any]:
    """Draw a link to the first step of the lead's project that is not done.

    Where others do it and the project has nobody else, the link leads to the members.
    """
    step = steps.next_step(steps.steps_of(member))
    needs_members = step is not None and not step.needs_lead and member.is_alone()
    return {"step": step, "needs_members": needs_members, "project": member.project}
