"""Simultaneous requests: one link, a project's last two leads, two administrators."""

from __future__ import annotations

import pytest
from allauth.account.forms import default_token_generator

from annotate.models import Invitation, Membership, User
from annotate.people import accounts, invitations, members
from annotate.people.invitations import Link
from base.errors import Refused
from config.accounts import LinkUsed, ResetPasswordKeyForm
from tests import factories
from tests.reviews.test_at_once import at_once, fresh

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.postgresql,
    pytest.mark.both_databases,
]

PASSWORD = "seven long words of a tide"


def refused(outcomes):
    return [outcome for outcome in outcomes if isinstance(outcome, Refused)]


@pytest.fixture
def carla():
    return factories.lead(factories.project())


def test_one_of_two_people_who_use_a_link_at_once_joins(carla):
    token = invitations.invite(role="annotator", by=carla).token

    outcomes = at_once(
        *(
            lambda name=name: invitations.accept_with_new_account(
                token=token, username=name, password=PASSWORD
            )
            for name in ("ada", "ben")
        )
    )

    assert len(refused(outcomes)) == 1
    [user] = User.objects.exclude(username="carla")
    assert Membership.objects.get(user=user).project == carla.project
    assert Invitation.objects.get().accepted_by == user


def test_a_link_used_and_withdrawn_at_once_ends_once(carla):
    link = invitations.invite(role="annotator", by=carla)

    outcomes = at_once(
        lambda: invitations.accept_with_new_account(
            token=link.token, username="ada", password=PASSWORD
        ),
        lambda: invitations.withdraw(invitation=link.invitation, by=factories.user("carla")),
    )

    assert len(refused(outcomes)) == 1
    ended = Invitation.objects.get()
    assert (ended.accepted_at is None) != (ended.withdrawn_at is None)
    assert User.objects.filter(username="ada").exists() == (ended.accepted_at is not None)


def test_of_two_links_made_for_one_name_at_once_one_is_valid(carla):
    frank = factories.lead(carla.project, "frank")

    for place in range(5):
        outcomes = at_once(
            *(
                lambda lead=lead, name=f"ada{place}": invitations.invite(
                    role="annotator", name=name, by=fresh(lead)
                )
                for lead in (carla, frank)
            )
        )

        assert sorted(link.ends_another for link in outcomes) == [False, True]
        assert Invitation.objects.open().filter(name=f"ada{place}").count() == 1


def test_of_two_links_to_the_installation_made_for_one_name_at_once_one_is_valid(carla):
    administrators = [User.objects.create_superuser(name) for name in ("root", "toor")]

    for place in range(5):
        outcomes = at_once(
            *(
                lambda user=user, name=f"ada{place}": invitations.invite_to_installation(
                    name=name, by=user
                )
                for user in administrators
            )
        )

        assert sorted(link.ends_another for link in outcomes) == [False, True]
        assert Invitation.objects.open().filter(name=f"ada{place}").count() == 1


def test_a_link_used_while_another_is_made_for_its_name_ends_once(carla):
    link = invitations.invite(role="annotator", name="ada", by=carla)

    outcomes = at_once(
        lambda: invitations.accept_with_new_account(
            token=link.token, username="ada", password=PASSWORD
        ),
        lambda: invitations.invite(role="annotator", name="ada", by=fresh(carla)),
    )

    assert len(refused(outcomes)) <= 1
    assert all(isinstance(outcome, User | Link | Refused) for outcome in outcomes)
    ended = Invitation.objects.get(pk=link.invitation.pk)
    assert (ended.accepted_at is None) != (ended.withdrawn_at is None)


def test_one_of_two_administrators_who_close_each_other_remains(carla):
    one, other = (User.objects.create_superuser(name) for name in ("root", "toor"))

    outcomes = at_once(
        lambda: accounts.deactivate(user=other, by=one),
        lambda: accounts.deactivate(user=one, by=other),
    )

    assert len(refused(outcomes)) == 1
    assert User.objects.filter(is_superuser=True, is_active=True).count() == 1


def test_one_of_two_leads_removed_at_once_remains(carla):
    factories.lead(carla.project, "frank")
    root = User.objects.create_superuser("root")

    outcomes = at_once(
        lambda: accounts.deactivate(user=factories.user("frank"), by=root),
        lambda: members.remove_member(member=carla, by=fresh(carla)),
    )

    assert len(refused(outcomes)) == 1
    led = Membership.objects.active().filter(role="lead", user__is_active=True)
    assert led.count() == 1


def test_one_of_two_lookalike_names_made_at_once_is_accepted(carla):
    tokens = [invitations.invite(role="annotator", by=carla).token for _ in range(2)]
    names = ("ada", "\N{CYRILLIC SMALL LETTER A}da")

    outcomes = at_once(
        *(
            lambda token=token, name=name: invitations.accept_with_new_account(
                token=token, username=name, password=PASSWORD
            )
            for token, name in zip(tokens, names, strict=True)
        )
    )

    assert len(refused(outcomes)) == 1
    assert User.objects.filter(username__in=names).count() == 1


def test_one_of_two_people_who_set_a_password_with_one_link_at_once_succeeds(carla):
    user = factories.user("ada")
    key = default_token_generator.make_token(user)

    def set_password(password):
        form = ResetPasswordKeyForm(
            {"password1": password, "password2": password},
            user=User.objects.get(pk=user.pk),
            temp_key=key,
        )
        assert form.is_valid()
        form.save()
        return password

    outcomes = at_once(
        lambda: set_password("eight tidal mills"), lambda: set_password("nine tidal mills")
    )

    [password] = [outcome for outcome in outcomes if isinstance(outcome, str)]
    assert [type(one) for one in outcomes if one != password] == [LinkUsed]
    assert User.objects.get(pk=user.pk).check_password(password)
