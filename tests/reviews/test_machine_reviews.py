"""A machine's review is stored as such: shown beside people's reviews, and never counted."""

from __future__ import annotations

import json
from typing import Any

import pytest

from annotate.models import Flag, Membership
from audit.models import Decision, Review
from audit.reports import overview
from audit.reports.reliability import agreement_of
from audit.reports.tables import against_machines
from audit.reviews import rubrics
from audit.reviews.criteria import FOLLOWTABLE, Verdict
from audit.reviews.decisions import decide
from audit.reviews.passes import narratives_to_decide, passes_of, verdict_of
from audit.reviews.rejected import rejected
from audit.reviews.story import story
from audit.settling import queue as disagreements
from audit.settling.queue_filters import Kind, QueueFilter
from base.errors import Refused
from exporters.exports.selection.selection import pairs as pairs_of
from exporters.exports.selection.statements import reviews as exported
from formats.jsonl import read_judgments
from formats.source import Source
from tests import factories
from tests.collection.arriving import jsonl, load, problems
from tests.second_pass import submit_levels, take_reviews

CRITIC = "gpt-critic"


def review(auditor: str = CRITIC, level: str = "poor", **fields: Any) -> dict[str, Any]:
    return {
        "type": "review",
        "pair_id": "301",
        "query_id": "301",
        "auditor": auditor,
        "machine": True,
        "rubric": FOLLOWTABLE.name,
        "ratings": [
            {"criterion": key, "level": level, "words": "A machine says so."}
            for key in FOLLOWTABLE.keys
        ],
        **fields,
    }


def load_records(scene, *records):
    return load(scene.project, "judgments-jsonl", jsonl(*records))


@pytest.fixture(scope="module")
def scene_of_file(scene_of_file):
    return take_reviews(scene_of_file)


@pytest.fixture
def criticised(scene):
    """The machine finds everything poor; dan and ben have not reviewed yet."""
    assert problems(load_records(scene, review())) == []
    return scene


def test_a_file_can_mark_a_review_as_a_machines(criticised):
    assert Review.objects.get().auditor.is_machine
    assert load_records(criticised, review()).unchanged == 1


def test_a_machine_cannot_have_the_name_of_a_person(scene):
    report = load_records(scene, review("dan"))

    assert problems(report) == [
        "file.txt:1: “dan” is a person in this project; a machine needs another name"
    ]
    assert not Review.objects.exists()


def test_a_known_machine_remains_one_if_a_file_does_not_say_so(criticised):
    again = factories.pair(factories.query(criticised.project, "302"))

    load_records(criticised, review(pair_id=again.pair_id, query_id="302", machine=False))

    assert set(Review.objects.values_list("auditor__is_machine", flat=True)) == {True}


def test_a_machines_review_counts_in_no_verdict_and_no_number_of_reviews(criticised):
    narrative = criticised.narrative

    assert (
        verdict_of(passes_of([narrative])[narrative.pk], criticised.project) is Verdict.UNREVIEWED
    )
    assert list(narratives_to_decide(criticised.carla)) == []
    assert list(rejected(criticised.project, undecided=True, everyone=True)) == []
    submit_levels(criticised.narrative, criticised.dan)
    submit_levels(criticised.narrative, criticised.ben)
    assert verdict_of(passes_of([narrative])[narrative.pk], criticised.project) is Verdict.PASSED
    reviewed = overview.audits_by_member(criticised.project)
    people = {criticised.dan.pk: 1, criticised.ben.pk: 1}
    assert {key: one.reviews for key, one in reviewed.items() if key in people} == people


def test_a_machines_review_does_not_allow_a_decision(criticised):
    with pytest.raises(Refused, match="Nobody has reviewed this version yet"):
        decide(
            narrative=criticised.narrative, outcome="revise", reason="Weak.", by=criticised.carla
        )
    submit_levels(criticised.narrative, criticised.dan)
    with pytest.raises(Refused, match="1 of 2 reviews are in"):
        decide(narrative=criticised.narrative, outcome="accepted", reason="", by=criticised.carla)


