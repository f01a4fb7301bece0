"""A new text of a document inserts a version and makes answers about older ones stale."""

from __future__ import annotations

import io
import json
from typing import Any
from uuid import UUID

import pytest
from django.core.management import call_command
from django.urls import reverse

from annotate.collection.marking import Span
from annotate.guidelines import rejudge_requests
from annotate.judging import actions as judging
from annotate.judging.actions import Recorded, undo, withdraw
from annotate.judging.judging_session import read_judging_session
from annotate.judging.lookup import NO_TEXT
from annotate.judgments import assignments
from annotate.judgments.in_force import judgments_in_force
from annotate.models import Assignment, Document, DocumentText, Flag, Judgment, Statement
from base.errors import Refused, Stale
from keeping.verify import verify
from tests import factories
from tests.collection.arriving import counts, jsonl, load, problems, rows
from tests.programs import Program

pytestmark = pytest.mark.both_databases

JUDGE = Assignment.Task.JUDGE
FIRST, SECOND = "Turbines in the Severn.", "Rain."


class Scene:
    """ada judges documents A and B of one pair; A has the text FIRST."""

    def __init__(self) -> None:
        self.project = factories.project()
        self.carla = factories.lead(self.project)
        self.ada = factories.member(self.project, "ada")
        self.query = factories.query(self.project)
        load(self.project, "docs-jsonl", jsonl({"doc_id": "A", "text": FIRST}, {"doc_id": "B"}))
        load(self.project, "trec-qrels", "301 0 A 1\n301 0 B 1\n")
        self.first = self.query.candidates.get(document__doc_id="A")
        self.second = self.query.candidates.get(document__doc_id="B")
        self.pair = factories.pair(self.query)
        self.narrative = factories.altered(self.pair)
        self.assignment = assignments.take(pair=self.pair, task=JUDGE, by=self.ada)

    def change(self, text: str = SECOND, **more):
        return load(self.project, "docs-jsonl", jsonl({"doc_id": "A", "text": text, **more}))

    def judge(self, relevance: int = 1, text: int | None = None, of=None, **more) -> Recorded:
        late = more.pop("late", False)
        evidence = [span._asdict() for span in more.pop("evidence", ())]
        grade = Statement(
            narrative=self.narrative,
            candidate=of or self.first,
            text_version=text,
            relevance=relevance,
            evidence=evidence,
            **more,
        )
        return judging.record(grade, pair=self.pair, by=self.ada, late=late)

    def open(self) -> list[int]:
        """Return the candidates that ada still has to judge."""
        at = read_judging_session(narrative=self.narrative, by=self.ada)
        return [one for one in at.order if one not in at.judged and one not in at.flagged]


@pytest.fixture(scope="module")
def scene_of_file(rows_of_file) -> Scene:
    return Scene()


def versions(doc_id: str = "A") -> list[tuple[int, str]]:
    found = DocumentText.objects.filter(document__doc_id=doc_id).order_by("version")
    return list(found.values_list("version", "text"))


# --- first texts ----------------------------------------------------------------------------------


def flag_without_text(scene: Scene, kind: str = "problem") -> Statement:
    """Ada flags B, which has no text on her screen."""
    flag = Statement(
        narrative=scene.narrative, candidate=scene.second, flag=kind, note="Nothing to read."
    )
    return judging.record(flag, pair=scene.pair, by=scene.ada).row


def load_first_text(scene: Scene, **options: Any):
    return load(scene.project, "docs-jsonl", jsonl({"doc_id": "B", "text": SECOND}), **options)


def test_whoever_flagged_a_document_without_text_is_asked_again_once_it_has_one(scene):
    scene.judge()
    flag = flag_without_text(scene)
    assert scene.open() == []
    assert Assignment.objects.get().done_at is not None

    preview = load_first_text(scene, dry_run=True)
    before = scene.open()
    report = load_first_text(scene)

    assert before == []
    assert report.notes == preview.notes
    assert "1 flag on documents that had no text ends: whoever could not judge is asked again" in (
        report.notes
    )
    assert scene.open() == [scene.second.pk]
    assert Assignment.objects.get().done_at is None
    flag.refresh_from_db()
    assert (flag.flag, flag.ended_at is not None, flag.withdrawn_at) == ("problem", True, None)

    grade = scene.judge(of=scene.second)

    assert (grade.warning, scene.open()) == ("", [])
    assert verify(scene.project).faults == []


