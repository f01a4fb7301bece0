"""The documentation of exports names every file."""

from __future__ import annotations

from pathlib import Path

from django.conf import settings

from annotate.models import Guideline
from exporters.releases import comparison, contents
from tests import factories
from tests.exports.conftest import make_release


def test_every_file_of_an_export_is_on_its_page(tides, write):
    for side in ("original", "reversed"):
        under = tides.pair.narratives.filter(side=side).first() or factories.narrative(
            tides.pair, side
        )
        tides.judge(under, tides.pool["B"], tides.ada, 1)
    page = Path(settings.BASE_DIR, "docs", "exports.md").read_text(encoding="utf-8")

    names = {*write(tides.project).bytes(), *write(tides.project, "jsonl").bytes()}

    assert len(names) == 39
    assert {name for name in names if f"`{name}`" not in page} == set()


def test_every_file_of_a_release_is_on_its_page(tides):
    page = Path(settings.BASE_DIR, "docs", "exports.md").read_text(encoding="utf-8")
    Guideline.objects.create(project=tides.project, version=1, text="Read.", author=tides.carla)

    names = {name for name in contents.files(make_release(tides, "v1.0")) if "/" not in name}

    assert len(names) == 6
    assert {name for name in names if f"`{name}`" not in page} == set()
    assert {name for name in comparison.Change._fields if f"`{name}`" not in page} == set()
