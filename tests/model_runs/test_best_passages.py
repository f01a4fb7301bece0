"""A long document is asked about in passages, and its grade is that of the best one.

Here a document is long above 60 characters. The imitation gives a passage 2 if it has half of the
narrative's long words (plants, count, where, waves, heavy), 1 if it has any, else 0.
"""

from __future__ import annotations

import json
from uuid import uuid4

import pytest
from django.db import IntegrityError, transaction
from django.test import Client
from django.urls import reverse
from rest_framework.test import APIClient

from annotate.models import Document, Judgment, Membership
from audit.machines.second_look import second_looks
from audit.model_runs import actions, asking
from audit.model_runs.actions import new_run, plan_run, request_run
from audit.model_runs.figures import run_figures
from audit.model_runs.models import IS_IN_DOUBT, Call, ModelRun
from audit.model_runs.tasks import grade as grade_task
from base.errors import Refused
from jobs.runner import Progress
from tests import factories
from tests.model_runs.conftest import Killed, grades, run_again
from tests.model_runs.test_batch_files_of_runs import answer, file_of, questions
from tests.services.model_server import MODEL, refuse, say

pytestmark = pytest.mark.both_databases

# 131 characters: three passages of at most 60, with the grades 0, 2 and 1.
LONG = (
    "A river runs to the sea at night.\n"
    "Plants count the waves, at noon and later.\n"
    "Two plants stand there, and nobody else is with them.\n"
)
PARTS = [LONG[:34], LONG[34:77], LONG[77:]]
QUOTE = "Plants count the waves, at noon and later."


@pytest.fixture(autouse=True)
def short_limit(monkeypatch):
    monkeypatch.setattr(grade_task, "MAX_CHARACTERS", 60)


@pytest.fixture
def long(cast):
    return factories.candidate(cast.query, "long", text=LONG)


def judgment_of(candidate):
    return Judgment.objects.current().get(annotator__is_machine=True, candidate=candidate)


def sent_passages(server):
    """Return the documents in the requests that the server got, in their order."""
    contents = [request.body["messages"][0]["content"] for request in server.received]
    return [
        content.split("<document ")[1].split(">\n", 1)[1].rsplit("\n</document")[0]
        for content in contents
    ]


def test_each_passage_is_a_call_and_the_best_grade_is_that_of_the_document(cast, long, grade):
    run = grade(best_passage=True)

    calls = run.calls.filter(candidate=long).order_by("passage")
    assert [(call.passage, call.passages, call.outcome) for call in calls] == [
        *((1, 3, "0"), (2, 3, "2"), (3, 3, "1")),
    ]
    assert grades(cast.project) == {"D1": 2, "D2": 1, "D3": 0, "long": 2}


def test_the_passages_are_together_the_whole_document(long, grade, server):
    grade(best_passage=True)

    assert [text for text in sent_passages(server) if text in LONG] == PARTS


def test_the_quote_of_the_best_passage_is_evidence_in_the_whole_document(long, grade):
    grade(best_passage=True)

    (span,) = judgment_of(long).evidence
    assert LONG[span["start"] : span["end"]] == QUOTE


def test_a_title_stands_before_each_passage_and_is_no_part_of_the_text(cast, grade, server):
    titled = factories.candidate(cast.query, "titled", text=LONG)
    Document.objects.filter(pk=titled.document_id).update(title="Notes")

    grade(best_passage=True)

    texts = [text for text in sent_passages(server) if text.startswith("Notes\n\n")]
    assert "".join(text.removeprefix("Notes\n\n") for text in texts) == LONG
    assert all(len(text) <= 60 for text in texts)
    (span,) = judgment_of(titled).evidence
    assert LONG[span["start"] : span["end"]] == "Plants count the waves, at noon"


def test_a_quote_of_another_passage_does_not_occur(long, grade, server):
    server.will(*[say(json.dumps({"quote": QUOTE, "grade": 1}))] * 6)

    run = grade(best_passage=True)

    calls = run.calls.filter(candidate=long).order_by("passage")
    wrong = "The quote does not occur in the document."
    assert [wrong in call.remarks for call in calls] == [True, False, True]


