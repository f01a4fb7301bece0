"""The help of a page says in five lines what the page is for, and links to the glossary."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.urls import reverse

from annotate.projects.navigation import GROUPS
from base.tags.frame import PLACES
from tests import factories

DOCS = Path(__file__).parent.parent / "docs"
TEMPLATES = Path(__file__).parent.parent / "templates"
# The templates that define help.
WITH_HELP = sorted(
    path.relative_to(TEMPLATES).as_posix()
    for path in TEMPLATES.rglob("*.html")
    if "{% block help %}" in path.read_text("utf-8") and path.name != "base.html"
)


@pytest.mark.parametrize("name", WITH_HELP)
def test_the_help_of_a_page_has_five_lines(name):
    (block,) = re.findall(
        r"\{% block help %\}(.*?)\{% endblock %\}",
        (TEMPLATES / name).read_text("utf-8"),
        re.DOTALL,
    )

    assert block.count("<li>") == 5


@pytest.mark.parametrize(
    "name",
    [
        *("overview/home", "overview/project", "overview/progress", "overview/person"),
        *("overview/queries", "judging/judge", "judging/listing", "rewriting/rewrite"),
        *("reviews/review", "reviews/reviews", "checks/checks", "settling/disagreements"),
        *("settling/settle", "reports/agreement", "evaluations/evaluations", "exports/exports"),
        *("releases/releases", "loading/load_list", "guidelines/guidelines"),
        *("people/members", "projects/settings", "projects/audit_log"),
    ],
)
def test_pages_where_people_work_have_help(name):
    assert f"{name}.html" in WITH_HELP


def test_the_help_links_to_the_glossary(db, client):
    client.force_login(factories.member(factories.project(), "ada").user)

    home = client.get(reverse("annotate:home")).content.decode()
    glossary = client.get(reverse("glossary")).content.decode()

    assert f'<a href="{reverse("glossary")}">What the words mean</a>' in home
    assert "<dt>Narrative</dt>" in glossary


@pytest.mark.parametrize(
    ("route", "place"),
    [
        ("annotate:loads", "/help/loading/"),
        ("audit:agreement", "/help/reports/"),
        ("exporters:releases", "/help/exports/"),
        ("annotate:project", "/help/dashboard/"),
    ],
)
def test_the_help_of_a_page_leads_to_its_place_in_the_documentation(db, client, route, place):
    lead = factories.lead(factories.project())
    client.force_login(lead.user)

    page = client.get(reverse(route, args=[lead.project.slug])).content.decode()

    assert f'<a href="{place}">More in the documentation</a>' in page


def test_every_place_in_the_documentation_is_one_of_its_pages():
    entries = {entry.key for group in GROUPS for entry in group.entries}

    assert set(PLACES) == entries
    for place in PLACES.values():
        assert (DOCS / f"{place.rstrip('/')}.md").exists()
