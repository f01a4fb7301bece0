"""The extras of the distribution, and the sentence that says how to install one."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from django.conf import settings

from base import extras

PROJECT = tomllib.loads((Path(settings.BASE_DIR) / "pyproject.toml").read_text("utf-8"))["project"]


@pytest.mark.parametrize("extra", extras.MODULES)
def test_an_installed_extra_is_not_missing(extra):
    assert extra in PROJECT["optional-dependencies"]
    assert extras.missing_extra(extra, "Something") == ""


def test_a_missing_extra_is_named_with_the_command_that_installs_it(monkeypatch):
    monkeypatch.setattr(extras, "MODULES", {"s3": ("storages", "nothing_like_it")})

    assert extras.missing_extra("s3", "REJUDGE_S3_BUCKET") == (
        "REJUDGE_S3_BUCKET needs nothing_like_it, which this installation lacks: "
        "run pip install 'rejudge[s3]' in its environment, then try again."
    )