def test_the_judgment_names_the_rule_and_the_passage(cast, long, grade):
    grade(best_passage=True)

    assert judgment_of(long).note == (
        "The grade is that of the best passage. Passage 2 of 3: characters 35 to 77 of 131."
    )
    assert judgment_of(cast.candidates[0]).note == ""


def test_the_rule_is_in_the_name_of_the_machine(cast, long, grade):
    grade()
    run = grade(best_passage=True)

    names = Membership.objects.filter(project=cast.project, is_machine=True).order_by("pk")
    assert list(names.values_list("name", flat=True)) == [
        *(f"{MODEL}, prompt 1", f"{MODEL}, prompt 1, best passage"),
    ]
    assert run.machine.endswith(", best passage")


def test_of_passages_with_the_same_grade_the_first_one_counts(long, grade, server):
    server.rule = lambda body: '{"quote": "", "grade": 1}'

    grade(best_passage=True)

    assert "Passage 1 of 3" in judgment_of(long).note


def test_without_the_rule_the_beginning_of_a_long_document_is_graded(long, grade):
    run = grade()

    call = run.calls.get(candidate=long)
    assert (call.passage, call.passages, call.outcome) == (1, 1, "0")
    assert call.remarks[0].startswith("Only the first ")


def test_documents_that_fit_are_asked_about_as_without_the_rule(cast, long, grade, server):
    grade()
    asked = len(server.received)

    run = grade(best_passage=True)

    assert run_figures(run).used_again == 3
    assert len(server.received) == asked + 3


def test_a_passage_that_fails_leaves_the_document_without_a_grade(cast, long, grade, server):
    # Documents are asked about in the order of their ids: D1, D2, D3, then the passages. A refused
    # question is asked in three formats.
    server.will(*[say('{"quote": "", "grade": 0}')] * 3, *[refuse(400)] * 3)

    run = grade(best_passage=True)

    assert run.calls.filter(candidate=long).answered().count() == 2
    assert grades(cast.project) == {"D1": 0, "D2": 0, "D3": 0}
    figures = run_figures(run)
    assert (figures.failed, figures.incomplete) == (1, 1)
    assert sum(figures.outcomes.values()) == 3


def test_the_same_choices_again_ask_only_the_passage_that_failed(cast, long, grade, server):
    server.will(*[say('{"quote": "", "grade": 0}')] * 3, *[refuse(400)] * 3)
    grade(best_passage=True)
    asked = len(server.received)

    run = grade(best_passage=True)

    assert len(server.received) == asked + 1
    assert grades(cast.project)["long"] == 2
    assert run_figures(run).incomplete == 0


def test_a_second_run_asks_nothing_and_changes_no_judgment(long, grade, server):
    grade(best_passage=True)
    before = list(Judgment.objects.order_by("pk").values())
    asked = len(server.received)

    grade(best_passage=True)

    assert len(server.received) == asked
    assert list(Judgment.objects.order_by("pk").values()) == before


def test_a_passage_that_cannot_be_read_is_asked_for_once_more(long, grade, server):
    server.will(*[say('{"quote": "", "grade": 0}')] * 3, say("no JSON"))

    run = grade(best_passage=True)

    first = run.calls.get(candidate=long, passage=1)
    assert (len(first.replies), first.outcome) == (2, "0")
    assert "Passage 2 of 3" in judgment_of(long).note


def test_a_run_that_stops_within_a_document_does_not_grade_it(cast, long, endpoint, grade, server):
    single = plan_run(new_run(endpoint=endpoint, subjects="all", drawn=1), by=endpoint.by)
    # Four calls of 25 tokens, then none that could need as many as are reserved for one.
    run = grade(best_passage=True, most_tokens=2 * single.tokens + 4 * 25)

    assert run.stopped
    assert 0 < run.calls.filter(candidate=long).count() < 3
    assert "long" not in grades(cast.project)
    assert run_figures(run).incomplete == 1


