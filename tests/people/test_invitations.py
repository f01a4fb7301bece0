"""A link lets one person in, once, as long as its creator may invite people."""

from __future__ import annotations

from datetime import timedelta

import pytest
from allauth.account.models import EmailAddress
from django.db import IntegrityError
from django.urls import reverse
from django.utils import timezone

from annotate.models import Invitation, Membership, User
from annotate.people import invitations, members
from base.errors import NotHere, Refused, Stale, Unfit
from tests import factories

ANNOTATOR, LEAD = Membership.Role.ANNOTATOR, Membership.Role.LEAD
PASSWORD = "seven long words of a tide"


@pytest.fixture
def carla(db):
    return factories.lead(factories.project())


@pytest.fixture
def admin(db):
    return User.objects.create_superuser("root", password=PASSWORD)


def new(token, name="ada", **fields):
    return invitations.accept_with_new_account(
        token=token, username=name, password=PASSWORD, **fields
    )


def test_a_link_makes_an_account_and_lets_it_in(carla):
    token = invitations.invite(role=LEAD, by=carla).token

    ada = new(token, email="Ada@Example.org")

    assert ada.check_password(PASSWORD)
    assert carla.project.memberships.get(user=ada).role == LEAD
    assert Invitation.objects.get().accepted_by == ada
    address = EmailAddress.objects.get(user=ada)
    assert (address.email, address.primary, address.verified) == ("ada@example.org", True, False)


def test_a_link_lets_in_who_has_an_account(carla):
    ada = factories.user("ada")

    member = invitations.accept(token=invitations.invite(role=ANNOTATOR, by=carla).token, by=ada)

    assert member is not None
    assert (member.user, member.role) == (ada, ANNOTATOR)


def test_a_link_lets_in_one_person(carla):
    token = invitations.invite(role=ANNOTATOR, by=carla).token
    new(token)

    with pytest.raises(Stale, match="link has already been used"):
        new(token, "ben")
    with pytest.raises(Stale, match="link has already been used"):
        invitations.accept(token=token, by=factories.user("ben"))

    assert not Membership.objects.filter(name="ben").exists()


def test_a_link_expires_to_the_minute(carla):
    now = timezone.now()
    token = invitations.invite(role=ANNOTATOR, days=1, by=carla, now=now).token

    invitations.read(token, now=now + timedelta(hours=23, minutes=59))
    with pytest.raises(Stale, match="expired"):
        new(token, now=now + timedelta(days=1))

    assert not User.objects.filter(username="ada").exists()


def test_a_link_that_was_taken_back_lets_nobody_in(carla):
    link = invitations.invite(role=ANNOTATOR, by=carla)
    invitations.withdraw(invitation=link.invitation, by=factories.user("carla"))
    invitations.withdraw(invitation=link.invitation, by=factories.user("carla"))

    with pytest.raises(Stale, match="withdrawn"):
        new(link.token)


def test_a_link_that_was_used_is_not_taken_back(carla):
    link = invitations.invite(role=ANNOTATOR, by=carla)
    new(link.token)

    with pytest.raises(Stale, match="already"):
        invitations.withdraw(invitation=link.invitation, by=factories.user("carla"))


def test_who_leads_no_more_lets_nobody_in(carla):
    token = invitations.invite(role=ANNOTATOR, by=carla).token
    other = factories.lead(carla.project, "frank")
    members.change_role(member=carla, role=ANNOTATOR, by=other)

    with pytest.raises(Stale, match="can no longer invite you"):
        new(token)


def test_a_link_to_an_archived_project_waits(carla):
    token = invitations.invite(role=ANNOTATOR, by=carla).token
    project = carla.project
    project.archived_at, project.archived_by = timezone.now(), carla.user
    project.save()

    with pytest.raises(Refused, match="archived"):
        new(token)


@pytest.mark.parametrize("token", ["", "x", "a\x00b", "ü" * 50])
def test_a_link_that_was_never_made_leads_nowhere(carla, token):
    with pytest.raises(NotHere):
        invitations.read(token)


def test_the_secret_is_not_kept(carla):
    link = invitations.invite(role=ANNOTATOR, by=carla)

    assert len(link.token) == 43
    assert link.token not in str(list(Invitation.objects.values()))


