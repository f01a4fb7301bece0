"""Exports write a document generated for an instruction under that instruction only."""

from __future__ import annotations

import json

import pytest

from annotate.models import Candidate
from tests import factories
from tests.collection.arriving import load

pytestmark = pytest.mark.both_databases


@pytest.fixture
def tables(db):
    """Two instructions of a query: ada judges A under both; G was generated for the first.

    G also has an earlier relevance.
    """
    project = factories.project(grades=(0, 1), judge_scope="pool", overlap_judge=1)
    query = factories.query(project)
    ada = factories.member(project, "ada")
    first, second = (factories.pair(query, pair_id=f"301_{n}", origin="llm") for n in (0, 1))
    a = factories.candidate(query, "A", prior=1)
    g = factories.candidate(query, "G", prior=0)
    Candidate.objects.filter(pk=g.pk).update(made_for=first)
    for pair in (first, second):
        factories.judgment(factories.altered(pair), a, ada, 0)
    return project


def test_a_generated_document_is_a_candidate_under_its_instruction_only(tables, write):
    folder = write(tables)

    assert folder["unjudged.tsv"].splitlines()[1:] == ["301\t301_0\taltered\tG\t"]
    assert [line.split()[::2] for line in folder["candidates.run"].splitlines()] == [
        ["301_0", "A", "2.0"],
        ["301_0", "G", "1.0"],
        ["301_1", "A", "1.0"],
    ]


def test_earlier_relevance_is_not_written_under_another_instruction(tables, write):
    lines = write(tables)["qrels.original.txt"].splitlines()

    assert lines == ["301_0 0 A 1", "301_0 0 G 0", "301_1 0 A 1"]


def test_earlier_relevance_of_a_generated_document_is_not_a_label(tables, write):
    tables.judge_scope = "existing"
    tables.save()

    folder = write(tables)

    assert folder["qrels.changed.txt"].splitlines() == ["301_0 0 A 0", "301_1 0 A 0"]
    assert folder["unjudged.tsv"].splitlines()[1:] == []
    (scope,) = [one["says"] for one in folder.manifest["rules"] if one["about"] == "Scope"]
    assert "except those written for an instruction" in scope


def test_the_record_says_for_which_instruction_and_is_loaded_back(tables, write):
    folder = write(tables, "jsonl")
    (line,) = [one for one in folder.records("pairs.jsonl") if one["type"] == "generated"]
    assert line == {"type": "generated", "pair_id": "301_0", "doc_id": "G"}
    empty = factories.project("copy", grades=(0, 1))

    report = load(empty, "pairs-jsonl", folder["pairs.jsonl"])

    assert not report.refused, report.problems
    found = Candidate.objects.filter(query__project=empty)
    assert list(found.values_list("document__doc_id", "made_for__pair_id")) == [("G", "301_0")]


def test_the_folder_of_followtable_lists_it_under_its_instruction(tables, write):
    tables.pairs.update(category="C1")
    first = tables.pairs.get(pair_id="301_0")
    judged = factories.altered(first)
    generated = Candidate.objects.get(query__project=tables, document__doc_id="G")
    factories.judgment(judged, generated, tables.memberships.get(name="ada"), 1)

    (entry,) = json.loads(write(tables, "followtable")["query_instruction.json"])

    assert [one["all_tables"] for one in entry["outs"]] == [["A.txt", "G.txt"], ["A.txt"]]
    assert [one["instruction_positive"] for one in entry["outs"]] == [["G.txt"], []]