def test_a_worker_that_is_killed_within_a_document_goes_on_with_its_other_passages(
    cast, long, endpoint, server, monkeypatch
):
    made = new_run(endpoint=endpoint, subjects="all", best_passage=True, most_tokens=100_000)
    run = request_run(made, by=cast.carla)
    recorded = asking.record_answer

    def record_or_die(call, *arguments):
        if call.passage == 2:
            raise Killed
        return recorded(call, *arguments)

    monkeypatch.setattr(asking, "record_answer", record_or_die)
    with pytest.raises(Killed):
        run_again(run)
    monkeypatch.setattr(asking, "record_answer", recorded)
    answered = set(run.calls.answered().values_list("pk", flat=True))
    assert run.calls.filter(candidate=long, pk__in=answered).count() == 1

    run = run_again(run)

    assert run.state == "done"
    assert grades(cast.project)["long"] == 2
    assert run.calls.answered().filter(candidate=long).count() == 3
    assert len(server.received) == 6 + run.calls.filter(IS_IN_DOUBT).count()


def test_passages_of_two_texts_of_a_document_are_never_taken_together(cast, long, grade):
    call = grade(best_passage=True, subjects="judged").calls.first()
    for passage in (1, 2):
        call.pk, call.uuid = None, uuid4()
        call.candidate, call.passage, call.passages, call.text_version = long, passage, 2, passage
        call.save(force_insert=True)

    calls = Call.objects.filter(candidate=long)
    assert (calls.answered().count(), calls.whole_answers().count()) == (2, 0)


def test_progress_counts_the_passages(cast, long, endpoint, server):
    made = new_run(endpoint=endpoint, subjects="all", best_passage=True, most_tokens=100_000)
    run = request_run(made, by=cast.carla)
    steps = []

    class Recorded(Progress):
        def start(self, total, step):
            steps.append((self.done, self.total))
            super().start(total, step)

    asking.ask_model(run, Recorded())

    assert steps == [(0, None), (6, 6)]


def test_of_several_answers_each_has_its_own_best_passage(cast, long, grade, server):
    given = iter([*"000000", *"120", *"012"])
    # Each passage is asked about twice, one answer after the other.
    server.rule = lambda body: json.dumps({"quote": "", "grade": int(next(given))})

    run = grade(best_passage=True, samples=2)

    best = run.calls.filter(candidate=long).whole_answers().order_by("sample")
    assert [(call.sample, call.passage, call.outcome) for call in best] == [
        *((1, 1, "1"), (2, 1, "2")),
    ]
    figures = run_figures(run)
    assert (figures.repeated, figures.steady) == (4, 3)
    machine = Membership.objects.get(project=cast.project, is_machine=True)
    unsure = next(look for look in second_looks(machine) if look.kind == "unsure")
    assert not unsure.why_none


def test_the_plan_counts_the_passages(long, endpoint):
    whole = plan_run(new_run(endpoint=endpoint, subjects="all"), by=endpoint.by)
    divided = plan_run(
        new_run(endpoint=endpoint, subjects="all", best_passage=True, samples=2), by=endpoint.by
    )

    assert (whole.items, whole.calls) == (4, 4)
    assert (divided.items, divided.calls) == (4, 12)
    assert divided.tokens > 2.5 * whole.tokens


@pytest.mark.parametrize("seed", range(1, 7))
def test_the_longest_documents_stand_for_themselves_in_the_plan(long, endpoint, monkeypatch, seed):
    monkeypatch.setattr(actions, "ESTIMATED_FROM", 2)
    monkeypatch.setattr(actions, "LONGEST", 1)

    run = new_run(endpoint=endpoint, subjects="all", best_passage=True, draw_seed=seed)
    plan = plan_run(run, by=endpoint.by)

    # Three short documents and three passages, whichever two are drawn.
    assert (plan.items, plan.calls) == (4, 6)
    assert plan.estimated_from in (2, 3)


def test_of_a_draw_the_plan_knows_no_longest_documents(long, endpoint, monkeypatch):
    monkeypatch.setattr(actions, "ESTIMATED_FROM", 2)
    run = new_run(endpoint=endpoint, subjects="all", drawn=3, draw_seed=1)

    assert plan_run(run, by=endpoint.by).estimated_from == 2


def test_a_batch_file_has_a_line_for_each_passage(cast, long, endpoint, server):
    choices = {"endpoint": endpoint, "subjects": "all", "best_passage": True}
    lines = questions(endpoint, best_passage=True)
    answers = file_of(*[answer(line) for line in reversed(lines)])

    run = request_run(new_run(**choices, most_tokens=100_000, answers=answers), by=cast.carla)
    run = run_again(run)

    assert len(lines) == run.calls.count() == 6
    assert grades(cast.project)["long"] == 2
    assert server.received == []


