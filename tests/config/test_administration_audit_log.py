"""Changes in the admin, and to tokens, are in the installation's audit log."""

from __future__ import annotations

import pytest
from django.contrib import admin
from django.contrib.auth.models import Group
from django.urls import reverse
from django.utils import timezone

from annotate.models import AuditEvent, User
from annotate.people.tokens import end_token, make_token
from annotate.projects.audit_log import record
from config.administration import Trailed
from exporters.models import Export
from keeping.verify import verify
from tests import factories


@pytest.fixture
def fay(db) -> User:
    return User.objects.create_superuser("fay", password=factories.PASSWORD)


def done() -> list[tuple[str, str, str, str]]:
    rows = AuditEvent.objects.filter(project=None).order_by("pk")
    return list(rows.values_list("what", "name", "about", "words"))


def test_every_part_of_the_administration_is_in_the_audit_log():
    assert admin.site._registry
    assert all(isinstance(one, Trailed) for one in admin.site._registry.values())


def test_what_is_added_changed_and_deleted_is_told_with_who_did_it(fay, client):
    client.force_login(fay)
    client.post(reverse("admin:auth_group_add"), {"name": "readers"})
    group = Group.objects.get()
    client.post(reverse("admin:auth_group_change", args=[group.pk]), {"name": "writers"})
    client.post(reverse("admin:auth_group_delete", args=[group.pk]), {"post": "yes"})

    assert not Group.objects.exists()
    assert done() == [
        ("admin.added", "fay", "group readers", "Added."),
        ("admin.changed", "fay", "group writers", "Changed Name."),
        ("admin.deleted", "fay", "group writers", ""),
    ]
    assert verify(None).faults == []


def test_what_the_administration_refuses_is_not_there(fay, client):
    client.force_login(fay)
    client.post(reverse("admin:auth_group_add"), {"name": ""})

    assert done() == []


def test_tokens_are_there_without_their_secret(db):
    ada = factories.user("ada")
    made = make_token(name="my script", scopes=["judge"], days=7, by=ada)
    for _ in range(2):
        end_token(pk=made.token.pk, by=ada)

    assert done() == [
        ("token.made", "ada", "my script", ""),
        ("token.ended", "ada", "my script", ""),
    ]


def test_who_looks_after_the_installation_reads_it_and_nobody_else(fay, client):
    ada = factories.user("ada")
    make_token(name="my script", scopes=[], days=7, by=ada)
    project = factories.project()
    record(project=project, what="project.made", about=project, by=fay)
    page, table = reverse("installation_audit_log"), reverse("installation_audit_log_table")

    client.force_login(ada)
    assert client.get(page).status_code == client.get(table).status_code == 403

    client.force_login(fay)
    shown = client.get(f"{page}?who={ada.pk}")
    assert [line.what for line in shown.context["lines"]] == ["Made a token"]
    assert "my script" in b"".join(client.get(f"{table}?what=token.made")).decode()
    assert client.get(f"{table}?since=x").url == page


def test_a_job_that_is_tried_again_is_there_once(fay, client, published):
    project = factories.project()
    export = Export.objects.create(
        project=project,
        by=factories.lead(project),
        format="trec",
        state="failed",
        error="The disk is full.",
        finished_at=timezone.now(),
    )
    client.force_login(fay)

    for _ in range(2):
        client.post(reverse("status_retry", args=["exporters.export", export.pk]))

    told = AuditEvent.objects.filter(project=project)
    assert list(told.values_list("what", "name", "about")) == [
        ("job.retried", "fay", f"exporters.export {export.pk}: trec export {export.pk}")
    ]
