"""Template tags of a project's navigation."""

from __future__ import annotations

from typing import Any

from django import template
from django.template.context import Context

from annotate.projects import navigation

register = template.Library()


@register.inclusion_tag("components/_rail.html", takes_context=True)
def rail(context: Context) -> dict[str, Any]:
    """Draw the entries of the project's navigation. Reads `member` and `section`."""
    member, section = context["member"], context.get("section") or ""
    groups, more = navigation.navigation(member, section)
    return {"groups": groups, "more": more, "member": member, "section": section}


@register.inclusion_tag("components/_tabs.html", takes_context=True)
def section_tabs(context: Context) -> dict[str, Any]:
    """Draw the pages of the current page's entry as tabs, if it has several. Reads `member`."""
    match = context["request"].resolver_match
    route = match.view_name if match else ""
    return {
        "pages": navigation.tabs(context["member"], route),
        "route": route,
        "project": context["project"],
    }