def test_a_passage_that_the_batch_file_lacks_leaves_the_document_without_a_grade(
    cast, long, endpoint
):
    choices = {"endpoint": endpoint, "subjects": "all", "best_passage": True}
    lines = questions(endpoint, best_passage=True)
    kept = [line for line in lines if PARTS[2].strip() not in str(line)]
    answers = file_of(*[answer(line) for line in lines if line in kept])

    run = request_run(new_run(**choices, most_tokens=100_000, answers=answers), by=cast.carla)
    run = run_again(run)

    assert run.stopped == "The file has no answer to 1 question."
    assert "long" not in grades(cast.project)


def test_passages_with_the_same_words_are_paid_once(cast, grade, server):
    twin = factories.candidate(cast.query, "twin", text="Plants count waves, and then rest.\n" * 3)

    run = grade(best_passage=True)

    assert run.calls.answered().filter(candidate=twin).count() == 3
    assert len(server.received) == 4
    assert grades(cast.project)["twin"] == 2


def test_a_passage_of_a_document_is_answered_once_in_a_run(long, grade):
    run = grade(best_passage=True)
    call = run.calls.get(candidate=long, passage=2)

    call.pk, call.uuid = None, None
    with pytest.raises(IntegrityError), transaction.atomic():
        call.save()


@pytest.mark.parametrize("subjects", ["conditions_all", "unreversed"])
def test_only_grades_can_be_those_of_the_best_passage(cast, endpoint, subjects):
    cast.project.condition_rule = "all_met"
    cast.project.save()

    with pytest.raises(Refused, match="Only grades can be those of the best passage"):
        plan_run(new_run(endpoint=endpoint, subjects=subjects, best_passage=True), by=endpoint.by)


def text(response) -> str:
    return " ".join(response.content.decode().split())


def test_the_rule_is_named_on_the_plan_the_run_and_the_call(cast, long, endpoint, server):
    client = Client()
    client.force_login(cast.carla.user)
    address = reverse("audit:new_model_run", args=["tides"])
    choices = {"endpoint": endpoint.pk, "subjects": "all", "draw_seed": 1, "samples": 1}
    choices["best_passage"] = "on"

    plan = text(client.get(address, choices))
    client.post(address, {**choices, "most_tokens": 50_000})
    run = run_again(ModelRun.objects.get())
    page = client.get(run.get_absolute_url())
    calls = text(client.get(reverse("audit:model_calls", args=["tides", run.pk])))
    last, best = (run.calls.get(candidate=long, passage=number) for number in (3, 2))
    call = text(client.get(last.get_absolute_url()))

    assert "<dt>Calls, about</dt><dd>6</dd>" in plan
    assert "<dt>Long documents</dt><dd>best passage</dd>" in plan
    assert "<dt>Long documents</dt> <dd>best passage</dd>" in text(page)
    assert "best_passage=on" in page.context["again"]
    assert "passage 3 of 3" in calls
    assert "2, the grade of" in call
    assert f'href="{best.get_absolute_url()}">its best passage, 2</a>' in call


def test_the_rule_is_chosen_and_read_by_the_api(cast, long, endpoint, server):
    client = APIClient()
    client.force_authenticate(cast.carla.user)
    sent = {"endpoint": endpoint.pk, "subjects": "all", "best_passage": True}

    plan = client.get(reverse("audit:api_model_run_plan", args=["tides"]), sent).json()
    made = client.post(
        reverse("audit:api_model_runs", args=["tides"]),
        {**sent, "most_tokens": 50_000},
        format="json",
    ).json()
    run = run_again(ModelRun.objects.get())
    listed = client.get(reverse("audit:api_model_calls", args=["tides", run.pk])).json()

    assert plan["calls"] == 6
    assert made["best_passage"] is True
    passages = [(call["passage"], call["passages"]) for call in listed["results"]]
    assert passages == [(1, 1)] * 3 + [(1, 3), (2, 3), (3, 3)]
