"""The navigation of a project: what its kind uses, about ten entries, the rest under More."""

from __future__ import annotations

import pytest
from django.urls import reverse

from annotate.projects import navigation
from tests import factories

pytestmark = pytest.mark.django_db


def entries(member, section="overview"):
    """Return the names of the entries, and of those under More."""
    groups, more = navigation.navigation(member, section)
    return [entry.name for group in groups for entry in group.entries], [one.name for one in more]


@pytest.mark.parametrize(
    ("kind", "more"),
    [
        ("followir", ["My work", "Reviews", "Models", "Pools"]),
        ("followtable", ["My work", "Models", "Pools"]),
        ("infosearch", ["My work", "Models", "Pools"]),
        ("multiconir", ["My work", "Models", "Pools"]),
        ("multi-infosearch", ["My work", "Reviews", "Checks", "Models", "Pools"]),
        ("own", ["My work", "Models"]),
    ],
)
def test_a_lead_sees_what_the_kind_of_project_uses(kind, more):
    asked = 0 if kind in ("followir", "multi-infosearch") else 2
    project = factories.project(kind=kind, overlap_review=asked)

    shown, folded = entries(factories.lead(project))

    assert folded == more
    assert len(shown) == 15 - len(more)


def test_an_annotator_sees_only_what_annotators_use():
    ada = factories.member(factories.project(kind="followir", overlap_review=0), "ada")

    assert entries(ada) == (
        ["Overview", "My work", "Queries", "Checks", "Guidelines", "Members"],
        ["Reviews"],
    )


def test_reviews_are_shown_in_every_kind_that_asks_for_them():
    carla = factories.lead(factories.project(kind="followir", overlap_review=1))

    assert "Reviews" in entries(carla)[0]


def test_models_are_shown_once_the_administrator_allows_a_server(settings):
    settings.MODEL_SERVERS = {"lab": "http://127.0.0.1:1/v1"}
    carla = factories.lead(factories.project(kind="followir"))

    assert "Models" in entries(carla)[0]


def test_the_current_page_is_never_folded_away():
    carla = factories.lead(factories.project(kind="followir"))

    assert "Pools" in entries(carla, "pools")[0]


@pytest.mark.parametrize(
    ("route", "names"),
    [
        ("annotate:progress", ["Overview", "Progress", "Rules"]),
        ("annotate:matrix", ["Queries", "Matrix"]),
        ("annotate:flags", ["Disagreements", "Where people differ", "Flags"]),
        ("exporters:publication", ["Releases", "Exports", "Publish"]),
        ("annotate:audit_log", ["Settings", "Audit log"]),
        ("annotate:guidelines", []),
    ],
)
def test_pages_of_one_entry_are_tabs_of_each_other(route, names, client):
    carla = factories.lead(factories.project())
    client.force_login(carla.user)

    page = client.get(reverse(route, args=[carla.project.slug])).content.decode()

    assert [one.name for one in navigation.tabs(carla, route)] == names
    assert page.count('aria-label="Pages"') == bool(names)


def test_an_entry_with_one_page_left_has_no_tabs():
    carla = factories.lead(factories.project(kind="followtable", overlap_judge=0))

    assert navigation.tabs(carla, "annotate:queries") == []


def test_annotators_have_no_tabs():
    ada = factories.member(factories.project(), "ada")

    assert navigation.tabs(ada, "annotate:queries") == []


def test_every_entry_leads_to_a_page_whose_section_it_is(client):
    carla = factories.lead(factories.project())
    client.force_login(carla.user)
    for group in navigation.GROUPS:
        for entry in group.entries:
            keys = [carla.pk] if entry.key == "mine" else []
            for page in entry.pages:
                url = reverse(page.route, args=[carla.project.slug, *keys])

                assert client.get(url).context["section"] == entry.key, page.name
