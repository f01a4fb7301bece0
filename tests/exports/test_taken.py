"""Downloads are recorded in the audit log, from pages and over the API."""

from __future__ import annotations

import pytest
from django.urls import reverse

from annotate.models import AuditEvent
from exporters.exports import actions
from exporters.models import Export
from jobs.runner import Progress
from tests import factories
from tests.exports.conftest import AT, LATER, released


@pytest.fixture
def built(tides) -> Export:
    export = Export.objects.create(project=tides.project, by=tides.carla, format="trec")
    actions.build(export, Progress())
    Export.objects.update(state="done", started_at=AT, finished_at=LATER)
    export.refresh_from_db()
    return export


def take(client, address: str) -> int:
    answer = client.get(address)
    if answer.streaming:
        b"".join(answer.streaming_content)
    return int(answer.status_code)


def taken() -> list[tuple[str, str, str, str]]:
    rows = AuditEvent.objects.filter(what__endswith=".taken").order_by("pk")
    return list(rows.values_list("what", "name", "about", "words"))


@pytest.mark.parametrize("door", ["exporters:", "exporters:api_"])
def test_a_file_and_an_archive_of_an_export(built, client, door):
    client.force_login(factories.user("carla"))
    names = {"exporters:": ("file", "archive"), "exporters:api_": ("export_file", "export_archive")}
    file, archive = (door + name for name in names[door])

    assert take(client, reverse(file, args=["tides", built.pk, "qrels.changed.txt"])) == 200
    assert take(client, reverse(archive, args=["tides", built.pk])) == 200
    assert take(client, reverse(file, args=["tides", built.pk, "none.txt"])) == 404

    about = f"trec export {built.pk}"
    assert taken() == [
        ("export.taken", "carla", about, "qrels.changed.txt"),
        ("export.taken", "carla", about, "export.zip"),
    ]


@pytest.mark.parametrize("name", ["exporters:release_file", "exporters:api_release_file"])
def test_a_file_of_a_release(tides, client, name):
    released(tides, "v1")
    client.force_login(factories.user("carla"))

    assert take(client, reverse(name, args=["tides", "v1", "trec/qrels.changed.txt"])) == 200

    assert taken() == [("release.taken", "carla", "v1", "trec/qrels.changed.txt")]


def test_who_may_not_have_it_took_nothing(built, client):
    client.force_login(factories.user("ada"))

    assert take(client, reverse("exporters:archive", args=["tides", built.pk])) == 403

    assert taken() == []
