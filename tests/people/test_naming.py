"""A member agrees to be named in what their project publishes, and withdraws that."""

from __future__ import annotations

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from annotate.models import Membership, Project
from annotate.people.members import set_named
from base.errors import Refused
from tests import factories

pytestmark = pytest.mark.django_db

URL, API = "/projects/tides/naming/", "/api/v1/projects/tides/naming/"


@pytest.fixture
def ada():
    return factories.member(factories.project(), "ada")


def named(member):
    return Membership.objects.get(pk=member.pk).named_at is not None


def test_nobody_is_named_until_they_agree(ada):
    assert not named(ada)


def test_a_member_agrees_and_withdraws_on_the_settings_page(ada, client):
    client.force_login(ada.user)
    assert "a number" in client.get("/settings/").content.decode()

    client.post(URL, {"named": "yes"})

    assert named(ada)
    assert "Withdraw" in client.get("/settings/").content.decode()
    client.post(URL, {"named": "no"})
    assert not named(ada)


def leave(member):
    Membership.objects.filter(pk=member.pk).update(left_at=timezone.now())


def archive(member):
    carla = factories.lead(member.project)
    Project.objects.update(archived_at=timezone.now(), archived_by=carla.user)


@pytest.mark.parametrize("change", [leave, archive])
def test_an_agreement_is_withdrawn_in_a_project_that_is_left_or_archived(ada, client, change):
    set_named(named=True, by=ada)
    change(ada)
    client.force_login(ada.user)
    assert "Tides" in client.get("/settings/").content.decode()

    client.post(URL, {"named": "no"})

    assert not named(ada)
    assert "Tides" not in client.get("/settings/").content.decode()


def test_an_answer_other_than_yes_or_no_changes_nothing(ada, client):
    set_named(named=True, by=ada)
    client.force_login(ada.user)

    answer = client.post(URL, {"named": "perhaps"}, follow=True)

    assert "Nothing was changed. Answer yes or no." in answer.content.decode()
    assert named(ada)


def test_a_member_agrees_and_withdraws_in_the_api(ada, client):
    client.force_login(ada.user)

    made = client.put(API, {"named": True}, content_type="application/json").json()

    assert made["named"] is True
    assert client.get(API).json() == made
    client.put(API, {"named": False}, content_type="application/json")
    assert not named(ada)


def test_people_change_only_their_own_answer(ada, client):
    ben = factories.member(ada.project, "ben")
    carla = factories.lead(ada.project)
    for other in (ben, carla):
        client.force_login(other.user)
        client.post(URL, {"named": "yes"})

    assert (named(ada), named(ben), named(carla)) == (False, True, True)


def test_a_rater_without_an_account_cannot_agree(ada):
    rater = Membership.objects.create(project=ada.project, name="annotator 1")

    with pytest.raises(Refused, match="Only people who sign in"):
        set_named(named=True, by=rater)
    with pytest.raises(IntegrityError), transaction.atomic():
        Membership.objects.filter(pk=rater.pk).update(named_at=timezone.now())


def test_other_members_do_not_see_the_answer(ada, client):
    ben = factories.member(ada.project, "ben")
    client.force_login(ben.user)
    addresses = ("/api/v1/projects/tides/", "/api/v1/projects/tides/members/", API)
    before = [client.get(address).content for address in addresses]

    set_named(named=True, by=ada)

    assert [client.get(address).content for address in addresses] == before
