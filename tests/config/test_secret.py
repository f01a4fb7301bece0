"""The secret key of an installation is made once, whole, and readable by its owner only."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from config.data_folder import secret_key


def test_the_first_start_makes_a_key_and_the_next_one_reads_it(tmp_path):
    key = secret_key(tmp_path)

    assert len(key) >= 50
    assert secret_key(tmp_path) == key
    assert [file.name for file in tmp_path.iterdir()] == ["secret.key"]
    assert (tmp_path / "secret.key").stat().st_mode & 0o777 == 0o600


def test_of_two_that_start_at_once_the_first_ones_key_is_everybodys(tmp_path, monkeypatch):
    link = os.link

    def link_too_late(new: str, path: Path) -> None:
        path.write_text("made by the other one")
        link(new, path)

    monkeypatch.setattr(os, "link", link_too_late)

    assert secret_key(tmp_path) == "made by the other one"
    assert [file.name for file in tmp_path.iterdir()] == ["secret.key"]


def test_the_file_has_its_name_only_once_the_key_is_in_it(tmp_path, monkeypatch):
    link, written = os.link, []

    def link_noting(new: str, path: Path) -> None:
        written.append((Path(new).read_text(), path.exists()))
        link(new, path)

    monkeypatch.setattr(os, "link", link_noting)

    key = secret_key(tmp_path)

    assert written == [(key, False)]


def test_an_empty_key_is_never_used(tmp_path):
    (tmp_path / "secret.key").touch()

    with pytest.raises(RuntimeError, match="is empty"):
        secret_key(tmp_path)
