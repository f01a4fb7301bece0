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
from config.administration import AuditedAdmin
from exporters.models import Export
from keeping.verify import verify
from tests import factories


@pytest.fixture
def fay(db) -> User:
    return User.objects.create_superuser("fay", password=factories.PASSWORD)


def recorded_events() -> list[tuple[str, str, str, str]]:
    rows = AuditEvent.objects.filter(project=None).order_by("pk")
    return list(rows.values_list("what", "name", "about", "words"))


def test_every_registered_model_is_audited():
    assert admin.site._registry
    assert all(isinstance(one, AuditedAdmin) for one in admin.site._registry.values())


def test_additions_changes_and_deletions_are_recorded_with_their_author(fay, client):
    client.force_login(fay)
    client.post(reverse("admin:auth_group_add"), {"name": "readers"})
    group = Group.objects.get()
    client.post(reverse("admin:auth_group_change", args=[group.pk]), {"name": "writers"})
    client.post(reverse("admin:auth_group_delete", args=[group.pk]), {"post": "yes"})

    assert not Group.objects.exists()
    assert recorded_events() == [
        ("admin.added", "fay", "group readers", "Added."),
        ("admin.changed", "fay", "group writers", "Changed Name."),
        ("admin.deleted", "fay", "group writers", ""),
    ]
    assert verify(None).faults == []


def test_refused_changes_are_not_recorded(fay, client):
    client.force_login(fay)
    client.post(reverse("admin:auth_group_add"), {"name": ""})

    assert recorded_events() == []


def test_tokens_are_recorded_without_their_secret(db):
    ada = factories.user("ada")
    made = make_token(name="my script", scopes=["judge"], days=7, by=ada)
    for _ in range(2):
        end_token(pk=made.token.pk, by=ada)

    assert recorded_events() == [
        ("token.made", "ada", "my script", ""),
        ("token.ended", "ada", "my script", ""),
    ]


def test_only_administrators_can_read_the_audit_log(fay, client):
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


def test_an_empty_audit_log_says_where_accounts_of_projects_are_recorded(fay, client):
    client.force_login(fay)

    page = client.get(reverse("installation_audit_log")).content.decode()

    assert "Nothing has been recorded here yet" in page
    assert "is in the audit log of that project" in page


def test_a_retried_job_is_recorded_once(fay, client, published):
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
        client.post(reverse("status_retry", args=[export.pk]))

    events = AuditEvent.objects.filter(project=project)
    assert list(events.values_list("what", "name", "about")) == [
        ("job.retried", "fay", f"export {export.pk}: trec export {export.pk}")
    ]
