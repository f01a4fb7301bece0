"""Reviews and decisions from a file."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from django.urls import reverse

from annotate.models import Narrative
from annotate.rewriting.actions import rewrite_narrative
from annotate.rewriting.sending_back import send_back
from audit.models import Decision, Rating, Review
from audit.reviews.criteria import FOLLOWTABLE
from audit.reviews.rejected import rejected
from exporters.exports.selection import selection
from tests import factories
from tests.collection.arriving import counts, jsonl, load, problems, rows

pytestmark = pytest.mark.both_databases

AT = "2026-03-01T09:30:00+00:00"
LATER = "2026-03-02T09:30:00+00:00"


@pytest.fixture
def pair(db):
    return factories.pair(factories.query(factories.project(), "907"), pair_id="907_0")


def review(**fields: object) -> dict[str, Any]:
    return {
        "type": "review",
        "pair_id": "907_0",
        "query_id": "907",
        "auditor": "dan",
        "rubric": FOLLOWTABLE.name,
        "at": AT,
        "ratings": [{"criterion": key, "level": "acceptable"} for key in FOLLOWTABLE.keys],
        **fields,
    }


def decision(**fields: object) -> dict[str, Any]:
    return {
        "type": "decision",
        "pair_id": "907_0",
        "query_id": "907",
        "by": "carla",
        "outcome": "removed",
        "reason": "Off the topic.",
        "at": AT,
        **fields,
    }


def load_records(pair, *records: dict[str, Any]):
    return load(pair.project, "judgments-jsonl", jsonl(*records))


def test_a_review_comes_with_its_ratings(pair):
    worst = {"criterion": FOLLOWTABLE.keys[0], "level": "poor", "words": "Says nothing."}

    report = load_records(pair, review(ratings=[worst, *review()["ratings"][1:]]))

    assert counts(report) == (1, 1, 0, 0, 0)
    assert rows(report)["reviews"] == (1, 0, 0)
    found = Review.objects.get()
    assert (found.auditor.name, found.narrative) == ("dan", factories.altered(pair))
    assert found.submitted_at == datetime(2026, 3, 1, 9, 30, tzinfo=UTC)
    ratings = Rating.objects.filter(criterion=FOLLOWTABLE.keys[0])
    assert list(ratings.values_list("level", "words")) == [("poor", "Says nothing.")]
    assert Rating.objects.count() == 6


def test_loading_again_changes_nothing(pair):
    load_records(pair, review(), decision())

    report = load_records(pair, review(), decision())

    assert counts(report) == (2, 0, 0, 2, 0)
    assert (Review.objects.count(), Decision.objects.count()) == (1, 1)


def test_a_file_cannot_change_a_stored_review(pair):
    load_records(pair, review())
    worst = {"criterion": FOLLOWTABLE.keys[0], "level": "poor", "words": "Says nothing."}

    report = load_records(pair, review(ratings=[worst, *review()["ratings"][1:]]))

    assert problems(report) == [
        (
            "file.txt:1: dan has already reviewed version 1 of 907_0, with other content: a review "
            "cannot change"
        )
    ]
    assert set(Rating.objects.values_list("level", flat=True)) == {"acceptable"}


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"ratings": review()["ratings"][1:]}, "the review lacks a rating of semantic_expansion"),
        (
            {"ratings": [{"criterion": "wit", "level": "poor"}]},
            "“wit” is not one of the criteria: semantic_expansion,",
        ),
        (
            {"ratings": [{"criterion": "query_dependency", "level": "fine"}]},
            "“fine” is not a level: excellent, acceptable, poor",
        ),
        (
            {"ratings": review()["ratings"] * 2},
            "semantic_expansion is rated twice",
        ),
        ({"version": 2}, "there is no version 2 of the altered narrative of 907_0"),
        ({"pair_id": "907_9"}, "there is no version 1 of the altered narrative of 907_9"),
        ({"query_id": "908"}, "instruction pair 907_0 belongs to query 907"),
    ],
)
def test_an_invalid_review_is_refused_with_its_line(pair, fields, sentence):
    report = load_records(pair, review(auditor="ada"), review(**fields))

    assert [problem.line for problem in report.problems] == [2] * report.refused
    assert sentence in report.problems[0].message
    assert Review.objects.count() == 0


def test_the_same_review_twice_in_a_file_is_refused(pair):
    report = load_records(pair, review(), review())

    assert problems(report) == ["file.txt:2: dan has reviewed this version of 907_0 on line 1"]


def test_a_decision_has_its_effect_on_the_pair(pair):
    report = load_records(pair, decision())

    assert rows(report)["decisions"] == (1, 0, 0)
    pair.refresh_from_db()
    assert (pair.removed_at.isoformat(), pair.removed_by.name) == (AT, "carla")


def test_an_instruction_stays_removed_by_a_decision_on_an_older_version(pair):
    factories.narrative(pair, version=2)

    load_records(pair, decision())

    pair.refresh_from_db()
    assert (pair.removed_at.isoformat(), pair.removed_by.name) == (AT, "carla")


def test_sending_an_older_version_back_has_no_effect_any_more(pair):
    newest = factories.narrative(pair, version=2)

    load_records(pair, decision(outcome="revise"))

    newest.refresh_from_db()
    assert newest.sent_back_at is None


def test_a_decision_dated_before_its_version_was_loaded_sends_that_version_back(pair):
    # The version was written now, in the database: long after AT.
    load_records(pair, decision(outcome="revise", reason="Say more."))

    assert factories.altered(pair).sent_back_at is not None
    assert not Narrative.objects.instructions_in_force([pair.project_id]).exists()
    [exported] = selection.pairs(pair.project)
    assert exported.left_out == "sent back"
    assert rejected(pair.project, everyone=True).get() == factories.altered(pair)


def test_the_page_of_the_query_says_that_such_a_version_is_sent_back(pair, client):
    load_records(pair, decision(outcome="revise", reason="Say more."))
    client.force_login(factories.lead(pair.project, "dora").user)

    page = client.get(reverse("annotate:query", args=["tides", pair.query_id])).content.decode()

    assert "sent back" in page


def test_a_version_that_the_file_dates_before_the_decision_is_not_sent_back(pair):
    load_records(pair, decision(outcome="revise", reason="Say more."))
    new = {"side": "altered", "version": 2, "text": "Only plants at sea, in use.", "at": AT}

    load(
        pair.project,
        "pairs-jsonl",
        jsonl({"pair_id": "907_0", "query_id": "907", "narratives": [new]}),
    )

    assert factories.altered(pair).sent_back_at is None
    [exported] = selection.pairs(pair.project)
    assert (exported.versions["altered"].version, exported.left_out) == (2, "not judged")
    assert not rejected(pair.project, everyone=True).exists()


def test_a_file_withdraws_a_stored_decision(pair):
    load_records(pair, decision())

    report = load_records(pair, decision(withdrawn_by="carla", withdrawn_at=LATER))

    assert counts(report) == (1, 0, 1, 0, 0)
    assert Decision.objects.get().withdrawn_at == datetime(2026, 3, 2, 9, 30, tzinfo=UTC)
    pair.refresh_from_db()
    assert pair.removed_at is None


def test_a_decision_that_a_file_withdraws_leaves_a_later_version_sent_back(pair):
    revise = decision(outcome="revise", reason="Say more.")
    load_records(pair, revise)
    dora = factories.lead(pair.project, "dora")
    second = rewrite_narrative(pair=pair, text="Only plants in use.", based_on=1, by=dora)
    send_back(pair=pair, version=2, reason="Name a river.", by=dora)

    report = load_records(pair, revise | {"withdrawn_by": "carla", "withdrawn_at": LATER})

    assert counts(report) == (1, 0, 1, 0, 0)
    second.refresh_from_db()
    assert second.sent_back_reason == "Name a river."


def test_a_file_cannot_overrule_a_current_decision(pair):
    load_records(pair, decision(outcome="accepted", reason=""))

    report = load_records(pair, decision())

    assert problems(report) == [
        "file.txt:1: carla has already decided on version 1 of 907_0: accepted"
    ]
    pair.refresh_from_db()
    assert pair.removed_at is None


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"reason": " "}, "a decision to revise or remove needs a reason"),
        ({"withdrawn_at": LATER}, "a withdrawn decision needs both withdrawn_by and withdrawn_at"),
    ],
)
def test_an_invalid_decision_in_a_file_is_refused(pair, fields, sentence):
    report = load_records(pair, decision(**fields))

    assert problems(report) == [f"file.txt:1: {sentence}"]
