"""Leads let people in on the members page; a first password is shown once, and kept nowhere."""

from __future__ import annotations

import re

import pytest
from django.contrib.sessions.models import Session
from django.urls import reverse

from annotate.models import Membership, User
from tests import factories


@pytest.fixture
def members(db, client):
    """The address of the page, with carla signed in."""
    client.force_login(factories.lead(factories.project()).user)
    return reverse("annotate:members", args=["tides"])


def test_a_first_password_is_shown_in_the_answer_and_never_again(members, client):
    response = client.post(members, {"username": "ada", "role": "annotator"})

    shown = response.content.decode()
    [password] = re.findall(r"<code>([^<]+)</code>", shown)
    assert User.objects.get(username="ada").check_password(password)
    assert f'data-copy="{password}"' in shown
    assert response.status_code == 200
    assert response["Cache-Control"] == "no-store"
    assert password not in client.get(members).content.decode()
    assert password not in str(client.cookies)
    assert all(password not in str(session.get_decoded()) for session in Session.objects.all())


def test_the_page_says_what_to_do_where_a_password_is_lost(members, client):
    assert "manage.py changepassword NAME" in client.get(members).content.decode()


def test_who_has_an_account_comes_in_without_a_new_password(members, client):
    factories.user("ada")

    response = client.post(members, {"username": "ada", "role": "annotator"}, follow=True)

    assert "ada is in the project, and signs in as before." in response.content.decode()
    assert "first password" not in response.content.decode()


def test_the_same_form_sent_again_makes_nobody_twice(members, client):
    client.post(members, {"username": "ada", "role": "annotator"})

    response = client.post(members, {"username": "ada", "role": "annotator"})

    assert response.status_code == 422
    assert "ada is already in this project." in response.content.decode()
    assert Membership.objects.filter(name="ada").count() == 1


def test_a_new_row_of_grades_has_nothing_to_take_away(members, client):
    shown = client.get(reverse("annotate:settings", args=["tides"])).content.decode()

    assert re.findall(r'name="grades-(\d)-DELETE"', shown) == ["0", "1", "2"]
    assert 'name="grades-3-value"' in shown
