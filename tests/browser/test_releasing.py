"""A release stays the same while work goes on after it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from annotate.models import Candidate, Guideline, Judgment
from tests import factories
from tests.browser.test_whole_way import judge_all, take_assignment
from tests.browser.waiting import shows, until


@pytest.fixture
def tides(live_server):
    project = factories.project("tides", overlap_judge=1)
    query = factories.query(project, "301", title="tidal power")
    for doc_id in "ABC":
        factories.candidate(query, doc_id, prior=1, text=f"This is document {doc_id}.")
    factories.pair(query, altered="Any plant counts, but only at sea.")
    factories.member(project, "ada")
    carla = factories.lead(project, "carla")
    Guideline.objects.create(project=project, version=1, text="Read it all.", author=carla)
    return project


def release(page: Page, name: str) -> None:
    page.goto("/projects/tides/releases/")
    page.get_by_role("link", name="Make a release").click()
    # The form is there at once, and the page asks for the trial.
    expect(page.get_by_role("heading", name="Formats")).to_be_visible()
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_label(re.compile("^I have read what is open")).check()
    page.get_by_role("button", name="Release it").click()
    # The page polls until the worker is done.
    expect(page.get_by_role("heading", name="What it holds")).to_be_visible()


def archive(page: Page, name: str, folder: Path) -> bytes:
    page.goto(f"/projects/tides/releases/{name}/")
    with page.expect_download() as download:
        page.get_by_role("link", name=re.compile("^All in one archive.*trec")).click()
    target = folder / "archive.zip"
    download.value.save_as(target)
    return target.read_bytes()


def test_a_release_stays_as_it_was_and_the_next_says_what_changed(
    tides, new_person, redis_worker, accessibility, tmp_path
):
    ada, carla = new_person("ada"), new_person("carla")
    take_assignment(ada, "Judge")
    judge_all(ada, {"A": "2", "B": "0", "C": "1"})

    release(carla, "v1.0")
    assert accessibility(carla) == []
    archived = archive(carla, "v1.0", tmp_path)

    # ada goes back to a document and grades it differently.
    candidate = Candidate.objects.get(document__doc_id="B")
    ada.goto(reverse("annotate:judge", args=[tides.pairs.get().pk, candidate.pk]))
    ada.wait_for_load_state()
    shows(ada, "B")
    ada.keyboard.press("2")
    now = Judgment.objects.current().filter(candidate=candidate, relevance=2)
    until(ada, now.exists, "the judgment to be saved")

    release(carla, "v1.1")

    assert archive(carla, "v1.0", tmp_path) == archived
    assert archive(carla, "v1.1", tmp_path) != archived
    carla.goto("/projects/tides/releases/")
    carla.get_by_label("From").select_option("v1.0")
    carla.get_by_label("To").select_option("v1.1")
    carla.get_by_role("button", name="Compare").click()
    expect(carla.get_by_role("rowheader", name="B", exact=True)).to_be_visible()
    row = carla.get_by_role("row").filter(has_text="altered")
    expect(row.get_by_role("cell")).to_have_text(["301", "301", "altered", "0", "2"])
    assert accessibility(carla) == []
    with carla.expect_download() as download:
        carla.get_by_role("link", name="All differences as CSV").click()
    download.value.save_as(tmp_path / "changes.csv")
    assert (tmp_path / "changes.csv").read_text() == (
        "change,narrative,query_id,pair_id,doc_id,before,after\ngrade,altered,301,301,B,0,2\n"
    )
