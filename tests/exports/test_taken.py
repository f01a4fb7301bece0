"""Downloads are recorded in the audit log, from pages and over the API."""

from __future__ import annotations

import pytest
from django.core.files.storage import default_storage
from django.urls import reverse

from annotate.models import AuditEvent
from tests import factories
from tests.exports.conftest import make_release


def download(client, address: str) -> int:
    answer = client.get(address)
    if answer.streaming:
        b"".join(answer.streaming_content)
    return int(answer.status_code)


def recorded_downloads() -> list[tuple[str, str, str, str]]:
    rows = AuditEvent.objects.filter(what__endswith=".taken").order_by("pk")
    return list(rows.values_list("what", "name", "about", "words"))


@pytest.mark.parametrize("door", ["exporters:", "exporters:api_"])
def test_downloads_of_a_file_and_an_archive_of_an_export_are_recorded(built, client, door):
    client.force_login(factories.user("carla"))
    names = {"exporters:": ("file", "archive"), "exporters:api_": ("export_file", "export_archive")}
    file, archive = (door + name for name in names[door])

    assert download(client, reverse(file, args=["tides", built.pk, "qrels.changed.txt"])) == 200
    assert download(client, reverse(archive, args=["tides", built.pk])) == 200
    assert download(client, reverse(file, args=["tides", built.pk, "none.txt"])) == 404

    about = f"trec export {built.pk}"
    assert recorded_downloads() == [
        ("export.taken", "carla", about, "qrels.changed.txt"),
        ("export.taken", "carla", about, "export.zip"),
    ]


@pytest.mark.parametrize("name", ["exporters:release_file", "exporters:api_release_file"])
def test_the_download_of_a_file_of_a_release_is_recorded(tides, client, name):
    make_release(tides, "v1")
    client.force_login(factories.user("carla"))

    assert download(client, reverse(name, args=["tides", "v1", "trec/qrels.changed.txt"])) == 200

    assert recorded_downloads() == [("release.taken", "carla", "v1", "trec/qrels.changed.txt")]


def test_a_refused_download_is_not_recorded(built, client):
    client.force_login(factories.user("ada"))

    assert download(client, reverse("exporters:archive", args=["tides", built.pk])) == 403

    assert recorded_downloads() == []


def test_a_file_that_is_gone_from_the_storage_is_said_to_be_missing(built, client):
    default_storage.delete(f"{built.folder}/qrels.changed.txt")
    client.force_login(factories.user("carla"))

    files = ["tides", built.pk, "qrels.changed.txt"]
    assert client.get(reverse("exporters:file", args=files)).status_code == 404
    answer = client.get(reverse("exporters:api_export_file", args=files))
    assert answer.status_code == 404
    assert "qrels.changed.txt is missing in the storage. Export again." in answer.text
    assert not recorded_downloads()
