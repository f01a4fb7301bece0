"""The audit log records what leads and administrators did, and cannot be changed."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from django.db import DatabaseError, connection, transaction

from annotate.models import AuditEvent, Link
from annotate.projects.audit_log import AUDIT_EVENTS, EventKind, record
from base.constraints import deletions_allowed
from tests import factories

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


@pytest.fixture
def carla():
    return factories.lead(factories.project())


def test_an_audit_event_says_who_did_what_to_what_and_when(carla):
    ada = factories.member(carla.project, "ada")

    audit_event = record(
        project=carla.project,
        what="member.role",
        about=ada,
        by=carla,
        words="she asked for it",
        changes={"role": ("annotator", "lead"), "name": ("ada", "ada")},
        now=NOON,
    )

    audit_event.refresh_from_db()
    assert (audit_event.project, audit_event.user, audit_event.name) == (
        carla.project,
        carla.user,
        "carla",
    )
    assert (audit_event.about, audit_event.kind, audit_event.key) == (
        "ada",
        "annotate.membership",
        ada.pk,
    )
    assert audit_event.changes == {"role": ["annotator", "lead"]}
    assert (audit_event.words, audit_event.at) == ("she asked for it", NOON)


def test_an_audit_event_of_a_command_names_nobody():
    audit_event = record(project=None, what="project.restored", about="tides", by=None)

    assert (audit_event.user, audit_event.name, audit_event.about, audit_event.key) == (
        None,
        "",
        "tides",
        None,
    )


def test_an_audit_event_of_an_administrator_has_their_account():
    admin = factories.user("fay")

    audit_event = record(project=None, what="account.made", about="gus", by=admin)

    assert (audit_event.user, audit_event.name) == (admin, "fay")


def test_an_unknown_kind_is_an_error(carla):
    with pytest.raises(KeyError, match="not a kind of audit event"):
        record(project=carla.project, what="member.eaten", about="ada", by=carla)

    assert not AuditEvent.objects.exists()


@pytest.mark.parametrize("model", [AuditEvent, Link])
@pytest.mark.parametrize(
    "change", ["UPDATE {} SET {} = {}", "DELETE FROM {}"], ids=["changed", "deleted"]
)
def test_audit_events_and_links_cannot_be(model, change, carla):
    record(project=carla.project, what="project.made", about=carla.project, by=carla)
    Link.objects.create(
        project=carla.project,
        chain="6a3c9d1e-0000-4000-8000-000000000001",
        number=1,
        event=Link.Event.CONTENT,
        kind="judgment",
        name="6a3c9d1e-0000-4000-8000-000000000002",
        digest=b"d" * 32,
        sum=b"s" * 32,
    )
    table, column = model._meta.db_table, "kind"
    before = model.objects.count()

    with (
        pytest.raises(DatabaseError, match="never changes"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(change.format(table, column, column))

    assert model.objects.count() == before


def test_rows_are_deleted_only_while_deletions_are_allowed_and_never_changed(carla):
    record(project=carla.project, what="project.made", about=carla.project, by=carla)

    with (
        pytest.raises(DatabaseError, match="the audit log never changes"),
        transaction.atomic(),
        deletions_allowed(),
    ):
        AuditEvent.objects.update(about="another")
    with deletions_allowed():
        AuditEvent.objects.all().delete()

    assert not AuditEvent.objects.exists()
    record(project=carla.project, what="project.made", about=carla.project, by=carla)
    with pytest.raises(DatabaseError, match="the audit log never changes"), transaction.atomic():
        AuditEvent.objects.all().delete()


def test_every_kind_has_a_name_and_a_key_that_fits():
    for key, kind in AUDIT_EVENTS.items():
        assert isinstance(kind, EventKind)
        assert str(kind.name)
        assert 0 < len(key) <= 40
