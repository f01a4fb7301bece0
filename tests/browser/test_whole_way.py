"""The whole workflow: rewrite, judge by keys, settle, export, and read the export back."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import ir_measures
import pytest
import pytrec_eval
from playwright.sync_api import Page, expect

from annotate.models import Judgment
from tests import factories
from tests.browser.waiting import document_on, hides, saved, shows

ORIGINAL = "Any plant counts, whether it is planned or at work."
ALTERED = "Any plant counts, whether it is planned or at work, but only at sea."

# The keys that each person presses, by document. They differ on C.
PRESSED = {
    "ada": {"A": "2", "B": "0", "C": "1", "D": "0"},
    "ben": {"A": "2", "B": "0", "C": "0", "D": "0"},
}


@pytest.fixture
def tides(live_server):
    project = factories.project("tides")
    query = factories.query(project, "301", title="tidal power")
    for doc_id in "ABCD":
        factories.candidate(query, doc_id, prior=1, text=f"This is document {doc_id}.")
    factories.candidate(query, "E", prior=0, text="Never relevant.")
    factories.pair(query, original=ORIGINAL, altered=None)
    factories.member(project, "ada")
    factories.member(project, "ben")
    factories.lead(project, "carla")
    return project


def sign_in(page: Page, name: str) -> None:
    page.goto("/")
    page.get_by_label("User name or mail address").fill(name)
    page.get_by_label("Password").fill(factories.PASSWORD)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Your work")).to_be_visible()


def take_assignment(page: Page, task: str) -> None:
    page.goto("/")
    page.get_by_role("listitem").filter(has_text=task).get_by_role("button").click()


def judge_all(page: Page, grades: dict[str, str]) -> None:
    page.wait_for_load_state()
    for _ in grades:
        shown = document_on(page)
        page.keyboard.press(grades[shown])
        hides(page, shown)
    expect(page.get_by_role("heading", name="Query finished")).to_be_visible()
    saved(page)


def test_from_signing_in_to_qrels(tides, new_person, redis_worker, tmp_path: Path):
    # ada rewrites the narrative and judges.
    ada = new_person()
    sign_in(ada, "ada")
    take_assignment(ada, "Rewrite")
    ada.get_by_label("Altered").fill(ALTERED)
    ada.get_by_role("button", name="Save as a new version").click()
    expect(ada.get_by_text("Version 1 is saved")).to_be_visible()
    take_assignment(ada, "Judge")
    expect(ada.locator(".narrative ins").filter(has_text="but only at sea")).to_be_visible()
    judge_all(ada, PRESSED["ada"])

    # ben judges the same documents, and sees nothing of ada's answers.
    ben = new_person()
    sign_in(ben, "ben")
    take_assignment(ben, "Judge")
    judge_all(ben, PRESSED["ben"])

    # carla settles the disagreement.
    carla = new_person()
    sign_in(carla, "carla")
    carla.goto("/projects/tides/disagreements/")
    carla.keyboard.press("Enter")
    shows(carla, "C")
    expect(carla.get_by_role("region", name="Person A")).to_contain_text("elevant")
    carla.wait_for_load_state()
    carla.keyboard.press("r")
    expect(carla.get_by_role("region", name="ada")).to_contain_text("Relevant")
    expect(carla.get_by_role("region", name="ben")).to_contain_text("Not relevant")
    carla.wait_for_load_state()
    carla.keyboard.press("b")
    carla.keyboard.press("n")
    carla.keyboard.type("A barrage stands in a river mouth.")
    carla.keyboard.press("Escape")
    carla.keyboard.press("0")
    expect(carla.locator(".finished")).to_contain_text("No disagreement is left here")
    saved(carla)

    # carla requests the export and downloads it.
    carla.goto("/projects/tides/exports/")
    carla.get_by_label("TREC").check()
    carla.get_by_role("button", name="Export", exact=True).click()
    link = carla.get_by_role("link", name="All in one archive")
    expect(link).to_be_visible()
    with carla.expect_download() as download:
        link.click()
    archive = tmp_path / "export.zip"
    download.value.save_as(archive)
    files = zipfile.ZipFile(io.BytesIO(archive.read_bytes()))
    original = files.read("tides-trec/qrels.original.txt").decode()
    changed = files.read("tides-trec/qrels.changed.txt").decode()

    # The qrels hold what was pressed, and evaluation tools read them.
    assert original == "301 0 A 1\n301 0 B 1\n301 0 C 1\n301 0 D 1\n301 0 E 0\n"
    assert changed == "301 0 A 2\n301 0 B 0\n301 0 C 0\n301 0 D 0\n301 0 E 0\n"
    read = {(q.query_id, q.doc_id): q.relevance for q in ir_measures.read_trec_qrels(changed)}
    assert read == {
        ("301", "A"): 2,
        ("301", "B"): 0,
        ("301", "C"): 0,
        ("301", "D"): 0,
        ("301", "E"): 0,
    }
    assert pytrec_eval.parse_qrel(io.StringIO(changed)) == {
        "301": {"A": 2, "B": 0, "C": 0, "D": 0, "E": 0}
    }
    for name, grades in PRESSED.items():
        judgments = Judgment.objects.current().filter(annotator__name=name)
        assert {
            row["candidate__document__doc_id"]: str(row["relevance"])
            for row in judgments.values("candidate__document__doc_id", "relevance")
        } == grades
