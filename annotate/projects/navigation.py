"""The navigation of a project: about ten entries by group, some of them with several pages.

What the kind of project does not use stands under *More*.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from django import template
from django.conf import settings
from django.template.context import Context

from annotate.projects.kinds import kind_of
from annotate.projects.models import Membership

register = template.Library()


class NavigationPage(NamedTuple):
    """A page of an entry: its name on the tab, and the name of its route."""

    name: str
    route: str
    # What `uses` is asked: only then the page is a tab.
    use: str = ""


class Entry(NamedTuple):
    """An entry. `key` is the `section` that pages name; its link leads to the first page."""

    key: str
    name: str
    pages: tuple[NavigationPage, ...]
    leads_only: bool = False
    # What `uses` is asked: otherwise the entry is under *More*.
    use: str = ""


class Group(NamedTuple):
    """Entries under one heading."""

    name: str
    entries: tuple[Entry, ...]


def _entry(key: str, name: str, route: str, *, leads_only: bool = False, use: str = "") -> Entry:
    return Entry(key, name, (NavigationPage(name, route),), leads_only, use)


GROUPS = (
    Group(
        "Work",
        (
            Entry(
                "overview",
                "Overview",
                (
                    NavigationPage("Overview", "annotate:project"),
                    NavigationPage("Progress", "annotate:progress"),
                    NavigationPage("Rules", "audit:collection"),
                ),
            ),
            # Of a lead, who mostly does not judge, it is under *More*.
            _entry("mine", "My work", "annotate:person", use="own work"),
            Entry(
                "queries",
                "Queries",
                (
                    NavigationPage("Queries", "annotate:queries"),
                    NavigationPage("Matrix", "annotate:matrix", use="judge"),
                ),
            ),
            _entry("reviews", "Reviews", "audit:reviews", use="review"),
            _entry("checks", "Checks", "audit:checks", use="check"),
            Entry(
                "disagreements",
                "Disagreements",
                (
                    NavigationPage("Disagreements", "audit:disagreements"),
                    NavigationPage("Where people differ", "audit:differences"),
                    NavigationPage("Flags", "annotate:flags"),
                ),
                leads_only=True,
            ),
        ),
    ),
    Group(
        "Results",
        (
            _entry("agreement", "Agreement", "audit:agreement", leads_only=True),
            _entry("models", "Models", "audit:models", leads_only=True, use="models"),
            _entry("evaluation", "Evaluation", "exporters:evaluations", leads_only=True),
            Entry(
                "releases",
                "Releases",
                (
                    NavigationPage("Releases", "exporters:releases"),
                    NavigationPage("Exports", "exporters:exports"),
                    NavigationPage("Publish", "exporters:publication"),
                ),
                leads_only=True,
            ),
        ),
    ),
    Group(
        "Setup",
        (
            _entry("load", "Load", "annotate:loads", leads_only=True),
            _entry("pools", "Pools", "annotate:pools", leads_only=True, use="pool"),
            _entry("guidelines", "Guidelines", "annotate:guidelines"),
            _entry("members", "Members", "annotate:members"),
            Entry(
                "settings",
                "Settings",
                (
                    NavigationPage("Settings", "annotate:settings"),
                    NavigationPage("Audit log", "annotate:audit_log"),
                ),
                leads_only=True,
            ),
        ),
    ),
)


def uses(member: Membership, use: str) -> bool:
    """Return whether a member's project, by its kind, uses a part; the kind *own* uses every part.

    A lead's own work is no part of the project, and no kind has language models of its own.
    """
    if use == "own work":
        return not member.leads
    if use == "models":
        return bool(settings.MODEL_SERVERS)
    project, kind = member.project, kind_of(member.project.kind)
    if not use or kind.key == "own" or use in kind.steps:
        return True
    return {
        "judge": project.overlap_judge > 0,
        "review": project.overlap_review > 0,
        "check": bool(kind.checks),
    }.get(use, False)


def navigation(member: Membership, section: str) -> tuple[list[Group], list[Entry]]:
    """Return the groups of entries that a member sees, and the entries under *More*.

    The entry of the current `section` always stands in its group.
    """
    groups, more = [], []
    for group in GROUPS:
        visible = [entry for entry in group.entries if member.leads or not entry.leads_only]
        shown = [entry for entry in visible if uses(member, entry.use) or entry.key == section]
        more += [entry for entry in visible if entry not in shown]
        if shown:
            groups.append(Group(group.name, tuple(shown)))
    return groups, more


def tabs(member: Membership, route: str) -> list[NavigationPage]:
    """Return the pages of the entry that a page, by its route, is one of, if there are several.

    Only leads have further pages.
    """
    if not member.leads:
        return []
    for group in GROUPS:
        for entry in group.entries:
            if route in [page.route for page in entry.pages]:
                shown = [p for p in entry.pages if uses(member, p.use) or p.route == route]
                return shown if len(shown) > 1 else []
    return []


@register.inclusion_tag("components/_rail.html", takes_context=True)
def rail(context: Context) -> dict[str, Any]:
    """Draw the entries of the project's navigation. Reads `member` and `section`."""
    member, section = context["member"], context.get("section") or ""
    groups, more = navigation(member, section)
    return {"groups": groups, "more": more, "member": member, "section": section}


@register.inclusion_tag("components/_tabs.html", takes_context=True)
def section_tabs(context: Context) -> dict[str, Any]:
    """Draw the pages of the current page's entry as tabs, if it has several. Reads `member`."""
    match = context["request"].resolver_match
    route = match.view_name if match else ""
    return {
        "pages": tabs(context["member"], route),
        "route": route,
        "project": context["project"],
    }
