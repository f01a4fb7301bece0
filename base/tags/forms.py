"""Filters for the fields of forms."""

from __future__ import annotations

from itertools import groupby
from typing import Any

from django.forms import BoundField
from django.forms.boundfield import BoundWidget

from base.tags.library import register


@register.filter
def choice_groups(field: BoundField) -> list[tuple[Any, list[BoundWidget]]]:
    """Return the choices of a field in their groups, each with its heading ("" without groups)."""
    grouped: Any = field.field
    return [
        ("" if number is None else list(grouped.choices)[number][0], list(choices))
        for number, choices in groupby(field, key=_group_number)
    ]


def _group_number(choice: BoundWidget) -> int | None:
    # Django numbers a choice "3", and a choice in a group "0_3".
    group, in_group, _ = str(choice.data["index"]).partition("_")
    return int(group) if in_group else None
