"""Checked labels and repeats in the JSON lines export."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from annotate.models import Repeat
from audit.checks import actions
from audit.models import Check, Sample
from tests import factories
from tests.checks.checking import check_label, claimed_scene, draw

pytestmark = pytest.mark.both_databases

AT = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)


@pytest.fixture
def scene(db):
    return claimed_scene()


@pytest.fixture
def sample(scene):
    return draw(scene, now=AT)


def test_a_checked_label_has_its_claim_each_answer_and_its_outcome(scene, sample, write):
    check_label(sample, "C", ada=2, ben=0, dan=1)
    Check.objects.update(at=AT)

    files = write(scene.project, "jsonl")

    def check_row(place, annotator, relevance):
        return {
            "place": place,
            "annotator": annotator,
            "relevance": relevance,
            "cannot_judge": False,
            "verdicts": {},
            "words": "",
            "at": "2026-03-02T09:30:00+00:00",
        }

    assert files.records("checks.jsonl") == [
        {
            "sample": "Spot checks",
            "seed": 7,
            "pair_id": "301",
            "query_id": "301",
            "doc_id": "C",
            "side": "altered",
            "version": 1,
            "stratum": "C1",
            "missed": None,
            "claimed": 2,
            "outcome": 1,
            "settled": True,
            "checks": [check_row(1, "ada", 2), check_row(2, "ben", 0), check_row(3, "dan", 1)],
        }
    ]


def test_open_checks_are_counted_and_their_answers_are_left_out(scene, sample, write):
    check_label(sample, "A", ada=0)
    check_label(sample, "B", ada=0, ben=1)
    check_label(sample, "D", ada=None, ben=0, dan=None)
    check_label(sample, "E", ada=1, ben=1)

    files = write(scene.project, "jsonl")

    lines = files.records("checks.jsonl")
    assert [(line["doc_id"], line["outcome"], line["settled"]) for line in lines] == [
        ("D", None, True),
        ("E", 1, False),
    ]
    assert [one["cannot_judge"] for one in lines[0]["checks"]] == [True, False, True]
    counts = files.manifest["counts"]
    assert (counts["samples"], counts["checks"], counts["checks_open"]) == (1, 2, 4)


def test_the_manifest_says_that_only_a_backup_moves_checks(scene, write):
    sentence = "only the backup of a project moves them"
    assert not any(sentence in note for note in write(scene.project, "jsonl").manifest["notes"])
    draw(scene, now=AT)

    notes = write(scene.project, "jsonl").manifest["notes"]

    assert [note for note in notes if sentence in note]


def test_superseded_answers_to_a_check_are_left_out(scene, sample, write):
    check_label(sample, "A", ada=1)
    check_label(sample, "A", ada=0, ben=0)

    [line] = write(scene.project, "jsonl").records("checks.jsonl")

    assert [(one["annotator"], one["relevance"]) for one in line["checks"]] == [
        ("ada", 0),
        ("ben", 0),
    ]


def test_a_sample_says_how_it_was_drawn_and_from_how_many(scene, sample, write):
    check_label(sample, "A", ada=0, ben=0)

    assert write(scene.project, "jsonl").records("samples.jsonl") == [
        {
            "sample": "Spot checks",
            "kind": "random",
            "asks": "grade",
            "source": "machine",
            "rater": "model",
            "relevant_only": False,
            "stratify": "category",
            "per": "stratum",
            "size": 3,
            "seed": 7,
            "fewer": False,
            "at_least": None,
            "depth": None,
            "below": None,
            "runs": [],
            "frame": {"C1": 3, "S1": 3},
            "shows_claim": False,
            "by": "carla",
            "at": "2026-03-02T09:30:00+00:00",
            "labels": 6,
            "checked": 1,
        }
    ]


def test_verdicts_are_by_the_number_of_the_condition(scene, write):
    conditions = [
        scene.narratives["C1"].conditions.create(number=number, text=f"Condition {number}.")
        for number in (1, 2)
    ]
    scene.selection = scene.selection._replace(asks=Sample.Asks.COUNT)
    sample = draw(scene, stratify=Sample.Stratify.NONE)
    answers = dict(zip((one.pk for one in conditions), ("not_met", "met"), strict=True))
    for by in (scene.ada, scene.ben):
        item = sample.items.get(candidate__document__doc_id="B")
        actions.check(item=item, verdicts=answers, by=by)

    [line] = write(scene.project, "jsonl").records("checks.jsonl")

    assert (line["claimed"], line["outcome"]) == (1, 1)
    assert [one["verdicts"] for one in line["checks"]] == [{"1": "not_met", "2": "met"}] * 2


def test_a_repeat_has_the_first_answer_too(scene, write):
    narrative, candidate = scene.narratives["C1"], scene.candidates["A"]
    first = factories.judgment(narrative, candidate, scene.ada, 2, at=AT)
    Repeat.objects.create(
        repeat=True,
        narrative=narrative,
        candidate=candidate,
        annotator=scene.ada,
        first=first,
        relevance=1,
        note="Less sure.",
        active_ms=900,
        at=AT,
    )

    files = write(scene.project, "jsonl")

    assert files.records("repeats.jsonl") == [
        {
            "query_id": "301",
            "doc_id": "A",
            "annotator": "ada",
            "side": "altered",
            "pair_id": "301",
            "version": 1,
            "at": "2026-03-02T09:30:00+00:00",
            "first": 2,
            "first_at": "2026-03-02T09:30:00+00:00",
            "relevance": 1,
            "flag": "",
            "note": "Less sure.",
            "active_ms": 900,
        }
    ]
    assert "Less sure." not in files["judgments.jsonl"]


def test_a_repeat_changes_no_qrels(scene, write):
    narrative, candidate = scene.narratives["C1"], scene.candidates["A"]
    factories.judgment(narrative, candidate, scene.ada, 2)
    before = write(scene.project, "trec").bytes()

    Repeat.objects.create(
        repeat=True, narrative=narrative, candidate=candidate, annotator=scene.ada, relevance=0
    )

    assert write(scene.project, "trec").bytes() == before
