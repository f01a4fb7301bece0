"""The client's own distribution: its licence, and that it works without the server's code."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest
from django.conf import settings

from rejudge_client import frame

CLIENT = Path(settings.BASE_DIR) / "client"


@pytest.fixture
def wheel(tmp_path):
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel"]
    subprocess.run(
        [*build, "--directory", str(tmp_path)], cwd=CLIENT, check=True, capture_output=True
    )
    return next(tmp_path.glob("rejudge_client-*.whl"))


def test_the_client_has_a_permissive_licence_and_needs_no_part_of_the_server(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        (metadata,) = (name for name in names if name.endswith("/METADATA"))
        lines = archive.read(metadata).decode().splitlines()

    required = [line for line in lines if line.startswith("Requires-Dist:")]
    assert "License-Expression: MIT" in lines
    assert any(name.endswith("/licenses/LICENSE") for name in names)
    assert {name.split("/")[0] for name in names} == {
        "rejudge_client",
        "rejudge_client-0.1.0.dist-info",
    }
    assert required == [
        "Requires-Dist: httpx2~=2.9",
        "Requires-Dist: tqdm~=4.67",
        "Requires-Dist: pandas>=2.2; extra == 'frames'",
    ]


def test_the_client_works_outside_the_checkout(wheel, tmp_path):
    program = (
        f"import sys; sys.path[:0] = [{str(wheel)!r}, {sysconfig.get_paths()['purelib']!r}]; "
        "import rejudge_client; print(rejudge_client.Rejudge.__name__); "
        "print([name for name in sys.modules if name in ('django', 'annotate', 'pandas')])"
    )
    ran = subprocess.run(
        [sys.executable, "-I", "-c", program], cwd=tmp_path, capture_output=True, text=True
    )

    assert ran.stdout.splitlines() == ["Rejudge", "[]"], ran.stderr


def test_rows_become_a_data_frame_with_a_column_for_each_field():
    rows = [{"id": 1, "user": {"name": "ada"}}, {"id": 2, "user": {"name": "ben"}}]

    table = frame(iter(rows))

    assert list(table.columns) == ["id", "user.name"]
    assert table["user.name"].tolist() == ["ada", "ben"]


def test_without_pandas_a_data_frame_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)

    with pytest.raises(ImportError, match=r"pip install 'rejudge-client\[frames\]'"):
        frame([])