def flag_late(scene: Scene, *, late: bool, kind: str = "problem"):
    """Ada sends a flag of B that she gave while it had no text."""
    flag = Statement(
        narrative=scene.narrative,
        candidate=scene.second,
        flag=kind,
        note="Nothing to read.",
        text_version=NO_TEXT,
    )
    return judging.record(flag, pair=scene.pair, by=scene.ada, late=late)


def test_a_flag_given_offline_without_text_is_kept_but_does_not_count_if_a_text_came(scene):
    scene.judge()
    load_first_text(scene)

    recorded = flag_late(scene, late=True)

    assert "Your flag is kept but does not count" in recorded.warning
    assert scene.open() == [scene.second.pk]
    assert Assignment.objects.get().done_at is None
    assert not Flag.objects.current().exists()
    assert Flag.objects.get().withdrawn_at is None
    assert scene.judge(of=scene.second).warning == ""
    assert verify(scene.project).faults == []


def test_a_flag_without_text_is_not_taken_from_a_page_once_the_document_has_one(scene):
    load_first_text(scene)

    with pytest.raises(Stale, match="has a text by now"):
        flag_late(scene, late=False)

    assert flag_late(scene, late=False, kind="later").warning == ""


def test_a_first_text_ends_no_grade_and_no_flag_of_a_file(scene):
    scene.judge(of=scene.second)
    flag = {"type": "flag", "query_id": "301", "doc_id": "B", "annotator": "ben"}
    flagged = load(
        scene.project, "judgments-jsonl", jsonl({**flag, "kind": "cannot_judge", "words": "Lost."})
    )
    assert problems(flagged) == []

    report = load_first_text(scene)

    assert not any("flag" in note for note in report.notes)
    assert scene.open() == [scene.first.pk]
    assert Flag.objects.current().count() == 1


# --- texts ----------------------------------------------------------------------------------------


def test_a_new_text_inserts_a_version_and_overwrites_none(scene):
    report = scene.change()

    assert versions() == [(1, FIRST), (2, SECOND)]
    assert rows(report) == {"documents": (0, 1, 0), "texts": (1, 0, 0)}
    found = Document.objects.get(doc_id="A")
    assert (found.text_version, found.length) == (2, len(SECOND))


def test_the_same_text_again_changes_nothing(scene):
    assert counts(scene.change(FIRST)) == (1, 0, 0, 1, 0)
    assert versions() == [(1, FIRST)]


def test_an_earlier_text_that_comes_back_is_a_new_version(scene):
    scene.change()
    scene.change(FIRST)

    assert versions() == [(1, FIRST), (2, SECOND), (3, FIRST)]


def test_a_new_markup_makes_a_version_and_a_new_title_does_not(scene):
    scene.change(FIRST, markup="html")
    scene.change(FIRST, markup="html", title="Tides")

    assert versions() == [(1, FIRST), (2, FIRST)]
    assert Document.objects.get(doc_id="A").title == "Tides"


def test_a_first_text_makes_nothing_stale(scene):
    scene.judge(of=scene.second)

    report = load(scene.project, "docs-jsonl", jsonl({"doc_id": "B", "text": "Of dykes."}))

    assert versions("B") == [(1, "Of dykes.")]
    assert report.notes == []
    assert judgments_in_force(scene.project).count() == 1
    assert scene.open() == [scene.first.pk]


def test_a_file_may_name_the_versions_of_a_document(scene):
    lines = [{"doc_id": "N", "text": text, "text_version": n} for n, text in [(1, "a"), (2, "b")]]

    report = load(scene.project, "docs-jsonl", jsonl(*lines))
    again = load(scene.project, "docs-jsonl", jsonl(*lines))

    assert counts(report) == (2, 2, 0, 0, 0)
    assert counts(again) == (2, 0, 0, 2, 0)
    assert versions("N") == [(1, "a"), (2, "b")]


