"""The loop of FollowTable on its IndusTR collection: 45 instructions from nothing to accepted.

A model writes them, another one criticises them, what is poor is written anew, two people review,
a lead sends one back and accepts the rest. The worker is killed twice in the middle.
"""

from __future__ import annotations

import json
from collections import Counter

import pytest
from django.test import Client
from django.urls import reverse

from annotate.models import Assignment, Narrative
from annotate.pairs.pool import workable_pairs
from audit.model_runs import asking
from audit.model_runs.actions import add_endpoint, new_run, request_run
from audit.model_runs.figures import run_figures
from audit.model_runs.models import Call, Endpoint, ModelRun
from audit.models import Decision
from audit.reviews.actions import save_ratings, submit_review
from audit.reviews.decisions import decide, decide_many
from tests import factories
from tests.collection.arriving import jsonl, load, problems
from tests.model_runs.conftest import Killed, run_again
from tests.second_pass import levels, submit_levels

Subjects = ModelRun.Subjects
TYPES = {"1.1": "C1", "1.2": "C2", "2.1": "S1", "2.2": "S2", "2.3.1": "S3"}


@pytest.fixture
def project(db, shared_data):
    """IndusTR with its queries, tables, earlier qrels and pairs, but none of its instructions."""
    folder = shared_data / "followtable/IndusTR/beir"
    made = factories.project(kind="followtable", overlap_rewrite=0, overlap_review=2)
    instructions = [
        json.loads(line) for line in (folder / "queries.jsonl").read_text("utf-8").splitlines()
    ]
    pairs = [
        {
            "pair_id": instruction["_id"],
            "query_id": instruction["_id"].rpartition("_")[0],
            "title": instruction["metadata"]["origin_query"],
            "category": TYPES.get(instruction["metadata"]["instruction_type"], "S3"),
        }
        for instruction in instructions
    ]
    qrels = (folder / "qrels/for_only_query_test.tsv").read_text("utf-8").splitlines()[1:]
    earlier = "".join(
        f"{query} 0 {document} {grade}\n"
        for query, document, grade in (line.split("\t") for line in qrels)
    )
    for kind, content in (
        ("pairs-jsonl", jsonl(*pairs)),
        ("trec-qrels", earlier),
        ("docs-jsonl", (folder / "corpus.jsonl").read_bytes()),
    ):
        report = load(made, kind, content, despite_rules=True)
        assert problems(report) == []
    return made


@pytest.fixture
def carla(project):
    return factories.lead(project)


def model(carla, name):
    values = {"server": "lab", "model": name, "most_tokens": 10_000_000}
    return add_endpoint(Endpoint(**values), by=carla)


def ask(carla, endpoint, subjects):
    """Request a run, and do it until it is over; return its row."""
    run = new_run(endpoint=endpoint, subjects=subjects, most_tokens=2_000_000)
    return run_again(request_run(run, by=carla))


def killed_after(monkeypatch, answers):
    """Have the worker die when it has recorded so many answers."""
    recorded, left = asking.record_answer, iter(range(answers))

    def record(*arguments):
        if next(left, None) is None:
            raise Killed
        recorded(*arguments)

    monkeypatch.setattr(asking, "record_answer", record)
    return recorded


def test_45_instructions_go_from_nothing_to_accepted(project, carla, server, monkeypatch):
    author, critic = model(carla, "author"), model(carla, "critic")

    # Written, with the worker killed after 10 and after 20 more answers.
    writing = request_run(
        new_run(endpoint=author, subjects=Subjects.UNWRITTEN, most_tokens=2_000_000),
        by=carla,
    )
    for answers in (10, 20):
        recorded = killed_after(monkeypatch, answers)
        with pytest.raises(Killed):
            run_again(writing)
        monkeypatch.setattr(asking, "record_answer", recorded)
    writing = run_again(writing)
    figures = run_figures(writing)
    assert (writing.state, figures.answered, figures.failed) == ("done", 45, 0)
    assert figures.calls == 45 + figures.in_doubt
    # Each was asked once but those that were under way when the worker died. The same question,
    # two instructions of a query with the same type, is paid once.
    assert len(server.received) == 45 - figures.used_again + figures.in_doubt
    written = Narrative.objects.current().filter(side="altered", pair__project=project)
    assert written.count() == 45

    # Criticised: those for a query with an odd number of characters are poor.
    ask(carla, critic, Subjects.BY_OTHERS)
    odd = {
        pair.pk for pair in project.pairs.select_related("query") if len(pair.query.title) % 2 == 1
    }
    assert 0 < len(odd) < 45
    anew = ask(carla, author, Subjects.CRITICISED)
    assert run_figures(anew).answered == len(odd)
    assert set(written.filter(version=2).values_list("pair", flat=True)) == odd
    # The second round finds nothing poor any more.
    again = ask(carla, critic, Subjects.BY_OTHERS)
    assert run_figures(again).outcomes == {"6 excellent": len(odd)}

    auditors = [factories.member(project, name) for name in ("dan", "ben")]
    # Two people review all; dan finds the first one poor.
    first = written.earliest("pair__pair_id")
    for auditor in auditors:
        for narrative in written:
            factories.assignment(narrative.pair, auditor, Assignment.Task.REVIEW)
            is_poor = narrative == first and auditor.name == "dan"
            given = levels(semantic_expansion="poor" if is_poor else "excellent")
            save_ratings(narrative=narrative, answers=given, by=auditor)
            submit_review(narrative=narrative, by=auditor)
    rest = list(written.exclude(pk=first.pk))
    decide_many(narratives=rest, outcome=Decision.Outcome.ACCEPTED, by=carla)
    decide(
        narrative=first,
        outcome=Decision.Outcome.REVISE,
        reason="Say which years.",
        by=carla,
    )

    # Sent back, written anew with the words and the reason, reviewed and accepted.
    server.received.clear()
    server.rule = lambda body: json.dumps({"instruction": "Only tables of the last ten years."})
    ask(carla, author, Subjects.SENT_BACK)
    (request,) = server.received
    content = request.body["messages"][0]["content"]
    assert "Semantic expansion, Poor: Weak." in content
    assert "Say which years." in content
    newest = written.get(pair=first.pair_id)
    assert newest.version == first.version + 1
    for auditor in auditors:
        submit_levels(newest, auditor)
    decide(narrative=newest, outcome=Decision.Outcome.ACCEPTED, by=carla)
    accepted = Decision.objects.current().filter(outcome=Decision.Outcome.ACCEPTED)
    assert accepted.count() == 45
    assert not workable_pairs(Assignment.Task.REWRITE, project).exists()

    # Its history is on one page: versions, reviews of people and of machines, decisions.
    client = Client()
    client.force_login(carla.user)
    page = client.get(reverse("audit:story", args=[first.pair_id])).content.decode()
    for words in ("author prompt 1", "critic prompt 1", "Say which years.", "last ten years"):
        assert words in page
    calls = Call.objects.filter(run__project=project)
    assert Counter(calls.values_list("run__prompt__task", flat=True)) == {
        "write": 45 + figures.in_doubt + len(odd) + 1,
        "criticise": 45 + len(odd),
    }