def test_an_annotator_invites_nobody(carla):
    ada = factories.member(carla.project, "ada")
    link = invitations.invite(role=ANNOTATOR, by=carla)

    with pytest.raises(Refused, match="Only leads"):
        invitations.invite(role=ANNOTATOR, by=ada)
    with pytest.raises(Refused, match="Only leads"):
        invitations.withdraw(invitation=link.invitation, by=factories.user("ada"))
    with pytest.raises(Refused, match="Only administrators"):
        invitations.invite_to_installation(by=factories.user("carla"))


def test_a_lead_takes_back_no_link_of_another_project(carla):
    factories.lead(factories.project("other"), "eve")
    link = invitations.invite(role=ANNOTATOR, by=carla)

    with pytest.raises(Refused):
        invitations.withdraw(invitation=link.invitation, by=factories.user("eve"))


@pytest.mark.parametrize("wrong", [{"role": "king"}, {"days": 0}, {"days": 31}, {"name": "a b"}])
def test_what_cannot_be_is_refused(carla, wrong):
    with pytest.raises(Refused):
        invitations.invite(**{"role": ANNOTATOR, **wrong}, by=carla)

    assert not Invitation.objects.exists()


def test_who_has_an_account_is_added_not_invited(carla):
    factories.user("ada")

    with pytest.raises(Refused, match="already has an account"):
        invitations.invite(role=ANNOTATOR, name="ADA", by=carla)


def test_a_machines_name_is_promised_to_nobody(carla):
    factories.machine(carla.project, "model")

    with pytest.raises(Refused, match="machine"):
        invitations.invite(role=ANNOTATOR, name="model", by=carla)


# --- names ----------------------------------------------------------------------------------------


def test_a_link_for_a_name_gives_that_name_whatever_is_typed(carla):
    token = invitations.invite(role=ANNOTATOR, name="ada", by=carla).token

    assert new(token, "root").username == "ada"


def test_a_link_for_a_name_brings_what_a_file_said_of_it(carla):
    rater = Membership.objects.create(project=carla.project, name="ada")
    token = invitations.invite(role=ANNOTATOR, name="ada", by=carla).token

    ada = new(token)

    rater.refresh_from_db()
    assert rater.user == ada


@pytest.mark.parametrize("has_account", [True, False])
def test_nobody_makes_themselves_somebody_of_a_file(carla, has_account):
    rater = Membership.objects.create(project=carla.project, name="zoe")
    token = invitations.invite(role=ANNOTATOR, by=carla).token

    def come_in():
        if has_account:
            return invitations.accept(token=token, by=factories.user("zoe"))
        return new(token, "zoe")

    with pytest.raises(Unfit, match="another person in this project"):
        come_in()

    rater.refresh_from_db()
    assert rater.user is None
    assert User.objects.filter(username="zoe").exists() == has_account


def test_a_link_for_a_name_is_nobody_elses(carla):
    token = invitations.invite(role=ANNOTATOR, name="ada", by=carla).token

    with pytest.raises(Refused, match="for ada"):
        invitations.accept(token=token, by=factories.user("ben"))

    assert invitations.read(token).accepted_at is None


@pytest.mark.parametrize(
    ("name", "password", "email", "field"),
    [
        ("BEN", PASSWORD, "", "username"),
        ("ada", "short", "", "password"),
        ("ada", "a" * 40, "nowhere", "email"),
        ("ada", PASSWORD, "ben@example.org", "email"),
    ],
)
def test_what_is_wrong_of_a_new_account_is_said_at_its_field(carla, name, password, email, field):
    User.objects.create_user("ben", "ben@example.org")
    token = invitations.invite(role=ANNOTATOR, by=carla).token

    with pytest.raises(Unfit) as refused:
        invitations.accept_with_new_account(
            token=token, username=name, password=password, email=email
        )

    assert refused.value.field == field
    assert invitations.read(token).accepted_at is None
    assert User.objects.count() == 2


def test_nobody_comes_in_twice(carla):
    token = invitations.invite(role=ANNOTATOR, by=carla).token

    with pytest.raises(Refused, match="already in this project"):
        invitations.accept(token=token, by=factories.user("carla"))

    assert invitations.read(token).accepted_at is None


