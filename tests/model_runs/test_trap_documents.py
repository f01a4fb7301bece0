"""A run has a model write documents that match a query and violate its instruction.

The imitation writes, for each condition, the title of the query with a number.
"""

from __future__ import annotations

import json

import pytest
from django.urls import reverse

from annotate.models import Assignment, Candidate, Document, Judgment, Project
from audit.model_runs import asking
from audit.model_runs.actions import new_run, plan_run
from audit.model_runs.models import ModelRun
from tests import factories
from tests.model_runs.conftest import TEXTS, run_again
from tests.services.model_server import MODEL, say

pytestmark = pytest.mark.both_databases


@pytest.fixture
def trap(grade):
    return lambda **choices: grade(subjects=ModelRun.Subjects.UNTRAPPED, **choices)


@pytest.fixture
def conditions(cast):
    """Two conditions of the instruction; relevance follows from them."""
    cast.project.condition_rule = Project.ConditionRule.ALL_MET
    cast.project.save()
    for number, text in enumerate(("plants", "heavy waves"), 1):
        cast.narrative.conditions.create(number=number, text=text)


def traps(cast):
    return Candidate.objects.filter(made_for=cast.pair)


def texts(cast):
    return sorted(candidate.document.texts.get().text for candidate in traps(cast))


def claims():
    rows = Judgment.objects.filter(annotator__is_machine=True)
    return sorted(rows.values_list("relevance", "note"))


def planned(cast, endpoint):
    """Return how many instructions a run would be about."""
    run = new_run(endpoint=endpoint, subjects=ModelRun.Subjects.UNTRAPPED)
    return plan_run(run, by=cast.carla).items


def test_an_instruction_without_conditions_gets_one_document(cast, trap):
    run = trap()

    assert (run.state, run.error) == ("done", "")
    assert texts(cast) == [f"{cast.query.title}. Part 1."]


def test_each_condition_gets_a_document_that_breaks_it(cast, conditions, trap):
    trap()

    assert texts(cast) == [f"{cast.query.title}. Part {n}." for n in (1, 2)]
    assert claims() == [(0, "It breaks condition 1."), (0, "It breaks condition 2.")]


def test_where_conditions_are_counted_the_claim_is_one_less_than_all(cast, conditions, trap):
    cast.project.condition_rule = Project.ConditionRule.COUNT_MET
    cast.project.save()

    trap()

    assert [grade for grade, _reason in claims()] == [1, 1]


def test_the_claims_are_those_of_a_machine_named_by_model_and_prompt(trap):
    trap()

    claim = Judgment.objects.get(annotator__is_machine=True)
    assert claim.annotator.name == f"{MODEL}, trap prompt 1"


def test_the_documents_are_in_the_pool_of_their_instruction_alone(cast, trap):
    other = factories.pair(cast.query, altered="Another one.", pair_id="other")

    trap()

    made_for = Candidate.objects.exclude(made_for=None).values_list("made_for__pair_id", flat=True)
    assert sorted(made_for) == sorted([cast.pair.pair_id, other.pair_id])


def test_the_id_of_a_document_does_not_say_what_it_is(cast, trap):
    trap()

    [candidate] = traps(cast)
    name = candidate.document.doc_id.removeprefix(f"{cast.pair.pair_id}_")
    assert set(name) <= set("0123456789abcdef")


def test_an_instruction_that_has_its_documents_is_not_asked_about(cast, endpoint, trap):
    assert planned(cast, endpoint) == 1

    trap()

    assert planned(cast, endpoint) == 0


def test_a_worker_that_writes_twice_writes_each_document_once(cast, trap):
    run = trap()
    before = Document.objects.count()
    ModelRun.objects.filter(pk=run.pk).update(state="queued", claim=None, finished_at=None)

    run_again(run)

    assert Document.objects.count() == before


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ({"violates": "So.", "text": " "}, "A document has no words."),
        ({"violates": "So.", "text": "x" * 4_001}, "A text has 4,001 characters; at most 4,000."),
    ],
    ids=["without words", "too long"],
)
def test_a_document_that_cannot_be_used_is_a_failure(cast, trap, server, answer, reason):
    server.will(say(json.dumps({"document": answer})))

    run = trap()

    assert run.calls.get().reason == reason
    assert not traps(cast).exists()


def test_the_same_document_for_two_conditions_is_a_failure(cast, conditions, trap, server):
    answer = {"violates": "So.", "text": "The same."}
    server.will(say(json.dumps({"condition_1": answer, "condition_2": answer})))

    run = trap()

    assert run.calls.get().reason == "Two documents have the same text."


def test_an_instruction_that_was_rewritten_meanwhile_gets_none(cast, trap, monkeypatch):
    def rewritten_meanwhile(run):
        factories.narrative(cast.pair, "altered", text="Another text.", version=2)
        write(run)

    write = asking.write_answers
    monkeypatch.setattr(asking, "write_answers", rewritten_meanwhile)

    trap()

    assert not traps(cast).exists()


def test_a_lead_who_still_judges_does_not_learn_which_documents_were_relevant(cast, trap, client):
    factories.assignment(cast.pair, cast.carla, Assignment.Task.JUDGE)
    client.force_login(cast.carla.user)

    page = client.get(reverse("audit:prompt", args=["tides"]), {"task": "trap"}).text

    assert "these examples begin with documents that were relevant before" in page
    assert TEXTS["D1"] not in page
