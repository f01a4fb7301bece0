"""API tokens are made on a page, shown once, and can be ended at once."""

from __future__ import annotations

import re

import pytest
from django.urls import reverse

from annotate.models import Token
from annotate.people.tokens import MOST, make_token
from tests import factories

PAGE = "/settings/tokens/"


@pytest.fixture
def ada(db, client):
    user = factories.user("ada")
    client.force_login(user)
    return user


def test_a_token_is_shown_once_and_its_secret_is_not_stored(ada, client):
    made = client.post(PAGE, {"name": "Notebook", "scopes": ["judge"], "days": "30"})

    (secret,) = re.findall(r'value="(rejudge_[\w-]{43})"', made.content.decode())
    token = Token.objects.get()
    assert (token.user, token.scopes) == (ada, ["read", "judge"])
    assert (token.expires_at - token.made_at).days == 30
    assert secret.startswith(token.start)
    assert secret not in str(Token.objects.values().get())
    assert secret not in client.get(PAGE).content.decode()
    assert made["Cache-Control"] == "max-age=0, no-cache, no-store, must-revalidate, private"


def test_an_ended_token_stops_working_at_once(ada, client):
    made = make_token(name="Notebook", scopes=[], days=1, by=ada)
    header = {"Authorization": f"Bearer {made.secret}"}
    before = client.get("/api/v1/me/", headers=header).status_code

    for _ in range(2):
        client.post(reverse("annotate:token_end", args=[made.token.pk]))

    assert (before, client.get("/api/v1/me/", headers=header).status_code) == (200, 401)
    assert "Notebook" in client.get(PAGE).content.decode()


def test_nobody_can_end_another_persons_token(ada, client):
    made = make_token(name="Notebook", scopes=[], days=1, by=factories.user("eve"))

    response = client.post(reverse("annotate:token_end", args=[made.token.pk]))

    assert response.status_code == 404
    assert Token.objects.get().ended_at is None


@pytest.mark.parametrize(
    "invalid",
    [
        {"name": ""},
        {"name": "x" * 101},
        {"name": "a\x00b"},
        {"scopes": ["everything"]},
        {"days": "0"},
        {"days": "367"},
    ],
)
def test_an_invalid_token_request_is_refused(ada, client, invalid):
    response = client.post(PAGE, {"name": "Notebook", "scopes": ["judge"], "days": "30", **invalid})

    assert response.status_code == 422
    assert not Token.objects.exists()


def test_the_number_of_tokens_per_person_is_limited(ada, client):
    for number in range(MOST):
        make_token(name=f"Notebook {number}", scopes=[], days=1, by=ada)

    response = client.post(PAGE, {"name": "One more", "days": "30"})

    assert response.status_code == 422
    assert Token.objects.count() == MOST


def test_a_token_cannot_make_tokens(ada, client):
    made = make_token(name="Notebook", scopes=["judge", "lead"], days=1, by=ada)
    client.logout()

    response = client.post(
        PAGE, {"name": "Another", "days": "30"}, headers={"Authorization": f"Bearer {made.secret}"}
    )

    assert response.status_code == 302
    assert Token.objects.count() == 1
