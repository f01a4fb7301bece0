"""What the rewrite page draws of its advice."""

from __future__ import annotations

from collections.abc import Iterable

from django import template

from annotate.rewriting.advice import Advice

register = template.Library()


@register.filter
def passed(checks: Iterable[Advice]) -> list[Advice]:
    """The checks that found nothing to look at."""
    return [check for check in checks if check.good]
