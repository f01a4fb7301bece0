"""The checks after a storm find each kind of fault."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from annotate.judging import actions as judging
from annotate.judgments import assignments
from annotate.models import Assignment, Judgment, Load, Project
from exporters.models import Export
from tests import factories
from tests.chaos import truth

pytestmark = pytest.mark.django_db

NOTHING: dict[str, object] = {}


@pytest.fixture
def scene():
    """Two judgments by ada of one document, 1 and then 2, with the responses she got."""
    project = factories.project("storm")
    query = factories.query(project)
    candidate = factories.candidate(query)
    pair = factories.pair(query)
    narrative = factories.altered(pair)
    ada = factories.member(project, "ada")
    assignments.take(pair=pair, task=Assignment.Task.JUDGE, by=ada)
    rows = [
        judging.judge(narrative=narrative, candidate=candidate, relevance=says, by=ada)
        for says in (1, 2)
    ]
    statements = [
        {
            "uuid": str(row.uuid),
            "kind": "judgment",
            "user": ada.user_id,
            "pair": pair.pk,
            "narrative": narrative.pk,
            "candidate": candidate.pk,
            "says": row.relevance,
            "undone": False,
            "acknowledged": "2026-11-21T12:00:00Z",
            "refused": "",
        }
        for row in rows
    ]
    return {"statements": statements}


def complaints(part, record):
    return [sentence.split(":")[0] for sentence in part(record, {})]


def test_unchanged_data_causes_no_complaint(scene):
    counts: dict[str, object] = {}

    assert list(truth.statements(scene, counts)) == []
    assert (counts["acknowledged"], counts["found"], counts["current"]) == (2, 2, 1)
    assert complaints(truth.assignments, NOTHING) == []
    assert complaints(truth.chains, NOTHING) == []


def test_a_lost_acknowledged_judgment_is_found(scene):
    Judgment.objects.filter(relevance=2).delete()

    counts: dict[str, object] = {}
    missing, none_current = truth.statements(scene, counts)

    assert missing.startswith("acknowledged and not there: ")
    assert " None is current, " in none_current
    assert (counts["acknowledged"], counts["found"]) == (2, 1)
    assert complaints(truth.chains, NOTHING) == ["chains"]


def test_a_judgment_that_nobody_made_is_found(scene):
    scene["statements"].pop(0)

    assert complaints(truth.statements, scene) == ["1 statements are there that nobody made"]


def test_a_changed_grade_is_found(scene):
    scene["statements"][0]["says"] = 0

    assert [words[:5] for words in truth.statements(scene, {})] == ["sent "]


def test_a_wrong_current_judgment_is_found(scene):
    scene["statements"].reverse()

    (complaint,) = truth.statements(scene, {})

    assert "is the last" in complaint


def test_a_stored_refused_judgment_is_found(scene):
    scene["statements"][1] |= {"acknowledged": "", "refused": "No."}

    assert complaints(truth.statements, scene) == ["1 refused statements are there"]


def test_a_judge_without_an_assignment_is_found(scene):
    Assignment.objects.all().delete()

    assert complaints(truth.assignments, NOTHING) == ["1 judged without an assignment"]


def test_an_assignment_beyond_the_overlap_is_found(scene):
    Assignment.objects.update(seat=truth.OVERLAP + 1)

    assert complaints(truth.assignments, NOTHING) == ["an assignment beyond the overlap"]


def test_a_partly_loaded_file_is_found(scene):
    record = {"handed_in": {"one.txt": {"queries": ["301"], "lines": 2}}}

    # The scene has one candidate for the query, as if one of two lines had been loaded.
    assert complaints(truth.loads, record) == [
        "one.txt",
        "one.txt",
        "the file handed in after the storm is not loaded",
    ]


def test_an_unfinished_job_is_found(scene):
    lead = factories.lead(Project.objects.get(slug="storm"))
    Load.objects.create(project=lead.project, by=lead, format="trec-qrels", file_name="one.txt")

    assert [words for words in truth.jobs(NOTHING, {}) if "is queued after 0 attempts" in words]


def test_a_leftover_export_folder_is_found(scene, settings, tmp_path):
    settings.STORAGES = {
        **settings.STORAGES,
        "default": {
            "BACKEND": "django.core.files.storage.FileSystemStorage",
            "OPTIONS": {"location": str(tmp_path)},
        },
    }
    lead = factories.lead(Project.objects.get(slug="storm"))
    now = timezone.now()
    Export.objects.create(
        project=lead.project,
        by=lead,
        format="trec",
        state="done",
        started_at=now - timedelta(seconds=1),
        finished_at=now,
    )
    (tmp_path / f"exports/{lead.project_id}/7-1-left").mkdir(parents=True)

    assert complaints(truth.exports, NOTHING) == [
        "an export that is done has no folder",
        "left on the shelf",
    ]
