"""A program invites people and downloads the audit log over HTTP."""

from __future__ import annotations

import csv

import pytest

from annotate.models import Invitation
from annotate.people.tokens import make_token
from rejudge_client import Forbidden, Rejudge
from tests import factories


def make_client(live_server, name: str) -> Rejudge:
    secret = make_token(name="Notebook", scopes=["lead"], days=1, by=factories.user(name)).secret
    return Rejudge(live_server.url, secret, progress=False)


@pytest.fixture
def carla(transactional_db, live_server):
    factories.lead(factories.project("tides"), "carla")
    with make_client(live_server, "carla") as rejudge:
        yield rejudge


def test_a_lead_can_invite_someone_and_download_the_audit_log(carla, live_server, tmp_path):
    tides = carla.project("tides")

    link = tides.invite("newcomer", role="lead", days=3)
    table = tides.fetch_audit_log(tmp_path / "audit-log.csv")

    made = Invitation.objects.get()
    assert (link["id"], made.name, made.role) == (made.pk, "newcomer", "lead")
    assert (link["url"] or "").startswith(f"{live_server.url}/invitations/")
    assert [member["name"] for member in tides.members()] == ["carla"]
    assert [(audit_event["who"], audit_event["what"]) for audit_event in tides.audit_log()] == [
        ("carla", "invitation.made")
    ]
    with table.open(encoding="utf-8-sig", newline="") as file:
        assert [row["what"] for row in csv.DictReader(file)] == ["invitation.made"]


def test_administrators_can_list_accounts_and_invite_people(carla, live_server):
    root = factories.user("root")
    root.is_superuser = True
    root.save()

    with make_client(live_server, "root") as rejudge:
        link = rejudge.invite("newcomer")
        names = [account["username"] for account in rejudge.accounts("car")]
        closed = list(rejudge.accounts(closed=True))

    assert link["mailed"] is None
    assert Invitation.objects.get().project is None
    assert (names, closed) == (["carla"], [])
    with pytest.raises(Forbidden):
        carla.invite("somebody")
