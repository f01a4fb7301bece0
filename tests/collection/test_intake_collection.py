"""What is taken out, and other rows that no other file has, are loaded from a file."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from annotate.collection.removal import QUERIES
from annotate.models import Candidate, InstructionPair, Membership, Query
from tests import factories
from tests.collection.arriving import counts, jsonl, load, problems, rows

pytestmark = pytest.mark.both_databases

AT = "2026-03-01T09:30:00+00:00"
WHEN = datetime(2026, 3, 1, 9, 30, tzinfo=UTC)
QUERY: dict[str, Any] = {"type": "query", "query_id": "302"}
INSTRUCTION: dict[str, Any] = {"type": "instruction", "query_id": "301", "pair_id": "301"}
CANDIDATE: dict[str, Any] = {"type": "candidate", "query_id": "301", "doc_id": "A"}
OUT: dict[str, Any] = {"reason": "A pilot.", "at": AT, "by": "carla"}


@pytest.fixture
def project(db):
    """A project with query 301, its instruction pair and candidate A, and query 302."""
    made = factories.project()
    factories.lead(made)
    query = factories.query(made, "301")
    factories.pair(query)
    factories.candidate(query, "A")
    factories.query(made, "302", "canals")
    return made


def load_lines(project, *records: dict[str, Any]):
    return load(project, "collection-jsonl", jsonl(*records))


def removal(row) -> tuple[datetime | None, str | None, str]:
    row.refresh_from_db(from_queryset=type(row)._base_manager.all())
    return row.removed_at, row.removed_by and row.removed_by.name, row.removed_reason


def test_what_is_taken_out_has_its_reason_time_and_person(project):
    report = load_lines(project, QUERY | OUT, INSTRUCTION | OUT, CANDIDATE | OUT)

    assert counts(report) == (3, 0, 3, 0, 0)
    assert rows(report)["taken_out"] == (3, 0, 0)
    for row in (
        Query.objects.get(query_id="302"),
        InstructionPair.objects.get(),
        Candidate.with_removed.get(),
    ):
        assert removal(row) == (WHEN, "carla", "A pilot.")


def test_a_query_takes_its_instructions_out_and_brings_them_back(project):
    load_lines(project, {"type": "query", "query_id": "301", "reason": "A pilot."})

    [pair] = InstructionPair.objects.all()
    assert removal(pair) == removal(pair.query)
    assert removal(pair)[1:] == (None, "A pilot.")
    QUERIES.restore(project=project, keys=[pair.query_id], by=None)
    assert removal(pair) == (None, None, "")


def test_a_machine_that_took_something_out_is_a_machine(project):
    load_lines(project, CANDIDATE | OUT | {"by": "gpt-4o", "machine": True})

    assert Membership.objects.get(name="gpt-4o").is_machine


def test_queries_and_candidates_that_the_project_lacks_are_created(project):
    report = load_lines(
        project,
        {"type": "query", "query_id": "303", "title": "locks", "description": "Which?"},
        {"type": "candidate", "query_id": "303", "doc_id": "B"},
        {"type": "candidate", "query_id": "303", "doc_id": "C", "relevance": 0},
    )

    assert counts(report) == (3, 3, 0, 0, 0)
    query = Query.objects.get(query_id="303")
    assert (query.title, query.description) == ("locks", "Which?")
    assert not query.pairs.exists()
    found = Candidate.objects.filter(query=query).order_by("document__doc_id")
    assert list(found.values_list("document__doc_id", "prior_relevance", "origin")) == [
        ("B", None, "listed"),
        ("C", 0, "prior"),
    ]


def test_an_earlier_relevance_is_set_and_none_erases_nothing(project):
    load_lines(project, CANDIDATE)
    assert Candidate.objects.get().prior_relevance == 1

    report = load_lines(project, CANDIDATE | {"relevance": 2})

    assert counts(report) == (1, 0, 1, 0, 0)
    assert Candidate.objects.get().prior_relevance == 2


def test_loading_again_changes_nothing(project):
    lines = (QUERY | OUT | {"title": "canals"}, INSTRUCTION | OUT, CANDIDATE | OUT)
    load_lines(project, *lines)

    assert counts(load_lines(project, *lines)) == (3, 0, 0, 3, 0)


def test_what_is_taken_out_already_keeps_its_reason(project):
    query = Query.objects.get(query_id="302")
    QUERIES.remove(project=project, keys=[query.pk], reason="No narrative.", by=None)

    report = load_lines(project, QUERY | OUT)

    assert counts(report) == (1, 0, 0, 1, 0)
    assert removal(query)[2] == "No narrative."


def test_an_instruction_that_a_decision_removed_gets_the_reason_as_well(project):
    [pair] = InstructionPair.objects.all()
    carla = project.memberships.get(name="carla")
    InstructionPair.objects.update(removed_at=WHEN, removed_by=carla)

    load_lines(project, INSTRUCTION | OUT)

    assert removal(pair) == (WHEN, "carla", "A pilot.")


@pytest.mark.parametrize(
    ("record", "sentence"),
    [
        (INSTRUCTION | {"pair_id": "301_9"} | OUT, "there is no instruction pair 301_9"),
        (INSTRUCTION | {"query_id": "302"} | OUT, "301 belongs to query 301 in this project"),
        (INSTRUCTION, "the reason is missing; an instruction that is taken out needs one"),
        (CANDIDATE | {"by": "carla"}, "the reason is missing"),
        (CANDIDATE | OUT | {"by": " "}, "by is empty"),
        (CANDIDATE | OUT | {"machine": True}, "“carla” is a person in this project"),
        (CANDIDATE | {"reason": "x" * 501}, "the reason is longer than 500 characters"),
        (QUERY | {"doc_id": "A"}, "there is no field “doc_id”"),
        (QUERY | {"type": "pair"}, "type is 'pair'; it is one of query, instruction, candidate"),
        (QUERY | {"title": "locks"}, "query 302 is different on line 1"),
    ],
)
def test_an_invalid_line_is_refused_and_nothing_is_taken_out(project, record, sentence):
    report = load_lines(project, QUERY | OUT, record)

    assert [problem.line for problem in report.problems] == [2]
    assert sentence in problems(report)[0]
    assert not Query.objects.filter(removed_at__isnull=False).exists()
