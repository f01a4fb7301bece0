"""A link lets one person in, once, as long as its creator may invite people."""

from __future__ import annotations

from datetime import timedelta

import pytest
from allauth.account.models import EmailAddress
from django.db import IntegrityError
from django.urls import reverse
from django.utils import timezone

from annotate.models import AuditEvent, Invitation, Membership, User
from annotate.people import invitations, members
from base.errors import InvalidField, ObjectNotFound, Refused, Stale
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


def test_a_link_creates_an_account_and_a_membership(carla):
    token = invitations.invite(role=LEAD, by=carla).token

    ada = new(token, email="Ada@Example.org")

    assert ada.check_password(PASSWORD)
    assert carla.project.memberships.get(user=ada).role == LEAD
    assert Invitation.objects.get().accepted_by == ada
    address = EmailAddress.objects.get(user=ada)
    assert (address.email, address.primary, address.verified) == ("ada@example.org", True, False)


def test_a_link_adds_an_existing_account(carla):
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


def test_a_second_link_for_a_name_withdraws_the_first(carla, client):
    client.force_login(carla.user)
    address = reverse("annotate:members", args=[carla.project.slug])
    other = factories.lead(factories.project("dunes"), "dan")
    elsewhere = invitations.invite(role=ANNOTATOR, name="ada", by=other)
    first = invitations.invite(role=ANNOTATOR, name="ada", by=carla)
    assert (elsewhere.ends_another, first.ends_another) == (False, False)

    page = client.post(address, {"username": "Ada", "role": "annotator", "days": "7"})

    assert "The earlier link for Ada is withdrawn" in page.content.decode()
    with pytest.raises(Stale, match="This link was withdrawn"):
        invitations.open_invitation(first.token)
    assert carla.project.invitations.open().get().name == "Ada"
    withdrawn = AuditEvent.objects.filter(project=carla.project, what="invitation.withdrawn")
    assert withdrawn.count() == 1
    # A link to another project is that of its lead, and links without a name are for others.
    assert invitations.open_invitation(elsewhere.token).project == other.project
    invitations.invite(role=ANNOTATOR, by=carla)
    assert not invitations.invite(role=ANNOTATOR, by=carla).ends_another
    assert carla.project.invitations.open().count() == 3


def test_a_second_link_for_an_account_without_a_project_withdraws_the_first(admin):
    first = invitations.invite_to_installation(name="ada", by=admin)

    second = invitations.invite_to_installation(name="ada", by=admin)

    assert second.ends_another
    with pytest.raises(Stale, match="This link was withdrawn"):
        new(first.token)
    assert new(second.token).username == "ada"


def test_a_link_to_several_projects_is_withdrawn_in_one_of_them(carla):
    also = factories.lead(factories.project("dunes"), "carla")
    both = invitations.invite_to_projects(roles={carla: "annotator", also: "annotator"}, name="ada")

    invitations.invite(role=ANNOTATOR, name="ada", by=carla)

    assert [row.project for row in invitations.open_invitations(both.token)] == [also.project]


def test_a_link_expires_to_the_minute(carla):
    now = timezone.now()
    token = invitations.invite(role=ANNOTATOR, days=1, by=carla, now=now).token

    invitations.open_invitation(token, now=now + timedelta(hours=23, minutes=59))
    with pytest.raises(Stale, match="expired"):
        new(token, now=now + timedelta(days=1))

    assert not User.objects.filter(username="ada").exists()


def test_a_withdrawn_link_lets_nobody_in(carla):
    link = invitations.invite(role=ANNOTATOR, by=carla)
    invitations.withdraw(invitation=link.invitation, by=factories.user("carla"))
    invitations.withdraw(invitation=link.invitation, by=factories.user("carla"))

    with pytest.raises(Stale, match="withdrawn"):
        new(link.token)


def test_a_used_link_cannot_be_withdrawn(carla):
    link = invitations.invite(role=ANNOTATOR, by=carla)
    new(link.token)

    with pytest.raises(Stale, match="already"):
        invitations.withdraw(invitation=link.invitation, by=factories.user("carla"))


def test_a_link_of_a_former_lead_lets_nobody_in(carla):
    token = invitations.invite(role=ANNOTATOR, by=carla).token
    other = factories.lead(carla.project, "frank")
    members.change_role(member=carla, role=ANNOTATOR, by=other)

    with pytest.raises(Stale, match="can no longer invite you"):
        new(token)


def test_a_link_to_an_archived_project_is_refused(carla):
    token = invitations.invite(role=ANNOTATOR, by=carla).token
    project = carla.project
    project.archived_at, project.archived_by = timezone.now(), carla.user
    project.save()

    with pytest.raises(Refused, match="archived"):
        new(token)


@pytest.mark.parametrize("token", ["", "x", "a\x00b", "ü" * 50])
def test_an_unknown_link_is_not_found(carla, token):
    with pytest.raises(ObjectNotFound):
        invitations.open_invitation(token)


