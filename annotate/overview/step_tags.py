"""The next step of a project, for pages on which a step ends."""

from __future__ import annotations

from django import template

from annotate.overview import steps
from annotate.projects.models import Membership

register = template.Library()


@register.simple_tag
def next_step(member: Membership) -> steps.Step | None:
    """Return the first step of the lead's project that is not done; None if all are."""
    return steps.next_step(steps.steps_of(member))