def test_new_versions_are_added_to_existing_ones(scene):
    lines = [(1, FIRST), (2, SECOND), (3, "Fog.")]

    report = load(
        scene.project,
        "docs-jsonl",
        jsonl(*({"doc_id": "A", "text": text, "text_version": n} for n, text in lines)),
    )

    assert counts(report) == (3, 0, 2, 1, 0)
    assert versions() == lines


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        ([("x", 1)], "version 1 of the text of document A already exists, with other words"),
        ([("x", 3)], "there is no version 2 of the text of document A"),
        ([("x", 2), ("y", None)], "has no text version on this line, and version 2 on line 1"),
    ],
)
def test_versions_that_do_not_fit_are_refused(scene, lines, sentence):
    records = [{"doc_id": "A", "text": text, "text_version": n} for text, n in lines]

    report = load(scene.project, "docs-jsonl", jsonl(*records))

    assert sentence in problems(report)[0]
    assert versions() == [(1, FIRST)]


# --- answers --------------------------------------------------------------------------------------


def test_a_judgment_records_the_text_version_that_was_read(scene):
    with_text, without = scene.judge(text=1).row, scene.judge(of=scene.second, text=0).row

    assert (with_text.text_version, without.text_version) == (1, None)


def test_judgments_of_the_older_text_are_stale_and_the_assignment_is_reopened(scene):
    scene.judge(evidence=[Span(0, 8)])
    scene.judge(of=scene.second)
    scene.assignment.refresh_from_db()
    assert scene.assignment.done_at is not None

    scene.change()

    scene.assignment.refresh_from_db()
    assert scene.assignment.done_at is None
    assert scene.open() == [scene.first.pk]
    assert [one.candidate for one in judgments_in_force(scene.project)] == [scene.second]
    assert Judgment.objects.not_superseded().count() == 2


def test_judging_the_new_text_does_not_change_the_older_judgment(scene):
    before = scene.judge(relevance=2, evidence=[Span(0, 8)]).row
    scene.change()

    after = scene.judge(relevance=0, evidence=[Span(0, 4)]).row

    before.refresh_from_db()
    assert (before.ended_at, before.text_version) == (None, 1)
    assert (after.text_version, after.replaces) == (2, None)
    undo(narrative=scene.narrative, by=scene.ada)
    assert set(scene.open()) == {scene.first.pk, scene.second.pk}


def test_withdrawing_a_judgment_restores_the_earlier_one_as_stale(scene):
    scene.judge(relevance=0)
    second = scene.judge(relevance=1).row
    scene.change()

    withdraw(uuid=second.uuid, pair=scene.pair, by=scene.ada)

    assert [one.relevance for one in Judgment.objects.not_superseded()] == [0]
    assert not Judgment.objects.current().exists()


def test_a_flag_on_the_older_text_does_not_count_for_the_new_one(scene):
    judging.flag(
        narrative=scene.narrative,
        candidate=scene.first,
        kind=Flag.Kind.PROBLEM,
        words="Cut off.",
        by=scene.ada,
    )

    scene.change()

    assert scene.first.pk in scene.open()
    assert Flag.objects.filter(ended_at=None, text_version=1).count() == 1


def test_a_form_with_the_older_text_is_refused(scene, client):
    client.force_login(scene.ada.user)
    page = client.get(reverse("annotate:judge", args=[scene.pair.pk, scene.first.pk]))
    assert b'name="text_version" value="1"' in page.content
    scene.change()

    response = client.post(
        reverse("annotate:judgment", args=[scene.pair.pk, scene.first.pk]),
        {"narrative": scene.narrative.pk, "relevance": 1, "text_version": 1},
    )

    assert response.status_code == 422
    assert b"The document got another text while you were reading." in response.content
    assert not Judgment.objects.exists()


