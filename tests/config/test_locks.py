from __future__ import annotations

import re
import subprocess
import sys
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


def test_users_do_not_need_the_package_that_the_lock_leaves_out():
    """pytrec-eval-terrier requires scipy; nothing that a user runs imports it."""
    assert "scipy" not in dict(locked("requirements.lock"))

    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_SCIPY], cwd=ROOT, capture_output=True, text=True
    )

    assert (done.returncode, done.stdout, done.stderr) == (0, "0.63\n", "")


WITHOUT_SCIPY = """
import sys
sys.modules["scipy"] = None  # an import of it raises ImportError
import django
import os
os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
django.setup()
import config.urls, exporters.evaluations.tables, measures.infosearch
import ir_measures
from ir_measures import RBP, Qrel, ScoredDoc, nDCG
qrels = [Qrel("1", "a", 1), Qrel("1", "b", 0)]
run = [ScoredDoc("1", "b", 2.0), ScoredDoc("1", "a", 1.0)]
found = ir_measures.calc_aggregate([nDCG @ 10, RBP(p=0.8, rel=1)], qrels, run)
print(f"{found[nDCG @ 10]:.2f}")
"""


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_names_packages_versions_and_hashes_but_no_urls(lock):
    lines = (ROOT / lock).read_text(encoding="utf-8").splitlines()

    assert not [line for line in lines if "://" in line]
    for line, following in pairwise(lines):
        if not line.startswith(" "):
            assert line.endswith(" \\"), line
            assert following.startswith("    --hash=sha256:"), following
