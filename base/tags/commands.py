"""Tags about this installation: its command, and its documentation."""

from __future__ import annotations

from django.conf import settings
from django.template import Context
from django.urls import reverse

from base.tags.library import register

# The page of the documentation about the pages of each entry of a project's rail.
PLACES = {
    "overview": "dashboard/",
    "mine": "annotators/",
    "queries": "leads/",
    "reviews": "rubric/",
    "checks": "checks/",
    "disagreements": "disagreements/",
    "agreement": "reports/",
    "models": "llm/",
    "evaluation": "evaluation/",
    "releases": "exports/",
    "load": "loading/",
    "pools": "pools/",
    "guidelines": "rejudge-requests/",
    "members": "people/",
    "settings": "kinds/",
}


@register.simple_tag
def command_name() -> str:
    """Return how commands are called here: `rejudge` if installed, `manage.py` in a checkout."""
    return str(settings.COMMAND)


@register.simple_tag(takes_context=True)
def help_url(context: Context) -> str:
    """Return the address of the documentation about the current page, or of its start."""
    project = context.get("project")
    place = PLACES.get(context.get("section") or "", "annotators/" if project else "")
    return reverse("help", args=[place]) if place else reverse("help")
