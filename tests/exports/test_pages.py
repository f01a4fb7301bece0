"""The pages of exports: request, progress, manifest, files, and access."""

from __future__ import annotations

import io
import zipfile

import pytest
from django.urls import reverse

from annotate.models import Assignment
from exporters.models import Export
from tests.exports.conftest import LATER


@pytest.fixture(autouse=True)
def published(monkeypatch):
    """Collect the jobs that are sent to workers."""
    sent: list[int] = []
    monkeypatch.setattr("jobs.queue.publish", sent.append)
    return sent


def pages(export):
    here = [export.project.slug, export.pk]
    return {
        "exports": reverse("exporters:exports", args=here[:1]),
        "export": reverse("exporters:export", args=here),
        "file": reverse("exporters:file", args=[*here, "qrels.changed.txt"]),
        "archive": reverse("exporters:archive", args=here),
    }


def body(response) -> bytes:
    return b"".join(response.streaming_content)


def test_requesting_an_export_redirects_to_its_page(
    tides, client, published, django_capture_on_commit_callbacks
):
    client.force_login(tides.carla.user)

    with django_capture_on_commit_callbacks(execute=True):
        response = client.post(pages_of(tides), {"format": "jsonl"})

    export = Export.objects.get()
    assert (export.format, export.by, export.state) == ("jsonl", tides.carla, "queued")
    assert response.url == export.get_absolute_url()
    assert published == [export.pk]


def pages_of(tides):
    return reverse("exporters:exports", args=[tides.project.slug])


def test_an_unknown_format_gives_an_error_at_the_field(tides, client):
    client.force_login(tides.carla.user)

    response = client.post(pages_of(tides), {"format": "xml"})

    assert response.status_code == 422
    assert "xml is not one of the available choices" in response.content.decode()
    assert not Export.objects.exists()


def test_the_manifest_comes_before_the_links(built, client):
    client.force_login(built.by.user)

    page = client.get(pages(built)["export"]).content.decode()

    assert "1 document is disputed and left out; see disputed.tsv." in page
    assert "none has changed in: 302." in page
    assert "A grade counts if everybody who judged the document gave it" in page
    assert page.index("disputed, left out") < page.index(pages(built)["file"])
    assert page.index("disputed, left out") < page.index(pages(built)["archive"])


def test_a_file_is_downloaded_and_never_shown(built, client):
    client.force_login(built.by.user)

    response = client.get(pages(built)["file"])

    assert body(response).startswith(b"301 0 B 0\n")
    assert response["Content-Disposition"] == 'attachment; filename="qrels.changed.txt"'
    assert response["X-Content-Type-Options"] == "nosniff"
    assert response["Content-Type"] == "application/octet-stream"


def test_all_files_are_in_one_archive(built, client):
    client.force_login(built.by.user)

    response = client.get(pages(built)["archive"])

    assert response["Content-Disposition"] == f'attachment; filename="tides-trec-{built.pk}.zip"'
    with zipfile.ZipFile(io.BytesIO(body(response))) as archive:
        assert archive.read("tides-trec/qrels.changed.txt").startswith(b"301 0 B 0\n")
        assert "tides-trec/manifest.json" in archive.namelist()


@pytest.mark.parametrize("name", ["nothing.txt", "../../rejudge.sqlite3", "runs/../export.zip"])
def test_only_files_that_the_manifest_names_are_sent(built, client, name):
    client.force_login(built.by.user)

    response = client.get(pages(built)["export"] + "files/" + name)

    assert response.status_code == 404


def test_no_file_is_offered_before_the_export_is_done(built, client):
    Export.objects.update(
        state="running", finished_at=None, claim="0" * 32, lease_until=LATER, done=5, total=10
    )
    client.force_login(built.by.user)

    page = client.get(pages(built)["export"])

    assert pages(built)["file"] not in page.content.decode()
    assert client.get(pages(built)["file"]).status_code == 404
    assert client.get(pages(built)["archive"]).status_code == 404


def test_a_running_export_shows_its_progress(built, client):
    Export.objects.update(
        state="running", finished_at=None, claim="0" * 32, lease_until=LATER, done=5, total=10
    )
    client.force_login(built.by.user)

    page = client.get(pages(built)["export"]).content.decode()

    assert "5 of 10" in page


def test_a_failed_export_says_why_and_can_be_tried_again(tides, client):
    export = Export.objects.create(
        project=tides.project,
        by=tides.carla,
        format="trec",
        state="failed",
        error="The narrative of topic 301 cannot be written.",
        finished_at=LATER,
    )
    client.force_login(tides.carla.user)

    page = client.get(pages(export)["export"]).content.decode()
    client.post(pages_of(tides), {"format": "trec"})

    assert "The narrative of topic 301 cannot be written." in page
    assert 'name="format" value="trec"' in page
    assert Export.objects.filter(state="queued").count() == 1


def test_a_lead_who_has_yet_to_judge_sees_neither_counts_nor_files(built, client, tides):
    Assignment.objects.create(pair=tides.pair, task="judge", seat=1, member=tides.carla)
    client.force_login(tides.carla.user)

    page = client.get(pages(built)["export"]).content.decode()
    offered = client.get(pages_of(tides)).content.decode()
    response = client.post(pages_of(tides), {"format": "trec"})

    assert "would show you what others answered" in page
    assert "would show you what others answered" in offered
    assert 'name="format"' not in offered
    assert "disputed" not in page
    assert client.get(pages(built)["file"]).status_code == 403
    assert client.get(pages(built)["archive"]).status_code == 403
    assert response.status_code == 422


def test_user_text_is_escaped(tides, client):
    tides.carla.name = "<b>carla</b>"
    tides.carla.save()
    Export.objects.create(project=tides.project, by=tides.carla, format="trec")
    client.force_login(tides.carla.user)

    page = client.get(pages_of(tides)).content.decode()

    assert "&lt;b&gt;carla" in page
    assert "<b>carla" not in page


def test_the_list_costs_the_same_however_long_it_is(tides, client, django_assert_max_num_queries):
    client.force_login(tides.carla.user)
    for _ in range(60):
        Export.objects.create(project=tides.project, by=tides.carla, format="trec")

    with django_assert_max_num_queries(9):
        page = client.get(pages_of(tides)).content.decode()

    newest, oldest_shown, older = (
        Export.objects.order_by("-pk")[place].get_absolute_url() for place in (0, 49, 50)
    )
    assert newest in page
    assert oldest_shown in page
    assert older not in page
    next_page = client.get(pages_of(tides) + f"?before={Export.objects.order_by('-pk')[49].pk}")
    assert older in next_page.content.decode()


def test_the_page_of_an_export_reads_few_rows(built, client, django_assert_max_num_queries):
    client.force_login(built.by.user)

    with django_assert_max_num_queries(8):
        client.get(pages(built)["export"])


def test_the_project_page_shows_its_lead_the_newest_exports(built, client, tides):
    address = built.get_absolute_url()

    pages_seen = {}
    for who in (tides.carla, tides.ada):
        client.force_login(who.user)
        pages_seen[who.name] = client.get(tides.project.get_absolute_url()).content.decode()

    assert address in pages_seen["carla"]
    assert address not in pages_seen["ada"]
