"""ARCHITECTURE.md names every package and every subject, and no others."""

from __future__ import annotations

import re
from pathlib import Path

from django.conf import settings

ROOT = Path(settings.BASE_DIR)
APPS = ("annotate", "audit", "exporters")
PAGE = (ROOT / "ARCHITECTURE.md").read_text("utf-8")


def test_the_table_names_exactly_the_packages_and_subjects():
    rows = re.findall(r"^\| (?:`(\w+)/`)? ?\| (?:`(\w+)`|pure)? ?\| ", PAGE, re.MULTILINE)
    named: set[str] = set()
    package = ""
    for row_package, subject in rows:
        package = row_package or package
        named |= {package, f"{package}/{subject}" if subject else package}
    packages = {
        path.parent.name
        for path in ROOT.glob("*/__init__.py")
        if path.parent.name not in ("tests", "benchmarks")
    }
    subjects = {
        f"{app}/{path.parent.name}"
        for app in APPS
        for path in (ROOT / app).glob("*/__init__.py")
        if path.parent.name not in ("migrations", "management")
    }

    assert named == packages | subjects


def test_the_page_has_at_most_150_lines_of_120_characters():
    lines = PAGE.splitlines()

    assert len(lines) <= 150
    assert [line for line in lines if len(line) > 120] == []
