"""Hostile uploads: decompression bombs, path traversal in names, content that would run."""

from __future__ import annotations

import gzip
import io
import zipfile
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile, TemporaryUploadedFile
from django.test import Client

from annotate.loading import load_jobs
from annotate.models import Load
from formats.folders import ZipFolder
from formats.problems import FormatError
from formats.source import Source
from tests import factories
from tests.formats.files import zip_files
from tests.test_permissions import world

NAMES = [
    "../../../../tmp/evil.txt",
    "..\\..\\evil.txt",
    "/etc/passwd",
    "C:\\Windows\\evil.txt",
    "....//....//evil.txt",
    "a/../../evil.txt",
    "evil.txt\0.html",
    "evil\r\nSet-Cookie: a=b.txt",
    "\u202etxt.exe",
    ".htaccess",
    "-rf",
    "~root",
    "%2e%2e%2fevil",
    "x" * 400 + ".txt",
    "<script>alert(1)</script>.html",
]


@pytest.fixture
def storage(settings: Any, tmp_path: Path) -> Path:
    folder = tmp_path / "inside"
    default = settings.STORAGES["default"]
    default = {**default, "OPTIONS": {**default["OPTIONS"], "location": str(folder)}}
    settings.STORAGES = {**settings.STORAGES, "default": default}
    return folder


@pytest.fixture
def carla(db, storage, published) -> Client:
    factories.lead(factories.project("tides"), "carla")
    client = Client()
    client.force_login(factories.user("carla"))
    return client


@pytest.mark.parametrize("name", NAMES)
def test_an_upload_is_stored_in_its_folder_whatever_its_name(carla, storage, tmp_path, name):
    file = SimpleUploadedFile("q.txt", b"301 0 D1 1\n")
    # A browser would never send such a name.
    vars(file)["_name"] = name

    answer = carla.post("/projects/tides/loads/", {"format": "trec-qrels", "file": file})

    made = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert answer.status_code in {302, 422, 400}
    assert all(path.is_relative_to(storage) for path in made)
    assert len(made) == Load.objects.count()
    for path in made:
        assert path.stat().st_mode & 0o777 == 0o600


def test_an_upload_has_no_address(carla, storage):
    page = b"<script>alert(1)</script>"
    carla.post(
        "/projects/tides/loads/",
        {"format": "trec-qrels", "file": SimpleUploadedFile("q.html", page)},
    )
    (stored,) = [path for path in storage.rglob("*") if path.is_file()]
    inside = stored.relative_to(storage).as_posix()

    for url in (f"/{inside}", f"/media/{inside}", f"/files/{inside}", f"/static/{inside}"):
        answer = carla.get(url)
        assert answer.status_code == 404, url
        assert page not in answer.content
    assert settings.MEDIA_URL in {"", "/"}


@pytest.mark.parametrize(
    "name",
    [
        "../manifest.json",
        "..%2f..%2fsecret.key",
        "%2e%2e/%2e%2e/secret.key",
        "/etc/passwd",
        "....//secret.key",
        "manifest.json%00.txt",
        "..\\secret.key",
    ],
)
def test_no_file_name_leads_out_of_an_export(db, storage, name):
    tides = world("tides", "ada", "carla")
    client = Client()
    client.force_login(factories.user("carla"))
    pk = tides.keys["exporters:export.pk"]

    for url in (
        f"/projects/tides/exports/{pk}/files/{name}",
        f"/projects/tides/releases/tides-1/files/{name}",
        f"/static/{name}",
    ):
        assert client.get(url).status_code in {302, 400, 404}, url


def bomb(size: int) -> bytes:
    """Return lines that are compressed a thousand to one."""
    return gzip.compress(b"301 0 D1 1\n" * (size // 11))


def test_a_gzip_bomb_is_refused_before_it_is_decompressed():
    source = Source(bomb(40 * 1024 * 1024), "bomb.gz", collect=True)

    read = sum(len(line) + 1 for line in source.lines())

    assert [problem.message for problem in source.problems] == [
        "the gzip data is packed more than 200 to 1"
    ]
    assert read < 5 * 1024 * 1024


def test_a_gzip_bomb_within_an_archive_is_refused_as_well():
    inner = bomb(40 * 1024 * 1024)
    folder = ZipFolder(io.BytesIO(zip_files({"queries.jsonl": inner})), "bomb.zip")

    with pytest.raises(FormatError, match="packed more than 200 to 1"):
        list(folder.source("queries.jsonl").lines())


def test_a_bomb_of_bombs_is_refused():
    data = bomb(40 * 1024 * 1024)

    with pytest.raises(FormatError, match="packed more than 200 to 1"):
        list(Source(data * 4, "bombs.gz").lines())


def test_a_small_highly_compressed_file_is_read():
    lines = list(Source(bomb(3 * 1024 * 1024), "small.gz").lines())

    assert lines[0] == "301 0 D1 1"


def test_an_archive_with_a_wrong_size_is_refused():
    data = bytearray(zip_files({"a.txt": "x" * 10_000}))
    size = (10_000).to_bytes(4, "little")
    small = (10).to_bytes(4, "little")
    data = data.replace(size, small)

    folder = ZipFolder(io.BytesIO(bytes(data)), "lies.zip")
    with pytest.raises(FormatError):
        list(folder.source("a.txt").lines())


def test_an_archive_with_too_many_entries_is_refused():
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for number in range(300):
            archive.writestr(f"{number}", "")

    with pytest.raises(FormatError, match="more than 200 files"):
        ZipFolder(io.BytesIO(stream.getvalue()), "many.zip", max_entries=200)


@pytest.mark.parametrize(
    ("role", "path", "stored"),
    [
        (None, "/accounts/login/", []),
        (None, "/projects/tides/loads/", []),
        ("an invented session", "/projects/tides/loads/", []),
        ("ada", "/projects/tides/loads/", ["big.txt"]),
        ("ada", "/projects/tides/rubric/", ["big.txt"]),
        ("ada", "/accounts/login/", []),
        ("ada", "/projects/", []),
        ("ada", "/nothing/", []),
    ],
)
def test_a_file_is_stored_only_for_signed_in_people_and_file_forms(
    db, settings, monkeypatch, role, path, stored
):
    settings.FILE_UPLOAD_MAX_MEMORY_SIZE = 0
    on_disk = []

    class Watched(TemporaryUploadedFile):
        def __init__(self, name: str, *rest: Any) -> None:
            on_disk.append(name)
            super().__init__(name, *rest)

    monkeypatch.setattr("django.core.files.uploadhandler.TemporaryUploadedFile", Watched)
    factories.lead(factories.project("tides"), "ada")
    client = Client()
    if role == "ada":
        client.force_login(factories.user("ada"))
    elif role:
        client.cookies[settings.SESSION_COOKIE_NAME] = "x" * 32

    client.post(path, {"file": SimpleUploadedFile("big.txt", b"x" * 100_000)})

    assert on_disk == stored


def test_the_number_of_waiting_uploads_is_limited(carla, monkeypatch):
    monkeypatch.setattr(load_jobs, "MAX_PREVIEWS", 2)

    def upload() -> Any:
        file = SimpleUploadedFile("q.txt", b"301 0 D1 1\n")
        return carla.post("/projects/tides/loads/", {"format": "trec-qrels", "file": file})

    assert [upload().status_code for _ in range(3)] == [302, 302, 422]
    assert Load.objects.count() == 2
    assert "2 files are waiting to be loaded" in upload().content.decode()
