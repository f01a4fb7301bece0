"""Objects that a machine's filter discards are taken out with the reason, and counted."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.urls import reverse

from annotate.collection.removal import QUERIES
from annotate.collection.topics import FilterCount, filter_counts
from annotate.models import Candidate, FilterDecision, InstructionPair, Membership, Query
from annotate.pools.removal import DOCUMENTS
from exporters.exports.manifest.rule_facts import kind_facts
from exporters.exports.selection.collection import filter_records
from formats.records import FilterRecord
from tests import factories
from tests.collection.arriving import load
from tests.programs import Program

pytestmark = pytest.mark.both_databases

KEPT: dict[str, Any] = {
    "query_id": "0",
    "machine": "gpt-4o",
    "decision": "keep",
    "doc_id": "0_positive",
}
DOCUMENT: dict[str, Any] = {
    "query_id": "0",
    "machine": "gpt-4o",
    "decision": "discard",
    "doc_id": "0_hn1",
    "reason": "It meets 10 conditions, not 9.",
}
PAIR = DOCUMENT | {"doc_id": None, "pair_id": "0_2", "reason": "Nobody asks like this."}
QUERY: dict[str, Any] = {
    "query_id": "1",
    "machine": "gpt-4o",
    "decision": "discard",
    "reason": "Too short.",
}


@pytest.fixture
def project(db):
    """A project with query 0 (two documents, two instructions) and query 1 (one of each)."""
    made = factories.project(kind="multiconir")
    factories.lead(made)
    for query_id, pairs, documents in (
        ("0", ["0_1", "0_2"], ["0_positive", "0_hn1"]),
        ("1", ["1_1"], ["1_positive"]),
    ):
        query = factories.query(made, query_id)
        for pair_id in pairs:
            factories.pair(query, pair_id=pair_id)
        for doc_id in documents:
            factories.candidate(query, doc_id)
    return made


def jsonl(*decisions):
    return "".join(
        json.dumps({name: value for name, value in one.items() if value is not None}) + "\n"
        for one in decisions
    )


def discard(project, *decisions):
    return load(project, "filter-jsonl", jsonl(*decisions))


def test_discarded_objects_are_taken_out_by_the_machine_with_the_reason(project):
    report = discard(project, KEPT, DOCUMENT, PAIR, QUERY)

    assert report.problems == []
    assert (report.new, report.rows["taken_out"].new) == (4, 3)
    out = Candidate.with_removed.get(removed_at__isnull=False)
    assert out.document.doc_id == "0_hn1"
    assert out.removed_reason == "Discarded by gpt-4o: It meets 10 conditions, not 9."
    assert out.removed_by == Membership.objects.get(name="gpt-4o", is_machine=True)
    assert Query.objects.get(removed_at__isnull=False).query_id == "1"
    # The instructions of a discarded query are taken out with it.
    pairs = InstructionPair.objects.filter(removed_at__isnull=False).order_by("pk")
    assert [(one.pair_id, one.removed_reason) for one in pairs] == [
        ("0_2", "Discarded by gpt-4o: Nobody asks like this."),
        ("1_1", "Discarded by gpt-4o: Too short."),
    ]


def test_decisions_are_counted_by_machine_and_kind_of_object(project):
    discard(project, KEPT, DOCUMENT, PAIR, QUERY)

    assert filter_counts(project) == [
        FilterCount("gpt-4o", "queries", 0, 1, 0),
        FilterCount("gpt-4o", "instructions", 0, 1, 0),
        FilterCount("gpt-4o", "documents", 1, 1, 0),
    ]
    assert kind_facts(project)["filters"][2] == {
        "machine": "gpt-4o",
        "about": "documents",
        "kept": 1,
        "discarded": 1,
        "brought_back": 0,
    }


def test_objects_brought_back_stay_when_the_file_is_loaded_again(project):
    discard(project, DOCUMENT, QUERY)
    QUERIES.restore(project=project, keys=[Query.objects.get(query_id="1").pk], by=None)
    candidate = Candidate.with_removed.get(document__doc_id="0_hn1")
    DOCUMENTS.restore(project=project, keys=[candidate.pk], by=None)

    report = discard(project, DOCUMENT, QUERY)

    assert (report.new, report.unchanged) == (0, 2)
    assert not Query.objects.filter(removed_at__isnull=False).exists()
    assert [(one.discarded, one.brought_back) for one in filter_counts(project)] == [(1, 1), (1, 1)]


def test_objects_brought_back_are_exported_as_such_and_not_taken_out_again(project):
    discard(project, DOCUMENT, QUERY)
    candidate = Candidate.with_removed.get(document__doc_id="0_hn1")
    DOCUMENTS.restore(project=project, keys=[candidate.pk], by=None)
    assert [(one.doc_id, one.brought_back) for one in filter_records(project)] == [
        ("0_hn1", True),
        (None, False),
    ]
    other = factories.project("other")
    factories.candidate(factories.query(other, "0"), "0_hn1")

    report = discard(other, DOCUMENT | {"brought_back": True})

    assert (report.problems, report.new, report.rows["taken_out"].new) == ([], 1, 0)
    assert filter_counts(other) == [FilterCount("gpt-4o", "documents", 0, 1, 1)]


def test_objects_already_taken_out_keep_their_reason(project):
    query = Query.objects.get(query_id="1")
    Query.objects.filter(pk=query.pk).update(
        removed_at="2026-01-02T00:00Z", removed_reason="No narrative."
    )

    discard(project, QUERY)

    query.refresh_from_db()
    assert query.removed_reason == "No narrative."
    assert FilterDecision.objects.count() == 1


@pytest.mark.parametrize(
    ("decision", "sentence"),
    [
        (QUERY | {"query_id": "9"}, "there is no query 9 here"),
        (DOCUMENT | {"doc_id": "1_positive"}, "query 0 has no document 1_positive in its pool"),
        (PAIR | {"pair_id": "1_1"}, "query 0 has no instruction pair 1_1"),
        (PAIR | {"doc_id": "0_hn1"}, "this one names both"),
        (QUERY | {"reason": " "}, "the reason is missing"),
        (QUERY | {"decision": "drop"}, "decision"),
        (KEPT | {"brought_back": True}, "only what was discarded can be brought back"),
        (QUERY | {"machine": "carla"}, "“carla” is a person in this project"),
        (QUERY | {"reason": "x" * 500}, "the reason is longer than 479 characters"),
    ],
)
def test_an_invalid_decision_is_refused_and_nothing_is_taken_out(project, decision, sentence):
    report = discard(project, DOCUMENT, decision)

    assert sentence in report.problems[0].message
    assert report.problems[0].line == 2
    assert not FilterDecision.objects.exists()
    assert not Candidate.with_removed.filter(removed_at__isnull=False).exists()


def test_a_machine_decides_once_on_each_object(project):
    discard(project, DOCUMENT)

    report = discard(project, DOCUMENT | {"decision": "keep"})

    assert "gpt-4o decided otherwise on this of query 0 before" in report.problems[0].message
    twice = discard(project, QUERY, QUERY | {"decision": "keep"})
    assert "decided otherwise on this of query 1 on line 1" in twice.problems[0].message


def test_a_table_is_read_like_lines(project):
    report = load(
        project,
        "filter-csv",
        "query_id,doc_id,machine,decision,reason\n0,0_hn1,gpt-4o,discard,Wrong count.\n",
    )

    assert report.problems == []
    assert Candidate.with_removed.get(removed_at__isnull=False).document.doc_id == "0_hn1"


def test_decisions_are_exported_as_they_were_loaded(project):
    discard(project, KEPT, DOCUMENT, PAIR, QUERY)

    records = sorted(filter_records(project), key=str)
    assert records == sorted(
        (FilterRecord(**{"reason": "", **one}) for one in (KEPT, DOCUMENT, PAIR, QUERY)), key=str
    )


def test_the_page_and_the_api_show_the_counts(project, client):
    discard(project, KEPT, DOCUMENT, QUERY)
    client.force_login(project.memberships.get(name="carla").user)

    page = client.get(reverse("annotate:removed_queries", args=["tides"])).content.decode()
    assert 'id="filters"' in page
    assert "Discarded by gpt-4o: Too short." in page
    answer = Program("carla", "lead").get("projects/tides/filters/").json()
    assert answer[1] == {
        "machine": "gpt-4o",
        "about": "documents",
        "kept": 1,
        "discarded": 1,
        "brought_back": 0,
    }


def test_the_step_of_the_kind_counts_kept_and_discarded(project, client):
    discard(project, KEPT, DOCUMENT, QUERY)
    client.force_login(project.memberships.get(name="carla").user)

    answer = Program("carla", "lead").get("projects/tides/steps/").json()["steps"]
    step = next(one for one in answer if one["key"] == "filter")
    assert (step["name"], step["state"]) == ("LLM filtering", "done")
    assert step["count"] == "1 kept, 2 discarded"