def test_who_had_left_comes_back_as_who_they_were(carla):
    ada = factories.member(carla.project, "ada")
    members.remove_member(member=ada, by=carla)

    back = invitations.accept(
        token=invitations.invite(role=ANNOTATOR, by=carla).token, by=factories.user("ada")
    )

    assert back is not None
    assert back.pk == ada.pk
    assert back.left_at is None


# --- the installation -----------------------------------------------------------------------------


def test_a_link_to_the_installation_makes_an_account_in_no_project(admin):
    ada = new(invitations.invite_to_installation(by=admin).token)

    assert not ada.memberships.exists()
    assert not ada.is_staff
    assert not ada.is_superuser


def test_who_has_an_account_does_not_use_up_a_link_to_the_installation(admin):
    token = invitations.invite_to_installation(by=admin).token

    with pytest.raises(Refused, match="already have an account"):
        invitations.accept(token=token, by=factories.user("ada"))

    assert invitations.read(token).accepted_at is None


@pytest.mark.parametrize(
    "wrong",
    [
        {"accepted_at": timezone.now()},
        {"withdrawn_at": timezone.now()},
        {"expires_at": timezone.now() - timedelta(days=9)},
        {"project": None, "role": LEAD},
    ],
)
def test_the_database_itself_refuses_half_a_state(carla, wrong):
    link = invitations.invite(role=ANNOTATOR, by=carla)

    with pytest.raises(IntegrityError):
        Invitation.objects.filter(pk=link.invitation.pk).update(**wrong)


# --- the page -------------------------------------------------------------------------------------


def page_of(token):
    return reverse("annotate:invitation", args=[token])


TYPED = {"username": "ada", "email": "", "password": PASSWORD, "password_again": PASSWORD}


def test_who_comes_by_a_link_is_signed_in_and_in_the_project(carla, client):
    token = invitations.invite(role=ANNOTATOR, by=carla).token
    assert "carla invites you to the project “Tides”" in client.get(page_of(token)).content.decode()

    response = client.post(page_of(token), TYPED)

    assert response.url == "/projects/tides/"
    assert client.get(response.url).status_code == 200
    assert client.get("/").wsgi_request.user.username == "ada"


def test_two_passwords_that_differ_make_no_account(carla, client):
    token = invitations.invite(role=ANNOTATOR, by=carla).token

    response = client.post(page_of(token), TYPED | {"password_again": "another"})

    assert response.status_code == 422
    assert "The two passwords differ." in response.content.decode()
    assert PASSWORD not in response.content.decode()
    assert not User.objects.filter(username="ada").exists()


def test_all_that_is_wrong_with_the_passwords_is_told_at_once(carla, client):
    token = invitations.invite(role=ANNOTATOR, by=carla).token

    response = client.post(page_of(token), TYPED | {"password": "ada", "password_again": "another"})

    page = response.content.decode()
    assert response.status_code == 422
    assert "The two passwords differ." in page
    assert "This password is too short." in page
    assert "The password is too similar to the username." in page


def test_who_is_signed_in_comes_in_with_one_button(carla, client):
    token = invitations.invite(role=ANNOTATOR, by=carla).token
    client.force_login(factories.user("ben"))
    assert "Join as ben" in client.get(page_of(token)).content.decode()
    assert not Membership.objects.filter(name="ben").exists()

    response = client.post(page_of(token))

    assert response.url == "/projects/tides/"
    assert Membership.objects.get(name="ben").user == factories.user("ben")


def test_who_came_in_is_led_on_when_they_open_the_link_again(carla, client):
    token = invitations.invite(role=ANNOTATOR, by=carla).token
    client.post(page_of(token), TYPED)

    assert client.get(page_of(token)).url == "/projects/tides/"


def test_a_link_that_holds_no_more_says_why(carla, client):
    link = invitations.invite(role=ANNOTATOR, by=carla)
    invitations.withdraw(invitation=link.invitation, by=factories.user("carla"))

    ended, wrong = client.get(page_of(link.token)), client.get(page_of("nonsense"))

    assert (ended.status_code, wrong.status_code) == (410, 404)
    assert "This link was withdrawn." in ended.content.decode()


def test_a_link_is_not_remembered_by_caches(carla, client):
    token = invitations.invite(role=ANNOTATOR, by=carla).token

    assert "no-store" in client.get(page_of(token))["Cache-Control"]
