"""Uploads, runs, exports and releases in an S3-compatible store, which runs in this process."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from uuid import UUID

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from annotate.loading import load_jobs
from annotate.models import Load, Run
from exporters.exports import actions
from exporters.models import Export, Release
from exporters.releases import actions as releasing
from exporters.releases import file_store
from jobs.runner import LeaseLost, Progress

RUN = b"301 Q0 A 1 2.5 bm25\n301 Q0 B 2 0.5 bm25\n"


@pytest.fixture
def bucket(empty_storage, settings, monkeypatch):
    """Store all files in an empty bucket."""
    # Both take a second to import.
    import boto3
    from moto import mock_aws

    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    with mock_aws():
        made = boto3.resource("s3", region_name="us-east-1").create_bucket(Bucket="files")
        settings.STORAGES = {
            **settings.STORAGES,
            "default": {
                "BACKEND": "config.bucket.Bucket",
                "OPTIONS": {
                    "bucket_name": "files",
                    "region_name": "us-east-1",
                    "access_key": "a",
                    "secret_key": "s",
                    "location": "rejudge",
                },
            },
        }
        yield made


def names(bucket):
    return sorted(entry.key for entry in bucket.objects.all())


def content(response):
    return b"".join(response.streaming_content)


def export(tides, format_name="trec"):
    made = Export.objects.create(project=tides.project, by=tides.carla, format=format_name)
    actions.build(made, Progress())
    Export.objects.filter(pk=made.pk).update(
        state="done", started_at=made.requested_at, finished_at=made.requested_at
    )
    made.refresh_from_db()
    return made


def test_a_bucket_has_no_paths(bucket):
    with pytest.raises(NotImplementedError):
        default_storage.path("uploads/1/qrels.txt")


def test_an_upload_is_previewed_loaded_and_deleted(
    tides, bucket, finish_jobs, django_capture_on_commit_callbacks
):
    file = SimpleUploadedFile("bm25.run", RUN)
    preview = load_jobs.request_load(format_name="trec-run", file=file, by=tides.carla)
    (waiting,) = names(bucket)

    finish_jobs()
    preview.refresh_from_db()
    load = load_jobs.confirm_load(preview=preview, by=tides.carla)
    with django_capture_on_commit_callbacks(execute=True):
        finish_jobs()

    load.refresh_from_db()
    run = Run.objects.get()
    assert waiting.startswith("rejudge/uploads/")
    assert (preview.state, load.state, load.error) == ("done", "done", "")
    assert [Load.objects.get(pk=row.pk).file.name for row in (preview, load)] == ["", ""]
    # Only the run's file remains, under its own name.
    assert names(bucket) == [f"rejudge/{run.file.name}"]
    with run.file.open("rb") as stream:
        assert stream.read() == RUN


def test_a_zip_is_read_from_the_bucket(tides, bucket, finish_jobs):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("queries.jsonl", '{"_id": "q1", "text": "Tides"}\n')
        archive.writestr("corpus.jsonl", '{"_id": "d1", "title": "", "text": "High water."}\n')
        archive.writestr("qrels/test.tsv", "query-id\tcorpus-id\tscore\nq1\td1\t1\n")
    file = SimpleUploadedFile("beir.zip", packed.getvalue())
    preview = load_jobs.request_load(format_name="beir", file=file, by=tides.carla)

    finish_jobs()

    preview.refresh_from_db()
    assert (preview.state, preview.error) == ("done", "")
    assert preview.report is not None
    assert (preview.report["refused"], preview.report["read"]) == (0, 3)


def test_concurrent_uploads_of_one_name_are_two_files(bucket, monkeypatch):
    # Neither sees the other's file: both check before either has written.
    monkeypatch.setattr("config.bucket.Bucket.exists", lambda self, name: False)

    first = default_storage.save("uploads/1/qrels.txt", ContentFile(b"one"))
    second = default_storage.save("uploads/1/qrels.txt", ContentFile(b"two"))

    assert first != second
    assert first.endswith(".txt")
    with default_storage.open(first) as one, default_storage.open(second) as two:
        assert (one.read(), two.read()) == (b"one", b"two")


@pytest.mark.parametrize("name", ["qrels.html", "run.gz", "topics.svg"])
def test_the_file_extension_does_not_set_the_content_type(bucket, name):
    default_storage.save(f"uploads/1/{name}", ContentFile(b"<script>"))

    (entry,) = bucket.objects.all()
    assert entry.Object().content_type == "application/octet-stream"
    assert entry.Object().content_encoding is None


def test_an_export_is_written_and_sent(tides, bucket, client):
    made = export(tides)
    client.force_login(tides.carla.user)
    here = [tides.project.slug, made.pk]

    file = client.get(reverse("exporters:file", args=[*here, "qrels.changed.txt"]))
    archive = client.get(reverse("exporters:archive", args=here))

    facts = next(e for e in made.manifest["files"] if e["name"] == "qrels.changed.txt")
    data = content(file)
    assert hashlib.sha256(data).hexdigest() == facts["sha256"]
    assert file["Content-Length"] == str(facts["bytes"])
    with zipfile.ZipFile(io.BytesIO(content(archive))) as packed:
        assert packed.read("tides-trec/qrels.changed.txt") == data
    assert all(name.startswith(f"rejudge/{made.folder}/") for name in names(bucket))


def test_an_unfinished_export_leaves_no_files(tides, bucket):
    export = Export.objects.create(project=tides.project, by=tides.carla, format="trec")
    # Another worker has taken it over.
    export.claim = UUID(int=2)

    with pytest.raises(LeaseLost):
        actions.build(export, Progress())

    assert names(bucket) == []


def test_the_next_export_deletes_files_of_a_killed_one(tides, bucket):
    left = f"exports/{tides.project.pk}/99-1-x/qrels.txt"
    default_storage.save(left, ContentFile(b"half"))

    made = export(tides)

    assert default_storage.listdir(f"exports/{tides.project.pk}")[0] == [
        made.folder.rpartition("/")[2]
    ]


def test_a_release_is_stored_verified_and_sent(tides, bucket, client, finish_jobs):
    releasing.request_release(project=tides.project, name="v1", by=tides.carla)
    finish_jobs()
    made = Release.objects.get()
    client.force_login(tides.carla.user)

    response = client.get(reverse("exporters:release_file", args=["tides", "v1", "release.json"]))

    assert made.state == "done", made.error
    assert hashlib.sha256(content(response)).hexdigest() == made.sha256
    checked = releasing.verify(made)
    assert (checked.faults, checked.files > 5) == ([], True)


def test_missing_and_changed_files_of_a_bucket_are_faults(tides, bucket, finish_jobs):
    releasing.request_release(project=tides.project, name="v1", by=tides.carla)
    finish_jobs()
    made = Release.objects.get()
    assert made.manifest is not None
    every = made.manifest["files"]
    changed, missing = file_store.path_of(tides.project.pk, every[0]["sha256"]), every[-1]
    default_storage.delete(changed)
    default_storage.save(changed, ContentFile(b"x"))
    default_storage.delete(file_store.path_of(tides.project.pk, missing["sha256"]))

    faults = releasing.verify(made).faults

    assert len(faults) == 2
    assert any(f"{every[0]['name']} has changed" in fault for fault in faults)
    assert f"{missing['name']} is missing." in faults


def test_a_bucket_and_a_folder_hold_the_same_bytes(tides, bucket, write):
    made = export(tides)

    beside = write(tides.project).bytes()

    for name, wanted in beside.items():
        with default_storage.open(f"{made.folder}/{name}") as stream:
            data = stream.read()
        if name == "manifest.json":
            assert json.loads(data)["files"] == json.loads(wanted)["files"]
        else:
            assert data == wanted, name
