"""Leads add people on the members page; a link is shown once and not stored."""

from __future__ import annotations

import re

import pytest
from django.contrib.sessions.models import Session
from django.core import mail
from django.urls import reverse

from annotate.models import Invitation, Membership, User
from tests import factories
from tests.pages import shows, without_random

LINK = re.compile(r"http://testserver(/invitations/[\w-]+/)")


@pytest.fixture
def members(db, client):
    """Sign carla in and return the address of the page."""
    client.force_login(factories.lead(factories.project()).user)
    return reverse("annotate:members", args=["tides"])


def form_fields(**fields):
    return {"username": "", "role": "annotator", "email": "", "days": "7", **fields}


def test_a_link_is_shown_only_in_the_response(members, client):
    response = client.post(members, form_fields(username="ada"))

    shown = response.content.decode()
    [address] = set(LINK.findall(shown))
    token = address.split("/")[2]
    assert f'data-copy="http://testserver{address}"' in shown
    assert response.status_code == 200
    assert response["Cache-Control"] == "no-store"
    assert token not in client.get(members).content.decode()
    assert token not in str(client.cookies)
    assert all(token not in str(session.get_decoded()) for session in Session.objects.all())
    assert token not in str(Invitation.objects.values())
    assert not User.objects.filter(username="ada").exists()


def test_a_link_is_mailed_to_the_given_address(members, client):
    shown = client.post(members, form_fields(email="ada@example.org")).content.decode()

    [sent] = mail.outbox
    assert sent.to == ["ada@example.org"]
    assert sent.subject == "[Rejudge] You are invited to Tides"
    assert LINK.findall(str(sent.body)) == [*set(LINK.findall(shown))]
    assert "This link was sent to ada@example.org." in shown


def test_the_link_must_be_passed_on_without_a_mail_server(members, client, settings):
    settings.EMAIL_BACKEND = "django.core.mail.backends.console.EmailBackend"

    shown = client.post(members, form_fields(email="ada@example.org")).content.decode()

    assert shows(shown, "Pass this link on to ada@example.org yourself now")
    assert "This link was sent" not in shown
    assert len(set(LINK.findall(shown))) == 1


def test_the_link_is_shown_if_mailing_fails(members, client, monkeypatch):
    def fail(*args, **kwargs):
        raise ConnectionRefusedError

    monkeypatch.setattr("allauth.account.adapter.EmailMultiAlternatives.send", fail)

    shown = client.post(members, form_fields(email="ada@example.org")).content.decode()

    assert "The mail could not be sent. Pass the link on yourself." in shown
    assert "This link lets one person in." in shown
    assert LINK.search(shown)


def test_a_person_with_an_account_is_added_at_once(members, client):
    factories.user("ada")

    response = client.post(members, form_fields(username="ada"), follow=True)

    assert "ada is now in the project and signs in as before." in response.content.decode()
    assert not Invitation.objects.exists()


def test_capital_letters_of_a_name_do_not_count_as_at_sign_in(members, client):
    factories.user("ada")

    response = client.post(members, form_fields(username="Ada"), follow=True)

    assert "ada is now in the project and signs in as before." in response.content.decode()
    assert Membership.objects.filter(name="ada", user__username="ada").count() == 1
    assert not Invitation.objects.exists()


def test_the_same_form_sent_again_adds_nobody_twice(members, client):
    factories.user("ada")
    client.post(members, form_fields(username="ada"))

    response = client.post(members, form_fields(username="ada"))

    assert response.status_code == 422
    assert "ada is already in this project." in response.content.decode()
    assert Membership.objects.filter(name="ada").count() == 1


@pytest.mark.parametrize(
    ("invalid", "sentence"),
    [
        ({"username": "a b"}, "Enter a valid username"),
        ({"role": "king"}, "king is not one of the available choices"),
        ({"days": "31"}, "31 is not one of the available choices"),
        ({"email": "nowhere"}, "Enter a valid email address"),
    ],
)
def test_an_error_is_shown_at_its_field(members, client, invalid, sentence):
    response = client.post(members, form_fields(**invalid))

    assert response.status_code == 422
    assert sentence in response.content.decode()
    assert not Invitation.objects.exists()


def test_valid_links_are_listed_for_leads_and_can_be_withdrawn(members, client):
    client.post(members, form_fields(username="ada"))
    invitation = Invitation.objects.get()
    away = reverse("annotate:invitation_withdrawal", args=["tides", invitation.pk])
    assert away in client.get(members).content.decode()

    client.post(away)

    invitation.refresh_from_db()
    assert invitation.withdrawn_by == factories.user("carla")
    assert away not in client.get(members).content.decode()


def test_a_link_of_a_former_lead_is_not_listed(members, client):
    client.post(members, form_fields(username="zoe"))
    carla = Membership.objects.get()
    client.force_login(factories.lead(carla.project, "frank").user)
    assert "zoe" in client.get(members).content.decode()

    Membership.objects.filter(pk=carla.pk).update(role=Membership.Role.ANNOTATOR)

    assert "zoe" not in without_random(client.get(members))


def test_annotators_see_no_links(members, client):
    client.post(members, form_fields(username="zoe"))
    client.force_login(factories.member(Membership.objects.get().project, "ada").user)

    assert "zoe" not in without_random(client.get(members))


def test_the_page_has_a_constant_number_of_queries(members, client, django_assert_max_num_queries):
    project = Membership.objects.get().project
    for number in range(30):
        factories.member(project, f"judge{number}")
        client.post(members, form_fields(username=f"new{number}"))

    with django_assert_max_num_queries(7):
        client.get(members)


def test_the_empty_row_of_grades_cannot_be_deleted(members, client):
    shown = client.get(reverse("annotate:settings", args=["tides"])).content.decode()

    assert re.findall(r'name="grades-(\d)-DELETE"', shown) == ["0", "1", "2"]
    assert 'name="grades-3-value"' in shown
