"""Tags that draw grades: a badge with the name, and a tone by the position on the scale."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Protocol

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from base.tags.figures import NOTHING

register = template.Library()

TONES = 5


class GradeLike(Protocol):
    """A grade of a project: its value and its name."""

    value: int
    name: str


@register.simple_tag
def grade_badge(value: int | None, grades: Sequence[GradeLike]) -> SafeString | str:
    """Draw a relevance with shape, colour and word; `grades` are all the project's, lowest first.

    A value that is not a grade of the project (qrels contain -2 to 16) is shown as a number with a
    different shape.
    """
    if value is None:
        return NOTHING
    name = next((grade.name for grade in grades if grade.value == value), "")
    return format_html(
        '<span class="grade {}">{} <span class="grade-value">{}</span>{}</span>',
        grade_tone(value, grades),
        grade_mark(value, grades),
        value,
        format_html(" <span>{}</span>", name) if name else "",
    )


@register.simple_tag
def grade_tone(value: int, grades: Sequence[GradeLike]) -> str:
    """Return the CSS class of a grade's colour: five tones, spread over the project's grades."""
    share = _share(value, grades)
    return "tone-none" if share is None else f"tone-{round(share * (TONES - 1))}"


@register.simple_tag
def grade_mark(value: int, grades: Sequence[GradeLike]) -> SafeString:
    """Draw a grade's shape: a ring filled by its rank; a diamond if it is not a project grade."""
    share = _share(value, grades)
    if share is None:
        drawn = format_html(
            '<path d="{}" fill="none" stroke="currentColor" stroke-width="1.5"/>',
            "M8 2l6 6-6 6-6-6z",
        )
    elif share == 1:
        drawn = format_html('<circle cx="8" cy="8" r="{}" fill="currentColor"/>', 7)
    else:
        drawn = format_html(
            '<circle cx="8" cy="8" r="6.1" fill="none" stroke="currentColor" stroke-width="1.8"/>'
            "{}",
            format_html('<path d="{}" fill="currentColor"/>', _filled(share)) if share else "",
        )
    return format_html(
        '<svg class="grade-mark" viewBox="0 0 16 16" aria-hidden="true">{}</svg>', drawn
    )


def _share(value: int, grades: Sequence[GradeLike]) -> float | None:
    """Return a value's position on the project's scale, 0 to 1; None if it is not a grade."""
    values = sorted(grade.value for grade in grades)
    if value not in values:
        return None
    return values.index(value) / (len(values) - 1) if len(values) > 1 else 1.0


def _filled(share: float) -> str:
    """Return the path of a disc of radius 6 around (8, 8), filled to a share of its height."""
    level = 6 * (1 - 2 * share)
    half = math.sqrt(36 - level * level)
    large = 1 if share > 0.5 else 0
    return f"M{8 - half:.2f} {8 + level:.2f}A6 6 0 {large} 0 {8 + half:.2f} {8 + level:.2f}z"
