"""Administrators give and remove administrator rights on the page People."""

from __future__ import annotations

import pytest
from django.urls import reverse

from annotate.models import AuditEvent, User
from annotate.people import accounts
from base.errors import Refused
from tests import factories


@pytest.fixture
def root(db):
    return User.objects.create_superuser("root", password=factories.PASSWORD)


@pytest.fixture
def ada(db):
    return factories.user("ada")


def rights(user):
    user.refresh_from_db()
    return user.is_superuser, user.is_staff


def test_administrator_rights_are_given_and_removed(client, root, ada):
    client.force_login(root)
    change = reverse("annotate:account_change", args=[ada.pk])

    client.post(change, {"change": "administrate"})
    assert rights(ada) == (True, True)
    client.post(change, {"change": "no-administration"})
    assert rights(ada) == (False, False)


def test_the_audit_log_has_each_change_once(root, ada):
    for _twice in range(2):
        accounts.grant_administration(user=ada, by=root)

    event = AuditEvent.objects.get(what="account.rights")
    assert (event.about, event.name, event.changes) == (
        "ada",
        "root",
        {"is_superuser": [False, True]},
    )


def test_nobody_can_change_their_own_rights(root):
    with pytest.raises(Refused, match="You cannot change your own rights"):
        accounts.revoke_administration(user=root, by=root)


def test_a_closed_account_cannot_become_administrator(root, ada):
    accounts.deactivate(user=ada, by=root)

    with pytest.raises(Refused, match="The account of ada is closed"):
        accounts.grant_administration(user=ada, by=root)


def test_only_administrators_can_give_rights(ada):
    with pytest.raises(Refused, match="Only administrators"):
        accounts.grant_administration(user=factories.user("ben"), by=ada)


def test_no_page_links_to_the_administration_of_django(client, root):
    client.force_login(root)

    for name in ("annotate:home", "annotate:people", "status"):
        assert reverse("admin:index") not in client.get(reverse(name)).content.decode()
