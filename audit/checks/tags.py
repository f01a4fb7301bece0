"""Template filters of label checks: shares, modes and replies."""

from __future__ import annotations

from django import template

from audit.checks.figures import format_upper_bound
from audit.checks.models import describe_replies
from audit.checks.queue import MODES
from base.tags.figures import NOTHING

register = template.Library()


@register.filter
def at_most(share: float | None) -> str:
    """Format a bound in percent, rounded up: "2.0%"."""
    return NOTHING if share is None else f"{format_upper_bound(share)}%"


@register.filter
def chosen_bound(share: float) -> str:
    """Format the bound that a reader chose as it is: "2%", "0.25%"."""
    return f"{100 * share:g}%"


@register.filter
def mode_name(side: str) -> str:
    """Return the mode of a narrative side, in the paper's words."""
    return MODES.get(side, "")


@register.filter
def replies_in_words(replies: str | None) -> str:
    """Return one person's answers to the two questions in words; `with_checks` has "yes no"."""
    return describe_replies(*(replies or "").split())


@register.filter
def share_interval(interval: tuple[float, float] | None) -> str:
    """Format an interval of shares as "0.0 to 2.4%"."""
    if interval is None:
        return NOTHING
    low, high = (f"{100 * bound:.1f}" for bound in interval)
    return f"{low} to {high}%"
