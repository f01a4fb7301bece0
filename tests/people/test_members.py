"""Members of a project: adding people, changing their roles, removing them."""

from __future__ import annotations

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError
from django.urls import reverse
from django.utils import timezone

from annotate.judgments import assignments
from annotate.models import Assignment, AuditEvent, Membership, Project, User
from annotate.people import members
from base.errors import Refused
from tests import factories

ANNOTATOR, LEAD = Membership.Role.ANNOTATOR, Membership.Role.LEAD


@pytest.fixture
def carla(db):
    return factories.lead(factories.project())


def test_a_person_with_an_account_is_added(carla):
    factories.user("ada")

    member = members.add_member(username="ada", role=ANNOTATOR, by=carla)

    assert (member.name, member.user) == ("ada", factories.user("ada"))


def test_a_person_without_an_account_cannot_be_added(carla):
    with pytest.raises(Refused, match="has no account"):
        members.add_member(username="ada", role=ANNOTATOR, by=carla)

    assert not User.objects.filter(username="ada").exists()


def test_a_rater_known_only_by_name_has_no_account(carla):
    factories.user("ada")

    rater = members.add_rater(name="ada", by=carla)

    assert (rater.name, rater.role, rater.user) == ("ada", ANNOTATOR, None)
    assert members.add_rater(name="ada", by=carla) == rater
    # A person added under this name afterwards becomes this rater.
    assert members.add_member(username="ada", role=ANNOTATOR, by=carla).pk == rater.pk


def test_capital_letters_of_a_name_do_not_count(carla):
    factories.user("ada")
    rater = members.add_rater(name="ADA", by=carla)

    ada = members.add_member(username="Ada", role=ANNOTATOR, by=carla)

    assert (ada.pk, ada.name, ada.user) == (rater.pk, "ADA", factories.user("ada"))
    assert members.add_rater(name="aDa", by=carla) == ada
    with pytest.raises(Refused, match="ada is already in this project"):
        members.add_member(username="ADA", role=LEAD, by=carla)


def test_a_person_becomes_the_rater_of_exactly_their_name_if_a_file_brought_two(carla):
    members_of_file = [
        Membership.objects.create(project=carla.project, name=name) for name in ("A1", "a1")
    ]

    joined = members.add_member(username=factories.user("a1").username, role=ANNOTATOR, by=carla)

    assert joined == members_of_file[1]


def test_the_command_makes_a_lead_whatever_the_capital_letters(carla):
    ada = factories.user("ada")

    call_command("lead", carla.project.slug, "ADA")

    assert Membership.objects.get(user=ada).role == LEAD


def test_an_annotator_cannot_add_a_rater(carla):
    with pytest.raises(Refused, match="Only leads"):
        members.add_rater(name="ada", by=factories.member(carla.project, "ben"))


def test_a_closed_account_is_not_added(carla):
    User.objects.filter(pk=factories.user("ada").pk).update(is_active=False)

    with pytest.raises(Refused, match="closed"):
        members.add_member(username="ada", role=ANNOTATOR, by=carla)


def test_nobody_joins_twice(carla):
    factories.user("ada")
    members.add_member(username="ada", role=ANNOTATOR, by=carla)

    with pytest.raises(Refused, match="already in this project"):
        members.add_member(username="ada", role=LEAD, by=carla)


def test_a_rater_known_only_by_name_becomes_the_person_of_that_name(carla):
    rater = Membership.objects.create(project=carla.project, name="ada")
    factories.user("ada")

    member = members.add_member(username="ada", role=ANNOTATOR, by=carla)

    assert member == rater
    assert member.user == User.objects.get(username="ada")


def test_a_machines_name_is_not_given_to_a_person(carla):
    factories.machine(carla.project, "ada")
    factories.user("ada")

    with pytest.raises(Refused, match="name of a machine"):
        members.add_member(username="ada", role=ANNOTATOR, by=carla)

    assert Membership.objects.get(name="ada").user is None


@pytest.mark.parametrize("name", ["", "a b", "x" * 200, "a\x00b"])
def test_an_invalid_name_is_refused(carla, name):
    with pytest.raises(Refused):
        members.add_member(username=name, role=ANNOTATOR, by=carla)

    assert User.objects.count() == 1


