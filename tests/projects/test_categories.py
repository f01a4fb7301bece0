"""The taxonomy of a project's instructions: set, added from a ready-made one, shown."""

from __future__ import annotations

import pytest
from django.test import Client

from annotate.judgments import assignments
from annotate.models import InstructionPair
from annotate.projects import actions as projects
from annotate.projects import taxonomy
from annotate.projects.taxonomy import TAXONOMIES, Kind
from base.errors import Refused
from tests import factories

KINDS = [Kind("C1", "Content", "It asks for content."), Kind("X", "Other")]


@pytest.fixture
def carla(db):
    return factories.lead(factories.project())


def rows(project):
    found = project.categories.order_by("place", "key")
    return list(found.values_list("key", "name", "sentence"))


def fields(*rows, initial=0):
    sent = {"categories-TOTAL_FORMS": len(rows), "categories-INITIAL_FORMS": initial}
    for at, row in enumerate(rows):
        sent |= {f"categories-{at}-{name}": value for name, value in row.items()}
    return sent


def test_a_taxonomy_is_set_in_its_order_and_setting_it_again_changes_nothing(carla):
    first = taxonomy.set_categories(kinds=KINDS, by=carla)
    again = taxonomy.set_categories(kinds=KINDS, by=carla)

    assert [one.pk for one in first] == [one.pk for one in again]
    assert rows(carla.project) == [tuple(kind) for kind in KINDS]


def test_omitted_types_are_deleted_and_instructions_keep_their_keys(carla):
    pair = factories.pair(factories.query(carla.project))
    InstructionPair.objects.filter(pk=pair.pk).update(category="X")
    taxonomy.set_categories(kinds=KINDS, by=carla)

    taxonomy.set_categories(kinds=KINDS[:1], by=carla)

    assert [key for key, *_ in rows(carla.project)] == ["C1"]
    pair.refresh_from_db()
    assert pair.category == "X"


@pytest.mark.parametrize(
    ("kinds", "sentence"),
    [
        ([KINDS[0], KINDS[0]], "“C1” is used twice"),
        ([Kind("", "Nameless")], "A type needs a key"),
        ([Kind(str(n), "x") for n in range(101)], "at most 100 types"),
    ],
)
def test_an_invalid_taxonomy_is_refused_and_changes_nothing(carla, kinds, sentence):
    taxonomy.set_categories(kinds=KINDS, by=carla)

    with pytest.raises(Refused, match=sentence):
        taxonomy.set_categories(kinds=kinds, by=carla)

    assert rows(carla.project) == [tuple(kind) for kind in KINDS]


def test_only_leads_change_it_and_only_while_the_project_is_not_archived(carla):
    with pytest.raises(Refused, match="Only leads"):
        taxonomy.set_categories(kinds=KINDS, by=factories.member(carla.project, "ada"))
    projects.archive(by=carla)
    carla.refresh_from_db()
    with pytest.raises(Refused, match="archived"):
        taxonomy.set_categories(kinds=KINDS, by=carla)

    assert rows(carla.project) == []


def test_a_ready_made_taxonomy_is_added_to_existing_types(carla):
    taxonomy.set_categories(kinds=KINDS, by=carla)

    taxonomy.add_taxonomy(name="FollowTable", by=carla)

    assert [key for key, *_ in rows(carla.project)] == ["C1", "X", "C2", "S1", "S2", "S3"]
    assert rows(carla.project)[0] == ("C1", "Content", "It asks for content.")
    with pytest.raises(Refused, match="The taxonomies are: FollowTable, InfoSearch"):
        taxonomy.add_taxonomy(name="None", by=carla)


def test_ready_made_types_fit_their_columns():
    for kinds in TAXONOMIES.values():
        assert len({kind.key for kind in kinds}) == len(kinds)
        assert all(len(kind.key) <= 60 and len(kind.name) <= 120 for kind in kinds)
        assert all(0 < len(kind.sentence) <= 500 for kind in kinds)


def test_the_page_shows_sets_and_adds_types(carla):
    client = Client()
    client.force_login(carla.user)
    page = "/projects/tides/categories/"
    pair = factories.pair(factories.query(carla.project))
    InstructionPair.objects.filter(pk=pair.pk).update(category="S2")

    before = client.get(page).content.decode()
    refused = client.post(page, fields({"key": "A", "name": "a"}, {"key": "A", "name": "b"}))
    empty = client.post(page, fields({"key": "A", "name": ""}))
    saved = client.post(page, fields({"key": "A", "name": "About", "sentence": "It is about."}))
    client.post("/projects/tides/categories/taking/", {"name": "FollowTable"})
    after = client.get(page).content.decode()

    assert "In instructions, but not above" in before
    assert (refused.status_code, empty.status_code, saved.status_code) == (422, 422, 302)
    assert "“A” is used twice" in refused.content.decode()
    assert [key for key, *_ in rows(carla.project)] == ["A", "C1", "C2", "S1", "S2", "S3"]
    assert "In instructions, but not above" not in after
    assert "Add the types of FollowTable" not in after


def test_types_opened_before_another_change_are_not_saved_over_it(carla, client):
    client.force_login(carla.user)
    page = "/projects/tides/categories/"
    opened = fields({"key": "A", "name": "About"}) | {"token": client.get(page).context["token"]}
    taxonomy.set_categories(kinds=KINDS, by=carla)

    refused = client.post(page, opened)

    assert "Somebody has changed this since you opened the page" in refused.content.decode()
    assert [key for key, *_ in rows(carla.project)] == [kind.key for kind in KINDS]
    again = client.post(page, opened | {"token": refused.context["token"]})
    assert again.status_code == 302
    assert [key for key, *_ in rows(carla.project)] == ["A"]


def test_a_type_is_deleted_on_the_page(carla):
    client = Client()
    client.force_login(carla.user)
    taxonomy.set_categories(kinds=KINDS, by=carla)

    client.post(
        "/projects/tides/categories/",
        fields(
            {"key": "C1", "name": "Content", "DELETE": "on"},
            {"key": "X", "name": "Other"},
            initial=2,
        ),
    )

    assert [key for key, *_ in rows(carla.project)] == ["X"]


def test_a_sentence_typed_on_two_lines_is_stored_on_one(carla):
    client = Client()
    client.force_login(carla.user)

    client.post(
        "/projects/tides/categories/",
        fields({"key": "A", "name": "About", "sentence": "It is\r\nabout  that. "}),
    )

    assert rows(carla.project) == [("A", "About", "It is about that.")]


def test_the_review_page_says_what_the_type_is(carla):
    project = carla.project
    pair = factories.pair(factories.query(project))
    InstructionPair.objects.filter(pk=pair.pk).update(category="C1")
    taxonomy.set_categories(kinds=KINDS, by=carla)
    dan = factories.member(project, "dan")
    pair.refresh_from_db()
    assignments.take(pair=pair, task="review", by=dan)
    client = Client()
    client.force_login(factories.user("dan"))

    page = client.get(f"/pairs/{pair.pk}/review/").content.decode()

    assert "It asks for content." in page
