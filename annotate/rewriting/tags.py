"""Template filters for the advice on the rewrite page."""

from __future__ import annotations

from collections.abc import Iterable

from django import template

from annotate.rewriting.advice import Advice

register = template.Library()


@register.filter
def passed(checks: Iterable[Advice]) -> list[Advice]:
    """Return the checks that passed."""
    return [check for check in checks if check.good]
