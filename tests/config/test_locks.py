from __future__ import annotations

import re
import tomllib
from itertools import pairwise
from pathlib import Path

import pytest
from django.conf import settings
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

pytestmark = pytest.mark.both_databases

ROOT = Path(settings.BASE_DIR)
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
LOCKS = ["requirements.lock", "requirements-dev.lock"]


def locked(name):
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    return {
        (match[1], match[2])
        for match in (re.match(r"([a-z0-9.-]+)(?:\[[^]]*\])?==(\S+)", line) for line in lines)
        if match
    }


@pytest.mark.parametrize(
    ("wanted", "lock"),
    [
        (PROJECT["project"]["dependencies"], "requirements.lock"),
        (PROJECT["dependency-groups"]["dev"], "requirements-dev.lock"),
    ],
    ids=LOCKS,
)
def test_every_dependency_is_locked_at_a_version_it_allows(wanted, lock):
    versions = dict(locked(lock))

    for line in wanted:
        requirement = Requirement(line)
        version = versions[canonicalize_name(requirement.name)]
        assert requirement.specifier.contains(version, prereleases=True), f"{line}: {version}"


def test_tests_run_what_users_run():
    assert locked("requirements.lock") <= locked("requirements-dev.lock")


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_names_packages_versions_and_hashes_and_no_place(lock):
    lines = (ROOT / lock).read_text(encoding="utf-8").splitlines()

    assert not [line for line in lines if "://" in line]
    for line, following in pairwise(lines):
        if not line.startswith(" "):
            assert line.endswith(" \\"), line
            assert following.startswith("    --hash=sha256:"), following
