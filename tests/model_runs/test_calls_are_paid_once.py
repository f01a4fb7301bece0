"""What was answered is not asked again, whatever stopped the work; what is in doubt is named."""

from __future__ import annotations

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from annotate.models import Judgment
from audit.model_runs import asking
from audit.model_runs.actions import batch_file, new_run, plan_run, request_run
from audit.model_runs.figures import Limits, run_figures
from audit.model_runs.models import IS_IN_DOUBT, Call, Endpoint
from audit.model_runs.tasks import grade as grade_task
from base.errors import Refused
from jobs.models import Job
from jobs.runner import Cancelled
from tests import factories
from tests.model_runs.conftest import TEXTS, Killed, run_again

pytestmark = pytest.mark.both_databases


def test_a_second_run_with_the_same_prompt_asks_nothing(grade, server):
    grade()
    asked = len(server.received)

    again = grade()

    figures = run_figures(again)
    assert len(server.received) == asked == 3
    assert (figures.answered, figures.used_again, figures.tokens) == (3, 3, 0)


def test_a_second_run_changes_no_judgment(grade):
    grade()
    before = list(Judgment.objects.order_by("pk").values())

    grade()

    assert list(Judgment.objects.order_by("pk").values()) == before


def test_an_answer_that_is_used_again_is_read_as_answers_are_read_now(grade, monkeypatch, server):
    grade(drawn=1)
    monkeypatch.setattr(grade_task, "find_order", lambda text: "obey")

    again = grade(drawn=1)

    assert len(server.received) == 1
    assert again.calls.get().remarks == [
        "The document gives orders, which the grade may follow: “obey”."
    ]


def test_an_answer_that_is_no_longer_usable_is_asked_for_again(grade, monkeypatch, server):
    grade(drawn=1)

    def refuse(*_arguments):
        raise Refused("It says nothing.")

    monkeypatch.setattr(grade_task, "read_grade", refuse)
    again = grade(drawn=1)

    assert len(server.received) == 2
    assert (again.calls.get().value, again.calls.get().reason) == (None, "It says nothing.")


def test_two_documents_with_the_same_text_are_paid_once_and_judged_twice(cast, grade, server):
    factories.candidate(cast.query, "D1b", text=TEXTS["D1"])

    run = grade()

    assert len(server.received) == 3
    assert run.state == Job.State.DONE
    machine = Judgment.objects.filter(annotator__is_machine=True)
    assert machine.filter(candidate__document__doc_id__startswith="D1").count() == 2
    before = list(Judgment.objects.order_by("pk").values())
    grade()
    assert list(Judgment.objects.order_by("pk").values()) == before


def test_a_call_that_another_worker_answered_meanwhile_stays_in_doubt(
    cast, endpoint, server, monkeypatch
):
    run = new_run(endpoint=endpoint, subjects="all", drawn=1, most_tokens=100_000)
    run = request_run(run, by=cast.carla)

    def reserve_while_another_worker_answers(limits, call):
        same = {
            name: getattr(call, name)
            for name in ("run", "pair", "narrative", "candidate", "text_version", "key", "request")
        }
        ended = {"answered_at": timezone.now(), "value": {"quote": "", "grade": 1}}
        Call.objects.create(**same, **ended, reserved_tokens=1)

    monkeypatch.setattr(Limits, "reserve", reserve_while_another_worker_answers)

    run = run_again(run)

    assert run.state == Job.State.DONE
    assert (run.calls.answered().count(), run.calls.filter(IS_IN_DOUBT).count()) == (1, 1)


def test_the_same_question_about_two_items_is_paid_once_also_at_the_same_time(
    cast, server, endpoint, grade
):
    Endpoint.objects.update(concurrency=4)
    endpoint.refresh_from_db()
    for number in range(3):
        factories.candidate(cast.query, f"twin{number}", text="The same waves.")

    run = grade()

    assert run.calls.answered().count() == 6
    assert len(server.received) == 4


def test_a_draw_that_is_gone_on_with_asks_no_more_than_it_drew(cast, endpoint, server, monkeypatch):
    run = new_run(endpoint=endpoint, subjects="unjudged", drawn=1, most_tokens=100_000)
    run = request_run(run, by=cast.carla)
    write_answers = asking.write_answers
    monkeypatch.setattr(asking, "write_answers", lambda _run: (_ for _ in ()).throw(Killed))
    with pytest.raises(Killed):
        run_again(run)
    monkeypatch.setattr(asking, "write_answers", write_answers)
    # A document that comes first by its id, and a judgment of the one that was drawn.
    factories.candidate(cast.query, "A0", text="New.")
    factories.judgment(cast.narrative, cast.candidates[2], cast.ada, 0)

    run = run_again(run)

    assert (run.state, run.calls.count()) == (Job.State.DONE, 1)


def cancel_after_an_answer(*_arguments):
    raise Cancelled


def test_a_cancelled_draw_is_gone_on_with_whatever_was_added_meanwhile(
    cast, endpoint, grade, server, monkeypatch
):
    run = new_run(endpoint=endpoint, subjects="all", drawn=2, most_tokens=100_000)
    run = request_run(run, by=cast.carla)
    with monkeypatch.context() as patch:
        patch.setattr(Limits, "settle", cancel_after_an_answer)
        run_again(run)
    run.refresh_from_db()
    [paid] = run.calls.values_list("candidate", flat=True)
    # Among so many others the same seed would hardly draw that document again.
    for number in range(40):
        factories.candidate(cast.query, f"N{number}", text=f"New {number}.")

    same = new_run(endpoint=endpoint, subjects="all", drawn=2)
    file = batch_file(same, by=cast.carla).file_to_stream
    assert file is not None
    with file:
        questions = list(file)
    plan = plan_run(same, by=cast.carla)
    again = grade(drawn=2)

    assert run.state == Job.State.CANCELLED
    assert (len(questions), plan.calls, plan.answered_before) == (1, 2, 1)
    assert again.calls.count() == 2
    assert again.calls.get(cached_from__isnull=False).candidate_id == paid
    assert len(server.received) == 2


def test_a_worker_that_is_killed_leaves_no_answer_behind(cast, endpoint, server, monkeypatch):
    run = new_run(endpoint=endpoint, subjects="all", most_tokens=100_000)
    run = request_run(run, by=cast.carla)
    recorded = asking.record_answer

    def record_one_then_die(*arguments):
        recorded(*arguments)
        monkeypatch.setattr(asking, "record_answer", die)

    def die(*arguments):
        raise Killed

    monkeypatch.setattr(asking, "record_answer", record_one_then_die)
    with pytest.raises(Killed):
        run_again(run)
    monkeypatch.setattr(asking, "record_answer", recorded)
    assert run.calls.answered().count() == 1

    run = run_again(run)

    assert run.state == Job.State.DONE
    assert run.calls.answered().count() == 3
    # What was under way is asked again, and the first time stays in doubt.
    in_doubt = run.calls.filter(IS_IN_DOUBT).count()
    assert len(server.received) == 3 + in_doubt
    assert in_doubt == run_figures(run).in_doubt > 0


def test_an_answered_call_cannot_be_changed_or_deleted(grade):
    call = grade(drawn=1).calls.get()

    for change in (
        lambda: Call.objects.filter(pk=call.pk).update(value={"grade": 0}),
        lambda: Call.objects.filter(pk=call.pk).delete(),
    ):
        with pytest.raises(IntegrityError, match="never changes"), transaction.atomic():
            change()
