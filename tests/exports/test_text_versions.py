"""Exports name the text version that was read, so that evidence matches the marked words."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase

from annotate.collection.marking import Span
from annotate.judging import actions as judging
from annotate.judging.actions import withdraw
from annotate.judgments import assignments
from annotate.models import Assignment, Document, Judgment, Project
from keeping.verify import verify
from tests import factories
from tests.collection.arriving import jsonl, load
from tests.exports.conftest import WrittenExport

pytestmark = pytest.mark.both_databases

TEXTS = ["Turbines in the Severn.", "Rain.", "Fog at sea \U0001f30a tonight.", "Dykes hold."]


class Scene:
    """ada judges documents A and B, whose first text is TEXTS[0]; notes hold the marked words."""

    def __init__(self, slug: str = "tides") -> None:
        self.project = factories.project(slug)
        self.carla = factories.lead(self.project)
        self.ada = factories.member(self.project, "ada")
        query = factories.query(self.project)
        load(
            self.project,
            "docs-jsonl",
            jsonl(*({"doc_id": one, "text": TEXTS[0]} for one in "AB")),
        )
        load(self.project, "trec-qrels", "301 0 A 1\n301 0 B 1\n")
        self.pair = factories.pair(query)
        self.narrative = factories.altered(self.pair)
        assignments.take(pair=self.pair, task=Assignment.Task.JUDGE, by=self.ada)

    def change(self, doc_id: str, text: int) -> None:
        load(self.project, "docs-jsonl", jsonl({"doc_id": doc_id, "text": TEXTS[text]}))

    def text(self, doc_id: str, version: int) -> str:
        found = Document.objects.get(project=self.project, doc_id=doc_id)
        return found.texts.get(version=version).text

    def judge(self, doc_id: str, start: int = 0, end: int = 4, back: int = 0, grade: int = 1):
        """Let ada mark characters of the newest text, or of the one `back` versions before it."""
        found = Document.objects.get(project=self.project, doc_id=doc_id)
        version = max(1, (found.text_version or 0) - back)
        text = self.text(doc_id, version)
        end = min(end, len(text))
        start = min(start, end - 1)
        candidate = found.candidates.get()
        return judging.judge(
            narrative=self.narrative,
            candidate=candidate,
            relevance=grade,
            note=text[start:end],
            evidence=[Span(start, end)],
            text_version=version,
            by=self.ada,
            late=True,
        )

    def load_judgment(self, doc_id: str, end: int = 4, back: int = 0) -> None:
        """Load a judgment of ben from a file."""
        found = Document.objects.get(project=self.project, doc_id=doc_id)
        version = max(1, (found.text_version or 0) - back)
        text = self.text(doc_id, version)
        judgment = {"query_id": "301", "doc_id": doc_id, "annotator": "ben", "relevance": 1}
        judgment["evidence"] = [{"start": 0, "end": min(end, len(text))}]
        load(
            self.project,
            "judgments-jsonl",
            jsonl({**judgment, "note": text[:end], **({"text_version": version} if back else {})}),
        )


def write_export(project: Project, folder: Path) -> WrittenExport:
    return WrittenExport(project, "jsonl", folder)


def texts_of(files: WrittenExport) -> dict[tuple[str, int | None], str]:
    """Return every exported text by document and version."""
    if not (files.folder / "documents.jsonl").exists():
        return {}
    return {
        (one["doc_id"], one["text_version"]): one["text"]
        for one in files.records("documents.jsonl")
    }


def judgments_in(files: WrittenExport) -> list[dict[str, Any]]:
    """Return the exported judgments, without UUIDs, which must be unique in an installation."""
    found = files.records("judgments.jsonl")
    for one in found:
        del one["uuid"]
    return sorted(found, key=json.dumps)


def check(scene: Scene, folder: Path) -> None:
    """Check that exported spans match the marked words, here and in a project loaded from it."""
    files = write_export(scene.project, folder / "one")
    texts = texts_of(files)
    for one in files.records("judgments.jsonl"):
        text = texts.get((one["doc_id"], one.get("text_version")), TEXTS[0])
        assert [text[span["start"] : span["end"]] for span in one["evidence"]] == [one["note"]]
    assert verify(scene.project).faults == []

    other = factories.project("other")
    load(other, "docs-jsonl", jsonl(*({"doc_id": one, "text": TEXTS[0]} for one in "AB")))
    if texts:
        report = load(other, "docs-jsonl", files["documents.jsonl"])
        assert report.problems == []
    report = load(other, "pairs-jsonl", files["pairs.jsonl"])
    assert report.problems == []
    if judgments_in(files):
        report = load(other, "judgments-jsonl", jsonl(*judgments_in(files)))
        assert report.problems == []
    again = write_export(other, folder / "two")
    assert judgments_in(again) == judgments_in(files)
    assert texts_of(again) == texts
    assert current_judgments(other) == current_judgments(scene.project)


def current_judgments(project: Project) -> list[tuple[Any, ...]]:
    """Return the current judgments: (document, annotator, relevance, text version)."""
    found = Judgment.objects.current().filter(annotator__project=project)
    return sorted(
        found.values_list(
            "candidate__document__doc_id", "annotator__name", "relevance", "text_version"
        )
    )


DOC = st.sampled_from("AB")
AT = st.integers(0, 12)
BACK = st.integers(0, 2)
STEP = st.one_of(
    st.tuples(st.just("change"), DOC, st.integers(0, len(TEXTS) - 1)),
    st.tuples(st.just("judge"), DOC, AT, AT, BACK, st.integers(0, 2)),
    st.tuples(st.just("withdraw"), st.integers(0, 5)),
    st.tuples(st.just("load"), DOC, AT.filter(bool), BACK),
)


class EverySpanReadsBack(TestCase):
    @settings(max_examples=25, deadline=None)
    @given(steps=st.lists(STEP, min_size=1, max_size=8))
    @example(
        steps=[
            ("judge", "A", 0, 8, 0, 1),
            ("judge", "A", 9, 11, 0, 2),
            ("change", "A", 1),
            ("judge", "A", 0, 4, 1, 0),
            ("withdraw", 1),
            ("load", "A", 3, 1),
            ("judge", "A", 0, 4, 0, 0),
            ("change", "A", 0),
        ]
    )
    def test_after_any_changes_of_texts_judgments_withdrawals_and_loads(self, steps):
        scene = Scene()
        made: list[Judgment] = []
        for what, *how in steps:
            if what == "change":
                scene.change(*how)
            elif what == "judge":
                doc_id, start, length, back, grade = how
                made.append(scene.judge(doc_id, start, start + 1 + length, back, grade))
            elif what == "load":
                scene.load_judgment(*how)
            elif made:
                row = made[how[0] % len(made)]
                withdraw(uuid=row.uuid, pair=scene.pair, by=scene.ada)
        with TemporaryDirectory() as folder:
            check(scene, Path(folder))


@pytest.fixture
def scene(db) -> Scene:
    return Scene()


def test_an_export_of_documents_with_one_text_names_no_version(scene, write):
    scene.judge("A")

    files = write(scene.project, "jsonl")

    assert not (files.folder / "documents.jsonl").exists()
    assert "text_version" not in files["judgments.jsonl"] + files["judgments.csv"]
    assert "text_versions" not in files.manifest


def test_an_export_names_the_text_of_each_judgment_and_the_newest_of_each_document(scene, write):
    scene.judge("A", grade=2)
    scene.change("A", 1)
    scene.judge("A", grade=0)
    scene.judge("B")

    files = write(scene.project, "jsonl")

    assert [one.get("text_version") for one in files.records("judgments.jsonl")] == [1, 2, None]
    assert [line.rpartition(",")[2] for line in files["judgments.csv"].splitlines()] == [
        *("text_version", "1", "2", ""),
    ]
    assert files.manifest["text_versions"] == {"A": 2}
    counts = files.manifest["counts"]
    assert (counts["judgments_stale"], counts["documents_with_newer_texts"]) == (1, 1)


def test_the_qrels_ignore_judgments_of_an_older_text(scene, write):
    scene.judge("A", grade=2)
    scene.judge("B", grade=0)
    scene.change("A", 1)

    files = write(scene.project)

    assert files["qrels.changed.txt"] == "301 0 B 0\n"
    assert files["unjudged.tsv"].splitlines()[1:] == ["301\t301\taltered\tA\t1"]
    assert files.manifest["text_versions"] == {"A": 2}
    assert files.manifest["counts"]["judgments_stale"] == 1
    assert any("of a text and not counted" in note for note in files.manifest["notes"])


def test_a_machines_claims_of_an_older_text_are_not_exported(scene, write):
    model = factories.machine(scene.project)
    for one in Document.objects.filter(project=scene.project):
        factories.judgment(scene.narrative, one.candidates.get(), model)
    before = write(scene.project)
    scene.change("A", 1)

    after = write(scene.project)

    name = "qrels.claimed.txt"
    assert (before[name], after[name]) == ("301 0 A 1\n301 0 B 1\n", "301 0 B 1\n")