def test_an_annotator_cannot_add_members(carla):
    ada = factories.member(carla.project, "ada")

    with pytest.raises(Refused, match="Only leads"):
        members.add_member(username="eve", role=LEAD, by=ada)


def test_the_only_lead_cannot_leave_or_become_annotator(carla):
    with pytest.raises(Refused, match="only lead"):
        members.change_role(member=carla, role=ANNOTATOR, by=carla)
    with pytest.raises(Refused, match="only lead"):
        members.remove_member(member=carla, by=carla)

    assert Membership.objects.get(pk=carla.pk).leads


def test_the_first_lead_can_leave_if_there_is_a_second(carla):
    ada = factories.member(carla.project, "ada")
    members.change_role(member=ada, role=LEAD, by=carla)

    members.remove_member(member=carla, by=carla)

    assert not Membership.objects.get(pk=carla.pk).leads


def test_a_removed_member_keeps_judgments_and_frees_assignments(carla):
    query = factories.query(carla.project)
    candidate = factories.candidate(query)
    pair = factories.pair(query)
    ada = factories.member(carla.project, "ada")
    assignments.take_next(task=Assignment.Task.REVIEW, by=ada)
    judgment = factories.judgment(factories.altered(pair), candidate, ada)

    gone = members.remove_member(member=ada, by=carla)

    assert gone.left_at
    assert not ada.assignments.exists()
    judgment.refresh_from_db()
    assert judgment.annotator == ada


def test_a_machine_cannot_be_removed(carla):
    machine = factories.machine(carla.project)

    with pytest.raises(Refused, match="has no account"):
        members.remove_member(member=machine, by=carla)


def test_a_former_member_cannot_see_the_project_until_added_again(carla, client):
    ada = factories.member(carla.project, "ada")
    members.remove_member(member=ada, by=carla)
    client.force_login(ada.user)
    url = reverse("annotate:guidelines", args=[carla.project.slug])

    assert client.get(url).status_code == 404

    members.add_member(username="ada", role=ANNOTATOR, by=carla)

    assert client.get(url).status_code == 200


def test_a_member_of_another_project_cannot_be_removed(carla):
    eve = factories.member(factories.project("other"), "eve")

    with pytest.raises(Refused, match="no such member"):
        members.remove_member(member=eve, by=carla)


def test_the_database_refuses_a_lead_without_an_account(carla):
    with pytest.raises(IntegrityError):
        Membership.objects.create(project=carla.project, name="nobody", role=LEAD)


def test_the_database_refuses_a_machine_with_an_account(carla):
    with pytest.raises(IntegrityError):
        Membership.objects.create(
            project=carla.project, name="m", is_machine=True, user=factories.user("m")
        )


def test_a_command_appoints_a_lead(db, capsys):
    project = factories.project()
    factories.user("carla")

    call_command("lead", "tides", "carla")
    call_command("lead", "tides", "carla")

    assert project.memberships.get().leads
    assert capsys.readouterr().out == "carla leads tides.\n" * 2


def test_the_command_makes_a_lead_of_an_archived_project_once(carla):
    Project.objects.update(archived_at=timezone.now(), archived_by=carla.user)
    factories.user("ada")

    call_command("lead", "tides", "ada")
    call_command("lead", "tides", "ada")

    ada = Membership.objects.get(name="ada")
    assert ada.leads
    assert AuditEvent.objects.filter(what="member.added").count() == 1


def test_a_closed_account_is_not_made_a_lead(carla):
    factories.user("ada")
    User.objects.filter(username="ada").update(is_active=False)

    with pytest.raises(CommandError, match="The account of ada is closed"):
        call_command("lead", "tides", "ada")

    assert list(carla.project.memberships.all()) == [carla]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [(("other", "carla"), "no project “other”"), (("tides", "nobody"), "no account “nobody”")],
)
def test_an_unknown_project_or_account_is_refused(carla, words, sentence):
    with pytest.raises(CommandError, match=sentence):
        call_command("lead", *words)


def test_without_a_project_a_command_says_how_to_make_one(db):
    with pytest.raises(CommandError, match=r"Make it: manage\.py load tides FORMAT FILE --create"):
        call_command("lead", "tides", "carla")