def test_the_list_sends_the_text_of_each_row(scene, client):
    client.force_login(scene.ada.user)
    scene.change()
    page = client.get(reverse("annotate:listing", args=[scene.pair.pk])).content.decode()
    judgment = reverse("annotate:judgment", args=[scene.pair.pk, scene.first.pk])
    assert f'formaction="{judgment}?text_version=2"' in page

    sent = {"narrative": scene.narrative.pk, "relevance": 1, "back": "list"}
    refused = client.post(f"{judgment}?text_version=1", sent)
    saved = client.post(f"{judgment}?text_version=2", sent)

    assert (refused.status_code, saved.status_code) == (422, 302)
    assert Judgment.objects.get().text_version == 2


def entry(scene: Scene, number: int, **fields: Any) -> dict[str, Any]:
    return {
        "uuid": str(UUID(int=number, version=4)),
        "kind": "judgment",
        "user": scene.ada.user_id,
        "pair": scene.pair.pk,
        "narrative": scene.narrative.pk,
        "candidate": scene.first.pk,
        "made_at": "2026-11-21T12:03:07+01:00",
        "relevance": 1,
        **fields,
    }


def test_a_journaled_judgment_of_the_older_text_is_kept_under_that_text(scene, client):
    client.force_login(scene.ada.user)
    scene.change()
    marked = entry(scene, 1, text_version=1, evidence=[{"start": 9, "end": 22}])

    answers = [
        client.post(
            reverse("annotate:api_journal"), {"entries": [marked]}, content_type="application/json"
        ).json()["answers"][0]
        for _ in range(2)
    ]

    assert [one["state"] for one in answers] == ["saved", "saved"]
    assert answers[0]["sentence"].startswith("The document has a new text since.")
    judgment = Judgment.objects.get()
    assert (judgment.text_version, judgment.is_current) == (1, False)
    assert scene.first.pk in scene.open()
    scene.assignment.refresh_from_db()
    assert scene.assignment.done_at is None


def test_a_journal_entry_with_an_unknown_text_version_is_refused(scene, client):
    client.force_login(scene.ada.user)
    response = client.post(
        reverse("annotate:api_journal"),
        {"entries": [entry(scene, 1, text_version=7), entry(scene, 2, text_version=-1)]},
        content_type="application/json",
    )

    unknown, unreadable = response.json()["answers"]
    assert unknown["sentence"].startswith("The text of this document has no version 7")
    assert unreadable["sentence"].startswith("The field “text_version”: ")
    assert not Judgment.objects.exists()


def test_an_api_client_sends_the_text_version_that_it_read(scene):
    scene.change()
    program = Program("ada", "judge")
    sent = {
        "uuid": str(UUID(int=1, version=4)),
        "narrative": scene.narrative.pk,
        "candidate": scene.first.pk,
        "relevance": 1,
    }

    stale = program.send("POST", f"pairs/{scene.pair.pk}/judgments/", {**sent, "text_version": 1})
    saved = program.send("POST", f"pairs/{scene.pair.pk}/judgments/", {**sent, "text_version": 2})

    assert (stale.status_code, stale.json()["code"]) == (409, "stale")
    assert (saved.status_code, saved.json()["text_version"]) == (201, 2)


def test_a_stale_judgment_cannot_get_a_rejudge_request(scene):
    judgment = scene.judge().row
    scene.change()

    with pytest.raises(Stale, match="a new text"):
        rejudge_requests.ask(statement=judgment, words="Sure?", by=scene.carla)


def test_a_new_text_closes_a_rejudge_request(scene):
    judgment = scene.judge().row
    rejudge_requests.ask(statement=judgment, words="Sure?", by=scene.carla)

    scene.change()

    at = read_judging_session(narrative=scene.narrative, by=scene.ada)
    assert at.again == frozenset()
    scene.judge(relevance=0, text=2)
    scene.judge(of=scene.second)
    assert read_judging_session(narrative=scene.narrative, by=scene.ada).done


def test_the_matrix_shows_the_text_version_of_a_stale_judgment(scene, client):
    scene.judge(relevance=2)
    scene.change()
    client.force_login(scene.carla.user)

    page = client.get(reverse("annotate:matrix", args=[scene.project.slug]) + "?state=stale")

    assert b"judged under version 1 of the document's text" in page.content


