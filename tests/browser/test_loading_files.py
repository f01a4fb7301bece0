"""Uploading a file, previewing what it would change, and loading it, in a real browser."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from annotate.models import Candidate, Project
from tests import factories
from tests.services.processes import wait_until

QRELS = b"301 0 A 2\n301 0 B 0\n"


@pytest.fixture
def carla(live_server, new_person):
    factories.lead(factories.project("tides"))
    return new_person("carla")


def upload(page: Page, content: bytes) -> None:
    page.goto("/projects/tides/loads/")
    page.get_by_label("One or more files").set_input_files(
        {"name": "qrels.txt", "mimeType": "text/plain", "buffer": content}
    )
    page.get_by_text("Choose another, or more options").click()
    page.get_by_label(re.compile("^TREC qrels")).check()
    page.get_by_role("button", name="Check the file").click()


def test_a_file_is_previewed_confirmed_and_loaded(carla, redis_worker, accessibility):
    upload(carla, QRELS)

    # The page polls until the worker is done, and then shows what would change.
    expect(carla.get_by_role("heading", name="What would change")).to_be_visible()
    expect(carla.get_by_role("row", name=re.compile("^Candidates"))).to_contain_text("2")
    assert Candidate.objects.count() == 0
    assert accessibility(carla) == []

    carla.get_by_role("button", name="Load it").click()

    expect(carla.get_by_role("heading", name="What has changed")).to_be_visible()
    assert Candidate.objects.count() == 2
    carla.goto("/projects/tides/loads/")
    expect(carla.get_by_role("link", name="qrels.txt")).to_have_count(1)
    assert accessibility(carla) == []


def test_bad_lines_are_shown_and_loading_is_not_offered(carla, redis_worker, accessibility):
    upload(carla, b"301 0 A 2\n301 B 0\n")

    expect(carla.get_by_role("heading", name="1 problem")).to_be_visible()
    expect(carla.get_by_role("row", name=re.compile("301 B 0"))).to_contain_text("this has 3")
    expect(carla.get_by_role("button", name="Load it")).to_have_count(0)
    assert accessibility(carla) == []


def test_a_file_in_the_wrong_format_is_checked_in_the_suggested_one(
    carla, redis_worker, accessibility
):
    upload(carla, b"301 Q0 A 1 2.5 bm25\n")
    button = carla.get_by_role("button", name="Check it as TREC run")
    expect(button).to_be_visible()
    assert accessibility(carla) == []

    button.click()

    expect(carla.get_by_role("heading", name="What would change")).to_be_visible()
    expect(carla.get_by_role("row", name=re.compile("^Lines of runs"))).to_contain_text("1")


def test_the_formats_of_the_kind_are_listed_first(carla, accessibility):
    Project.objects.update(kind="followir")
    carla.goto("/projects/tides/loads/")

    carla.get_by_text("Choose another, or more options").click()
    groups = carla.get_by_role("group", name="Format", exact=True).get_by_role("group")

    expect(groups).to_have_count(2)
    expect(groups.first).to_have_accessible_name("For FollowIR projects")
    expect(groups.first.get_by_role("radio")).to_have_count(7)
    assert accessibility(carla) == []


def test_reloading_shows_the_same_without_javascript(carla, new_person, redis_worker):
    plain = new_person("carla", java_script_enabled=False)
    upload(plain, QRELS)
    expect(plain).to_have_url(re.compile(r"/loads/\d+/$"))

    def is_ready():
        plain.reload()
        return plain.get_by_role("button", name="Load it").count() == 1

    wait_until(is_ready, "the preview")

    expect(plain.get_by_role("heading", name="What would change")).to_be_visible()


def test_several_files_are_checked_and_loaded_in_their_order(carla, redis_worker, accessibility):
    topics = b"<top>\n<num> Number: 301\n<title> Tides\n<narr> Narrative:\nAny.\n</top>\n"
    carla.goto("/projects/tides/loads/")
    carla.get_by_label("One or more files").set_input_files(
        [
            {"name": "qrels.txt", "mimeType": "text/plain", "buffer": QRELS},
            {"name": "topics.txt", "mimeType": "text/plain", "buffer": topics},
        ]
    )
    carla.get_by_role("button", name="Check the file").click()

    # The table follows the work.
    load = carla.get_by_role("button", name="Load 2 files, in this order")
    expect(load).to_be_visible()
    assert Candidate.objects.count() == 0
    expect(carla.get_by_role("row").nth(1)).to_contain_text("topics.txt")
    assert accessibility(carla) == []
    load.click()

    expect(carla.get_by_text("Loaded", exact=True)).to_have_count(2)
    assert Candidate.objects.count() == 2