def test_a_machines_review_makes_no_disagreement(criticised):
    submit_levels(criticised.narrative, criticised.dan)
    submit_levels(criticised.narrative, criticised.ben)

    wanted = QueueFilter(kind=Kind.REVIEW)
    assert disagreements.count_disagreements(criticised.carla, wanted) == 0


def test_a_machines_review_does_not_choose_the_rubric_for_people(criticised):
    nine = FOLLOWTABLE._replace(name="nine-1")
    choose_new_rubric(criticised.project, nine)

    assert rubrics.rubric_for(criticised.narrative, criticised.project.pk).name == "nine-1"


def choose_new_rubric(project, content):
    from audit.reviews.rubrics import choose_rubric, save_rubric

    save_rubric(project=project, content=content, by=None)
    choose_rubric(project=project, name=content.name, by=None)


def test_a_machine_is_compared_with_people_but_not_counted_among_them(criticised):
    submit_levels(criticised.narrative, criticised.dan)
    submit_levels(criticised.narrative, criticised.ben)

    figures = agreement_of(criticised.project, seed=1, resamples=100)

    among_people = figures["reviews"]["all"]
    assert (among_people["raters"], among_people["ratings"]) == (["ben", "dan"], 12)
    (reviewing,) = against_machines(figures)
    assert reviewing.machine == CRITIC
    # Six criteria each; people rate excellent, the machine poor.
    assert [(line.label, line.units) for line in reviewing.table.lines] == [("ben", 6), ("dan", 6)]
    percent = reviewing.table.lines[0].coefficients[0]
    assert percent["value"] == 0.0


def test_auditors_read_a_machines_review_after_submitting_their_own(criticised, client):
    client.force_login(criticised.dan.user)
    url = f"/pairs/{criticised.pair.pk}/story/"

    before = client.get(url).content.decode()
    submit_levels(criticised.narrative, criticised.dan)
    after = client.get(url).content.decode()

    assert CRITIC not in before
    assert "A machine says so." not in before
    assert "Reviews by machines" in after
    assert CRITIC in after
    (chapter,) = story(criticised.pair, criticised.dan)
    assert len(chapter.machines) == 1


def test_a_lead_reads_a_machines_review_beside_those_of_auditors(criticised, client):
    submit_levels(criticised.narrative, criticised.dan, query_dependency="poor")
    submit_levels(criticised.narrative, criticised.ben)
    client.force_login(criticised.carla.user)

    page = client.get(f"/narratives/{criticised.narrative.pk}/disagreement/").content.decode()

    assert "Reviews by machines" in page
    assert CRITIC in page


def test_the_export_marks_a_machines_review(criticised):
    (record,) = exported(pairs_of(criticised.project))

    assert record.machine is True


@pytest.mark.parametrize(
    ("kind", "fields", "sentence"),
    [
        ("decision", {"by": CRITIC, "outcome": "accepted"}, "a decision is made by a person"),
        (
            "adjudication",
            {"doc_id": "S1", "by": CRITIC, "relevance": 1, "reason": "So.", "cause": "edge"},
            "an adjudication is made by a person",
        ),
    ],
)
def test_a_machine_decides_nothing(criticised, kind, fields, sentence):
    about = {"type": kind, "pair_id": "301", "query_id": "301", **fields}

    flagged = load_records(criticised, {**about, "machine": True})
    named = load_records(criticised, about)

    assert sentence in problems(flagged)[0]
    assert sentence in problems(named)[0]
    assert not Decision.objects.exists()


def test_a_flag_of_a_machine_is_stored_as_a_machines(scene):
    flag = {"type": "flag", "query_id": "301", "doc_id": "S1", "annotator": CRITIC, "kind": "later"}

    load_records(scene, {**flag, "machine": True})

    assert Flag.objects.get().annotator == Membership.objects.get(is_machine=True)


def test_the_field_must_be_true_or_false():
    line = json.dumps(review(machine="yes")).encode()
    source = Source(line, "file.txt", collect=True)

    assert list(read_judgments(source)) == []
    assert "machine must be true or false, not text" in str(source.problems[0])