def test_the_secret_is_not_stored(carla):
    link = invitations.invite(role=ANNOTATOR, by=carla)

    assert len(link.token) == 43
    assert link.token not in str(list(Invitation.objects.values()))


def test_an_annotator_cannot_invite(carla):
    ada = factories.member(carla.project, "ada")
    link = invitations.invite(role=ANNOTATOR, by=carla)

    with pytest.raises(Refused, match="Only leads"):
        invitations.invite(role=ANNOTATOR, by=ada)
    with pytest.raises(Refused, match="Only leads"):
        invitations.withdraw(invitation=link.invitation, by=factories.user("ada"))
    with pytest.raises(Refused, match="Only administrators"):
        invitations.invite_to_installation(by=factories.user("carla"))


def test_a_lead_cannot_withdraw_a_link_of_another_project(carla):
    factories.lead(factories.project("other"), "eve")
    link = invitations.invite(role=ANNOTATOR, by=carla)

    with pytest.raises(Refused):
        invitations.withdraw(invitation=link.invitation, by=factories.user("eve"))


@pytest.mark.parametrize("invalid", [{"role": "king"}, {"days": 0}, {"days": 31}, {"name": "a b"}])
def test_an_invalid_invitation_is_refused(carla, invalid):
    with pytest.raises(Refused):
        invitations.invite(**{"role": ANNOTATOR, **invalid}, by=carla)

    assert not Invitation.objects.exists()


def test_a_person_with_an_account_cannot_be_invited_by_name(carla):
    factories.user("ada")

    with pytest.raises(Refused, match="already has an account"):
        invitations.invite(role=ANNOTATOR, name="ADA", by=carla)


def test_nobody_is_invited_under_a_machines_name(carla):
    factories.machine(carla.project, "model")

    with pytest.raises(Refused, match="machine"):
        invitations.invite(role=ANNOTATOR, name="model", by=carla)


# --- names ----------------------------------------------------------------------------------------


def test_a_link_for_a_name_gives_that_name_whatever_is_typed(carla):
    token = invitations.invite(role=ANNOTATOR, name="ada", by=carla).token

    assert new(token, "root").username == "ada"


def test_a_link_for_a_name_takes_over_the_rater_of_a_file(carla):
    rater = Membership.objects.create(project=carla.project, name="ada")
    token = invitations.invite(role=ANNOTATOR, name="ada", by=carla).token

    ada = new(token)

    rater.refresh_from_db()
    assert rater.user == ada


def test_a_second_link_for_a_name_asks_its_new_account_to_sign_in(carla):
    other = factories.lead(factories.project("other"), "frank")
    first, second = (invitations.invite(role=ANNOTATOR, name="zoe", by=by) for by in (carla, other))
    new(first.token)

    with pytest.raises(InvalidField, match="zoe has an account by now"):
        new(second.token)


def test_nobody_gets_the_mail_address_of_another_account_as_a_name(carla):
    ben = factories.user("ben")
    ben.email = "ben@example.org"
    ben.save()
    token = invitations.invite(role=ANNOTATOR, by=carla).token

    with pytest.raises(InvalidField, match="taken"):
        new(token, name="Ben@example.org")
    with pytest.raises(Refused, match="has the address Ben@"):
        invitations.invite(role=ANNOTATOR, name="Ben@example.org", by=carla)


def test_capital_letters_of_a_name_in_a_link_do_not_count(carla):
    token = invitations.invite(role=ANNOTATOR, name="Ada", by=carla).token

    invitations.accept(token=token, by=factories.user("ada"))

    assert Membership.objects.filter(name="ada", project=carla.project).exists()


@pytest.mark.parametrize("has_account", [True, False])
@pytest.mark.parametrize("rater_name", ["zoe", "ZOE"])
def test_nobody_can_take_over_a_rater_of_a_file_by_themselves(carla, has_account, rater_name):
    rater = Membership.objects.create(project=carla.project, name=rater_name)
    token = invitations.invite(role=ANNOTATOR, by=carla).token

    def join():
        if has_account:
            return invitations.accept(token=token, by=factories.user("zoe"))
        return new(token, "zoe")

    with pytest.raises(InvalidField, match="another person in this project"):
        join()

    rater.refresh_from_db()
    assert rater.user is None
    assert User.objects.filter(username="zoe").exists() == has_account


def test_a_link_for_a_name_is_refused_for_another_name(carla):
    token = invitations.invite(role=ANNOTATOR, name="ada", by=carla).token

    with pytest.raises(Refused, match="for ada"):
        invitations.accept(token=token, by=factories.user("ben"))

    assert invitations.open_invitation(token).accepted_at is None


@pytest.mark.parametrize(
    ("name", "password", "email", "field"),
    [
        ("BEN", PASSWORD, "", "username"),
        ("ada", "short", "", "password"),
        ("ada", "a" * 40, "nowhere", "email"),
        ("ada", PASSWORD, "ben@example.org", "email"),
    ],
)
def test_an_error_of_a_new_account_names_its_field(carla, name, password, email, field):
    User.objects.create_user("ben", "ben@example.org")
    token = invitations.invite(role=ANNOTATOR, by=carla).token

    with pytest.raises(InvalidField) as refused:
        invitations.accept_with_new_account(
            token=token, username=name, password=password, email=email
        )

    assert refused.value.field == field
    assert invitations.open_invitation(token).accepted_at is None
    assert User.objects.count() == 2


