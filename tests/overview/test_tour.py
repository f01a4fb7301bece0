"""The tour shows a newcomer how judging works; it is offered until it is taken or skipped."""

from __future__ import annotations

import pytest
from django.test import Client

from annotate.models import Membership
from tests import factories
from tests.pages import tight

pytestmark = pytest.mark.django_db


def client_of(username: str) -> Client:
    client = Client()
    client.force_login(factories.user(username))
    return client


def page(client: Client, query: str = "") -> str:
    return tight(client.get(f"/tour/{query}").content.decode())


def test_the_home_page_offers_the_tour_until_it_is_skipped():
    client = client_of("ada")
    assert "Take the tour" in client.get("/").content.decode()

    assert client.post("/tour/")["Location"] == "/"

    assert "Take the tour" not in client.get("/").content.decode()


def test_the_menu_has_the_tour_after_it_was_skipped():
    client = client_of("ada")
    client.post("/tour/")

    assert '<a href="/tour/">The tour</a>' in client.get("/").content.decode()
    assert "step 1 of" in page(client)


@pytest.mark.parametrize(
    ("grade", "answer"),
    [
        ("0", "You pressed 0, as most people would"),
        ("2", "You pressed 2; most people would press 0"),
    ],
)
def test_the_third_step_answers_the_grade_of_the_second(grade, answer):
    assert answer in page(client_of("ada"), f"?step=3&relevance={grade}")


@pytest.mark.parametrize("query", ["?step=3", "?step=3&relevance=x", "?step=3&relevance=12"])
def test_without_a_grade_the_third_step_answers_nothing(query):
    assert "You pressed" not in page(client_of("ada"), query)


@pytest.mark.parametrize(
    ("role", "steps"), [(Membership.Role.ANNOTATOR, 4), (Membership.Role.LEAD, 5)]
)
def test_the_step_about_releases_is_for_leads(role, steps):
    factories.member(factories.project(), "ada", role=role)

    text = page(client_of("ada"), "?step=9")

    assert f"step {steps} of {steps}" in text
    assert ("from files to a release" in text) == (role == Membership.Role.LEAD)


@pytest.mark.parametrize("step", ["0", "x", "", "-3", "٣"])
def test_a_step_that_is_none_is_the_first(step):
    assert "step 1 of 5" in page(client_of("new"), f"?step={step}")
