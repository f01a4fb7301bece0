"""API clients and commands count, make and read pools with the same actions as pages."""

from __future__ import annotations

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from annotate.models import Candidate, Pool, Project
from jobs.runner import run
from tests import factories
from tests.pools.pooling import two_runs

pytestmark = pytest.mark.django_db
RULE = {"method": "union", "depth": 2, "runs": ["ance.run", "bm25.run"]}


@pytest.fixture
def project(db):
    project = factories.project(judge_scope=Project.Scope.POOL)
    two_runs(project)
    return project


@pytest.fixture
def api(project, client):
    client.force_login(factories.lead(project).user)

    def ask(verb, name, body=None, *keys, **parameters):
        address = reverse(f"annotate:api_{name}", args=["tides", *keys])
        if verb == "get":
            return client.get(address, parameters)
        return client.generic(
            verb.upper(), address, json.dumps(body or {}), content_type="application/json"
        )

    return ask


def command(*words):
    out = StringIO()
    call_command(*words, stdout=out)
    return out.getvalue()


def test_the_api_counts_a_pool_and_then_makes_it(api):
    counted = api("post", "pool_count", RULE).json()
    assert (counted["documents"], counted["new"]) == (6, 6)

    made = api("post", "pools", {**RULE, "name": "first", "counted": counted["sha256"]})

    assert made.status_code == 201
    run(made.json()["id"])
    read = api("get", "pool", None, made.json()["id"]).json()
    assert (read["state"], read["counts"]["new"]) == ("done", 6)
    assert [one["name"] for one in read["runs"]] == ["ance.run", "bm25.run"]
    [listed] = api("get", "pools").json()["results"]
    assert listed["name"] == "first"


def test_the_api_explains_why_a_pool_is_refused(api):
    answer = api("post", "pool_count", {**RULE, "runs": ["none.run"]})

    assert answer.status_code in {400, 409, 422}
    assert "no run called none.run" in answer.content.decode()


def test_the_api_takes_documents_out_and_brings_them_back(api, project):
    command("pool", "tides", "first", "--run", "ance.run", "--depth", "2")
    some = [{"query_id": "301", "doc_id": "A"}, {"query_id": "302", "doc_id": "X"}]

    gone = api("post", "removed_candidates", {"candidates": some, "reason": "Broken."}).json()
    listed = api("get", "removed_candidates").json()["results"]
    back = api("post", "candidate_restoration", {"candidates": some[:1]}).json()

    assert gone == {"changed": 2, "unchanged": 0}
    assert [(row["query_id"], row["doc_id"], row["reason"]) for row in listed] == [
        ("301", "A", "Broken."),
        ("302", "X", "Broken."),
    ]
    assert back == {"changed": 1, "unchanged": 0}
    assert Candidate.objects.count() == 3


def test_the_api_returns_labelled_at_k_and_the_documents_of_a_pool(api, project):
    command("pool", "tides", "first", "--run", "ance.run", "--depth", "2")
    Candidate.objects.filter(document__doc_id="A").update(prior_relevance=1)

    labelled = api("get", "labelled", k="1,4").json()
    table = api("get", "pool_documents", None, Pool.objects.get().pk).getvalue().decode()

    assert labelled[0] == {
        "run": "ance.run",
        "system": "ance",
        "topics": 1,
        "labelled": {"1": 1.0, "4": 0.25},
    }
    assert table.splitlines()[:2] == ["query_id,doc_id,new,run,rank", "301,A,yes,ance.run,1"]


def test_the_api_sets_hard_negatives_and_passages(api):
    chosen = {"runs": ["ance.run"], "depth": 5}

    assert api("put", "hard_negatives", chosen).json() == chosen
    assert api("get", "hard_negatives").json() == chosen
    assert api("patch", "passages", {"words": 300}).json()["words"] == 300
    assert api("get", "passages").json()["overlap"] == 200


def test_a_blind_lead_gets_nothing_of_pools_from_the_api(api, project):
    query = project.queries.get(query_id="301")
    command("pool", "tides", "first", "--run", "ance.run", "--depth", "2")
    factories.assignment(factories.pair(query), project.memberships.get(name="carla"))

    for name in ("pools", "labelled", "removed_candidates", "hard_negatives"):
        assert api("get", name).status_code == 403


def test_the_command_can_count_without_making_the_pool(project):
    words = ["pool", "tides", "first", "--run", "ance.run", "--run", "bm25.run", "--depth", "2"]

    assert "first would hold 6 documents: 6 new" in command(*words, "--count")
    assert not Pool.objects.exists()
    assert "first holds 6 documents: 6 new" in command(*words)
    assert json.loads(command(*words, "--count", "--json"))["new"] == 0


def test_the_command_prints_labelled_at_k(project):
    command("pool", "tides", "first", "--run", "ance.run", "--depth", "2")
    Candidate.objects.filter(document__doc_id="A").update(prior_relevance=1)

    assert command("labelled", "tides", "--k", "4").splitlines() == [
        "run\ttopics\tlabelled@4",
        "ance.run\t1\t0.2500",
        "bm25.run\t1\t0.2500",
    ]


def test_the_command_takes_documents_out_by_a_file(project, tmp_path):
    command("pool", "tides", "first", "--run", "ance.run", "--depth", "2")
    file = tmp_path / "out.tsv"
    file.write_text("301\tA\n302\tX\n", encoding="utf-8")

    command("candidates", "tides", "remove", "--file", str(file), "--reason", "Broken.")

    assert command("candidates", "tides", "list") == "301\tA\tBroken.\n302\tX\tBroken.\n"
    assert "1 brought back" in command("candidates", "tides", "restore", "--candidate", "301", "A")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["pool", "none", "first"], "There is no project “none”"),
        (["pool", "tides", "first"], "Choose one or more"),
        (["labelled", "tides", "--k", "0"], "cutoffs"),
        (
            ["candidates", "tides", "remove", "--candidate", "301", "A", "--reason", "x"],
            "not a candid",
        ),
        (["passages", "tides", "--words", "5"], "cannot overlap"),
    ],
)
def test_commands_explain_errors_in_a_sentence(project, words, sentence):
    with pytest.raises(CommandError, match=sentence):
        command(*words)


def test_the_command_writes_passages_with_their_document_ids(project, tmp_path):
    factories.document(project, "a_3", "one two three four five")
    target = tmp_path / "passages.jsonl"

    command("passages", "tides", "--words", "3", "--overlap", "1", "--output", str(target))

    lines = [json.loads(line) for line in target.read_text(encoding="utf-8").splitlines()]
    assert [(one["_id"], one["doc_id"], one["text"]) for one in lines] == [
        ("a_3_1", "a_3", "one two three"),
        ("a_3_2", "a_3", "three four five"),
    ]
    with pytest.raises(CommandError, match="already exists"):
        command("passages", "tides", "--output", str(target))