def test_a_member_cannot_use_a_link_to_the_same_project(carla):
    token = invitations.invite(role=ANNOTATOR, by=carla).token

    with pytest.raises(Refused, match="already in this project"):
        invitations.accept(token=token, by=factories.user("carla"))

    assert invitations.open_invitation(token).accepted_at is None


def test_a_former_member_gets_the_old_membership_back(carla):
    ada = factories.member(carla.project, "ada")
    members.remove_member(member=ada, by=carla)

    back = invitations.accept(
        token=invitations.invite(role=ANNOTATOR, by=carla).token, by=factories.user("ada")
    )

    assert back is not None
    assert back.pk == ada.pk
    assert back.left_at is None


# --- the installation -----------------------------------------------------------------------------


def test_a_link_to_the_installation_creates_an_account_without_a_project(admin):
    ada = new(invitations.invite_to_installation(by=admin).token)

    assert not ada.memberships.exists()
    assert not ada.is_staff
    assert not ada.is_superuser


def test_an_existing_account_cannot_use_a_link_to_the_installation(admin):
    token = invitations.invite_to_installation(by=admin).token

    with pytest.raises(Refused, match="already have an account"):
        invitations.accept(token=token, by=factories.user("ada"))

    assert invitations.open_invitation(token).accepted_at is None


@pytest.mark.parametrize(
    "invalid",
    [
        {"accepted_at": timezone.now()},
        {"withdrawn_at": timezone.now()},
        {"expires_at": timezone.now() - timedelta(days=9)},
        {"project": None, "role": LEAD},
    ],
)
def test_the_database_refuses_inconsistent_fields(carla, invalid):
    link = invitations.invite(role=ANNOTATOR, by=carla)

    with pytest.raises(IntegrityError):
        Invitation.objects.filter(pk=link.invitation.pk).update(**invalid)


# --- the page -------------------------------------------------------------------------------------


def page_of(token):
    return reverse("annotate:invitation", args=[token])


TYPED = {"username": "ada", "email": "", "password": PASSWORD, "password_again": PASSWORD}


def test_a_person_who_uses_a_link_is_signed_in_and_in_the_project(carla, client):
    token = invitations.invite(role=ANNOTATOR, by=carla).token
    assert "carla invites you to the project “Tides”" in client.get(page_of(token)).content.decode()

    response = client.post(page_of(token), TYPED)

    assert response.url == "/projects/tides/"
    assert client.get(response.url).status_code == 200
    assert client.get("/").wsgi_request.user.username == "ada"


def test_two_different_passwords_create_no_account(carla, client):
    token = invitations.invite(role=ANNOTATOR, by=carla).token

    response = client.post(page_of(token), TYPED | {"password_again": "another"})

    assert response.status_code == 422
    assert "The two passwords differ." in response.content.decode()
    assert PASSWORD not in response.content.decode()
    assert not User.objects.filter(username="ada").exists()


def test_all_errors_of_the_passwords_are_shown_at_once(carla, client):
    token = invitations.invite(role=ANNOTATOR, by=carla).token

    response = client.post(page_of(token), TYPED | {"password": "ada", "password_again": "another"})

    page = response.content.decode()
    assert response.status_code == 422
    assert "The two passwords differ." in page
    assert "This password is too short." in page
    assert "The password is too similar to the username." in page


def test_a_signed_in_person_joins_with_one_button(carla, client):
    token = invitations.invite(role=ANNOTATOR, by=carla).token
    client.force_login(factories.user("ben"))
    assert "Join as ben" in client.get(page_of(token)).content.decode()
    assert not Membership.objects.filter(name="ben").exists()

    response = client.post(page_of(token))

    assert response.url == "/projects/tides/"
    assert Membership.objects.get(name="ben").user == factories.user("ben")


def test_opening_a_used_link_again_redirects_to_the_project(carla, client):
    token = invitations.invite(role=ANNOTATOR, by=carla).token
    client.post(page_of(token), TYPED)

    assert client.get(page_of(token)).url == "/projects/tides/"


def test_a_link_that_is_no_longer_valid_says_why(carla, client):
    link = invitations.invite(role=ANNOTATOR, by=carla)
    invitations.withdraw(invitation=link.invitation, by=factories.user("carla"))

    ended, unknown = client.get(page_of(link.token)), client.get(page_of("nonsense"))

    assert (ended.status_code, unknown.status_code) == (410, 404)
    assert "This link was withdrawn." in ended.content.decode()


def test_a_link_page_is_not_cached(carla, client):
    token = invitations.invite(role=ANNOTATOR, by=carla).token

    assert "no-store" in client.get(page_of(token))["Cache-Control"]
