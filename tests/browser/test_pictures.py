"""The documentation's pictures show pages of the example project, which are here gone through.

To take them anew: `PICTURES=1 bin/test tests/browser/test_pictures.py`
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from django.conf import settings
from playwright.sync_api import Page, expect

from annotate.models import InstructionPair, Preferences, User
from config.examples.tides import ensure_example
from jobs.status import record_heartbeat

DOCS = Path(settings.BASE_DIR) / "docs"
PICTURES = DOCS / "pictures"
PROJECT = "/projects/example/"


def overview(page: Page) -> None:
    """The lead's overview, with the steps of the project."""
    page.goto(PROJECT)
    expect(page.get_by_role("heading", name="Tides, bees and glaciers")).to_be_visible()


def judging(page: Page) -> None:
    """A document of an annotator's task."""
    pair = InstructionPair.objects.get(query__query_id="902", query__project__slug="example")
    page.goto(f"/pairs/{pair.pk}/judging/")
    expect(page.get_by_role("group", name="Grades")).to_be_visible()


def settling(page: Page) -> None:
    """The first disagreement about a judgment, with both answers."""
    page.goto(f"{PROJECT}disagreements/")
    page.keyboard.press("Enter")
    expect(page.get_by_role("group", name="Grades")).to_be_visible()


def release(page: Page) -> None:
    """What is checked before a release is made."""
    page.goto(f"{PROJECT}releases/new/")
    expect(page.get_by_role("heading", name="Formats")).to_be_visible()


TAKEN: dict[str, tuple[str, Callable[[Page], None]]] = {
    "overview.png": ("carla", overview),
    "judging.png": ("ben", judging),
    "settling.png": ("carla", settling),
    "release.png": ("carla", release),
}


@pytest.mark.parametrize("name", TAKEN)
def test_the_example_has_the_page_of_each_picture(
    name, live_server, new_person, tmp_path, settings
):
    settings.DATA = tmp_path
    ensure_example()
    record_heartbeat("worker")
    person, walk = TAKEN[name]
    Preferences.objects.create(user=User.objects.get(username=person), wants_tour=False)
    page = new_person(person, viewport={"width": 1280, "height": 800})

    walk(page)

    if os.environ.get("PICTURES"):
        page.wait_for_load_state("networkidle")
        page.screenshot(path=PICTURES / name)


def test_each_picture_is_taken_here_and_shown_in_the_documentation():
    pages = [*DOCS.rglob("*.md"), DOCS.parent / "README.md"]
    shown = {
        name
        for page in pages
        for name in re.findall(r"pictures/([\w-]+\.png)", page.read_text("utf-8"))
    }

    assert shown == set(TAKEN) == {path.name for path in PICTURES.iterdir()}