# --- notes of a load ------------------------------------------------------------------------------

STALE_NOTE = (
    "1 document gets another text. Answers to the earlier text: 1 judgment (2 evidence "
    "spans). They are kept under that text and become stale: they no longer count, and judges are "
    "asked again"
)


def test_preview_and_load_report_how_much_becomes_stale(scene):
    scene.judge(evidence=[Span(0, 8), Span(9, 11)])
    other = jsonl({"doc_id": "A", "text": SECOND})

    preview = load(scene.project, "docs-jsonl", other, dry_run=True)

    assert preview.notes == [STALE_NOTE]
    assert judgments_in_force(scene.project).count() == 1
    assert load(scene.project, "docs-jsonl", other).notes == [STALE_NOTE]
    assert load(scene.project, "docs-jsonl", other).notes == []


def test_the_command_reports_stale_answers_in_dry_run_and_load(scene, tmp_path):
    scene.judge(evidence=[Span(0, 8), Span(9, 11)])
    (tmp_path / "other.jsonl").write_text(jsonl({"doc_id": "A", "text": SECOND}))

    for more in (["--dry-run"], []):
        out = io.StringIO()
        path = str(tmp_path / "other.jsonl")
        call_command("load", "tides", "docs-jsonl", path, "--json", *more, stdout=out)
        assert STALE_NOTE in json.dumps(json.loads(out.getvalue()))


# --- judgments from files -------------------------------------------------------------------------


def judgment_of(text_version: int | None, **more: Any) -> dict[str, Any]:
    named = {} if text_version is None else {"text_version": text_version}
    common = {"query_id": "301", "doc_id": "A", "annotator": "ben", "relevance": 1}
    return {**common, **named, **more}


def test_a_loaded_judgment_is_about_the_named_text_or_else_the_newest(scene):
    scene.change()

    load(scene.project, "judgments-jsonl", jsonl(judgment_of(1, relevance=0), judgment_of(None)))

    found = Judgment.objects.order_by("text_version")
    assert [(one.text_version, one.is_current) for one in found] == [(1, False), (2, True)]


def test_a_loaded_judgment_of_an_unknown_text_version_is_refused(scene):
    report = load(scene.project, "judgments-jsonl", jsonl(judgment_of(2)))

    assert problems(report) == [
        (
            "file.txt:1: the text of document A has no version 2; the newest is 1: load the "
            "documents first"
        )
    ]


def test_loaded_evidence_is_checked_against_the_named_text(scene):
    scene.change()
    span = [{"start": 9, "end": 22}]

    first = load(scene.project, "judgments-jsonl", jsonl(judgment_of(1, evidence=span)))
    second = load(scene.project, "judgments-jsonl", jsonl(judgment_of(2, evidence=span)))

    assert counts(first) == (1, 1, 0, 0, 0)
    assert problems(second) == [
        "file.txt:1: the evidence goes to character 22, but the text of document A has 5"
    ]


def test_a_csv_of_judgments_may_name_the_text_version(scene):
    scene.change()
    header = "query_id,doc_id,annotator,relevance,text_version\n"

    load(scene.project, "judgments-csv", f"{header}301,A,ben,1,1\n")

    assert Judgment.objects.get().text_version == 1


# --- the chain ------------------------------------------------------------------------------------


def test_the_chain_notices_a_judgment_that_is_moved_to_another_text(scene):
    scene.judge()
    scene.change()
    moved = scene.judge(relevance=0).row
    assert verify(scene.project).faults == []

    Judgment.objects.filter(pk=moved.pk).update(text_version=1)

    assert [fault.what for fault in verify(scene.project).faults] == ["changed"]


def test_a_text_version_that_the_document_does_not_have_is_refused(scene):
    with pytest.raises(Refused, match="no version 2"):
        scene.judge(text=2)
    with pytest.raises(Refused, match="no text here"):
        scene.judge(of=scene.second, text=1)
