"""The audit log has changes of memberships and accounts, but no actions without effect."""

from __future__ import annotations

import pytest

from annotate.models import AuditEvent, Membership, User
from annotate.people import accounts, invitations, members
from annotate.people.tokens import make_token
from tests import factories

ANNOTATOR, LEAD = Membership.Role.ANNOTATOR, Membership.Role.LEAD


@pytest.fixture
def carla(db):
    return factories.lead(factories.project())


@pytest.fixture
def root(db):
    return User.objects.create_superuser("root", password=factories.PASSWORD)


def audit_events():
    return [
        (audit_event.what, audit_event.name, audit_event.about, audit_event.words)
        for audit_event in AuditEvent.objects.order_by("pk")
    ]


def test_making_and_accepting_a_link_is_recorded(carla):
    link = invitations.invite(role=LEAD, name="ada", by=carla)
    invitations.accept_with_new_account(
        token=link.token, username="", password="seven long words of a tide"
    )

    assert audit_events() == [
        ("invitation.made", "carla", "ada", "lead"),
        ("invitation.taken", "ada", "ada", ""),
    ]
    assert {audit_event.project for audit_event in AuditEvent.objects.all()} == {carla.project}
    assert link.token not in str(list(AuditEvent.objects.values()))


def test_withdrawing_a_link_twice_is_recorded_once(carla):
    link = invitations.invite(role=ANNOTATOR, by=carla)
    for _ in range(2):
        invitations.withdraw(invitation=link.invitation, by=carla.user)

    name = f"link {link.invitation.pk}"
    assert audit_events() == [
        ("invitation.made", "carla", name, "annotator"),
        ("invitation.withdrawn", "carla", name, ""),
    ]


def test_changes_of_members_are_recorded_once(carla):
    ada = factories.user("ada")
    member = members.add_member(username="ada", role=ANNOTATOR, by=carla)
    for _ in range(2):
        members.change_role(member=member, role=LEAD, by=carla)
    for _ in range(2):
        members.remove_member(member=member, by=carla)

    assert ada == member.user
    assert audit_events() == [
        ("member.added", "carla", "ada", "annotator"),
        ("member.role", "carla", "ada", ""),
        ("member.removed", "carla", "ada", ""),
    ]
    assert AuditEvent.objects.get(what="member.role").changes == {"role": ["annotator", "lead"]}


def test_closing_and_reopening_accounts_is_recorded_once(root):
    ada = factories.user("ada")
    for _ in range(2):
        accounts.deactivate(user=ada, by=root)
    for _ in range(2):
        accounts.reactivate(user=ada, by=root)
    accounts.sign_out(user=ada, by=root)

    assert audit_events() == [
        ("account.closed", "root", "ada", ""),
        ("account.opened", "root", "ada", ""),
        ("account.sessions", "root", "ada", "0"),
    ]


def test_the_tokens_of_a_closed_account_end_for_good(root):
    ada = factories.user("ada")
    token = make_token(name="Notebook", scopes=[], days=1, by=ada).token

    accounts.deactivate(user=ada, by=root)
    accounts.reactivate(user=ada, by=root)

    token.refresh_from_db()
    assert token.ended_at
