"""Conditions are written with a narrative; changing them makes a new version."""

from __future__ import annotations

import pytest
from django.urls import reverse

from annotate.judgments import assignments
from annotate.models import Assignment, Narrative
from annotate.rewriting import actions as rewriting
from tests import factories
from tests.pages import shows

pytestmark = pytest.mark.both_databases


@pytest.fixture
def pair(db):
    project = factories.project()
    query = factories.query(project)
    factories.candidate(query)
    return factories.pair(query, altered=None)


@pytest.fixture
def ada(pair, client):
    person = factories.member(pair.project, "ada")
    assignments.take(pair=pair, task=Assignment.Task.REWRITE, by=person)
    client.force_login(person.user)
    return person


def url(pair) -> str:
    return reverse("annotate:rewrite", args=[pair.pk])


def conditions(pair) -> list[list[tuple[int, str, str]]]:
    """Return the conditions of each altered version."""
    return [
        list(version.conditions.order_by("number").values_list("number", "name", "text"))
        for version in pair.narratives.filter(side=Narrative.Side.ALTERED).order_by("version")
    ]


def test_each_line_becomes_a_condition(pair, ada, client):
    client.post(
        url(pair),
        {"text": "At sea only.", "based_on": 0, "conditions": "place: at sea\r\n\r\nin use"},
    )

    assert conditions(pair) == [[(1, "place", "at sea"), (2, "", "in use")]]


def test_changed_conditions_alone_make_a_new_version(pair, ada):
    rewriting.rewrite_narrative(pair=pair, text="At sea.", by=ada, based_on=0, conditions="in use")

    rewriting.rewrite_narrative(
        pair=pair, text="At sea.", by=ada, based_on=1, conditions="in use\nsince 1990"
    )

    assert conditions(pair) == [[(1, "", "in use")], [(1, "", "in use"), (2, "", "since 1990")]]


def test_the_same_text_and_conditions_make_no_new_version(pair, ada, client):
    sent = {"text": "At sea.", "conditions": "place: at sea"}
    client.post(url(pair), {**sent, "based_on": 0})

    response = client.post(url(pair), {**sent, "based_on": 1})

    assert response.status_code == 422
    assert "Nothing has changed yet" in response.content.decode()
    assert len(conditions(pair)) == 1


def test_rewriting_without_naming_conditions_keeps_them(pair, ada):
    rewriting.rewrite_narrative(pair=pair, text="At sea.", by=ada, based_on=0, conditions="in use")

    rewriting.rewrite_narrative(pair=pair, text="At sea, too.", by=ada, based_on=1)

    assert conditions(pair) == [[(1, "", "in use")]] * 2


def test_conditions_can_be_removed(pair, ada):
    rewriting.rewrite_narrative(pair=pair, text="At sea.", by=ada, based_on=0, conditions="in use")

    rewriting.rewrite_narrative(pair=pair, text="At sea.", by=ada, based_on=1, conditions="")

    assert conditions(pair) == [[(1, "", "in use")], []]


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        ("at sea\nat sea", "Line 2 says the same as line 1"),
        ("\n".join(map(str, range(21))), "There are 21 conditions; at most 20 are allowed"),
        ("in use\n" + "x" * 2_001, "The condition on line 2 has 2,001 characters"),
        ("at\x01sea", "control character (U+0001)"),
        ("x" * 1_000_000, "This has 1000000 characters; at most 40000 are allowed"),
    ],
)
def test_invalid_conditions_are_refused_at_their_field(pair, ada, client, typed, sentence):
    response = client.post(
        url(pair), {"text": "At sea only.", "based_on": 0, "conditions": typed, "note": "why"}
    )
    page = response.content.decode()

    assert response.status_code == 422
    assert list(response.context["form"].errors) == ["conditions"]
    assert sentence in page
    assert typed in page.replace("\r\n", "\n")
    assert "At sea only." in page
    assert conditions(pair) == []


def test_the_page_shows_conditions_as_they_were_typed(pair, ada, client):
    client.post(
        url(pair), {"text": "At sea only.", "based_on": 0, "conditions": "place: at sea\nin use"}
    )

    assert "place: at sea\nin use</textarea>" in client.get(url(pair)).content.decode()


def test_a_version_shows_the_changes_of_its_conditions(pair, ada, client):
    rewriting.rewrite_narrative(
        pair=pair, text="At sea.", by=ada, based_on=0, conditions="in use\nsince 1990"
    )
    version = rewriting.rewrite_narrative(
        pair=pair, text="At sea now.", by=ada, based_on=1, conditions="in use\nplace: Wales"
    )
    address = reverse("annotate:narrative", args=[pair.pk, version.pk])

    whole = client.get(address).content.decode()
    part = client.get(address, headers={"HX-Request": "true"}).content.decode()

    assert shows(whole, "<html")
    assert not shows(part, "<html")
    for page in (whole, part):
        assert shows(page, "At sea<ins> now</ins>.")
        assert shows(page, '<li dir="auto">in use</li>')
        assert shows(page, "<ins><strong>place</strong> Wales</ins>")
        assert shows(page, "<del>since 1990</del>")


def test_a_first_version_is_compared_with_the_original(pair, ada, client):
    version = rewriting.rewrite_narrative(pair=pair, text="Any plant.", by=ada, based_on=0)

    page = client.get(reverse("annotate:narrative", args=[pair.pk, version.pk])).content.decode()

    assert "The change from the original is marked." in page
    assert "Any plant<del> counts</del>." in page


def test_a_version_of_another_pair_is_not_found(pair, ada, client):
    other = factories.pair(factories.query(pair.project, "302"))

    address = reverse("annotate:narrative", args=[pair.pk, factories.altered(other).pk])

    assert client.get(address).status_code == 404
