"""A server, a key or a model that does not work ends the run with a sentence; nothing is graded."""

from __future__ import annotations

import pytest

from annotate.models import Judgment
from annotate.projects.project_jobs import cancel_job
from audit.model_runs.actions import new_run, remove_endpoint, request_run
from audit.model_runs.asking import GIVE_UP_AFTER
from audit.model_runs.models import ModelRun
from jobs.errors import JobError
from tests import factories
from tests.model_runs.conftest import KEY, run_again
from tests.services.model_server import refuse, repeat_the_key, say


def machine_judgments():
    return Judgment.objects.filter(annotator__is_machine=True).count()


def fails(run_once):
    """Run, expecting the job's error, which the runner raises again; return the run's row."""
    with pytest.raises(JobError):
        run_once()
    return ModelRun.objects.latest("pk")


def test_a_wrong_key_is_told_at_once(grade, server, endpoint, settings):
    server.will(*[repeat_the_key()] * 4)

    run = fails(grade)

    assert run.state == "failed"
    assert run.error.startswith("The server refuses (401): wrong key: ")
    assert run.error.endswith(" An administrator sets its key. Nothing was answered.")
    assert machine_judgments() == 0


def test_the_key_is_in_no_row(grade, server):
    server.will(*[repeat_the_key()] * 4)

    run = fails(grade)

    assert KEY not in run.error
    assert KEY not in str(list(run.calls.values()))


def test_a_failed_run_is_not_retried_beside_another_or_without_its_model(
    cast, grade, server, endpoint
):
    server.will(*[refuse(401)] * 4)
    failed = fails(grade)
    assert failed.why_not_retryable() == ""

    other = request_run(new_run(endpoint=endpoint, most_tokens=9_999), by=cast.carla)
    assert failed.why_not_retryable() == "Another run is under way in this project."

    cancel_job(job=other, by=cast.carla)
    remove_endpoint(endpoint=endpoint, by=cast.carla)
    failed.refresh_from_db()
    assert failed.why_not_retryable() == "This model is no longer in use."


def test_an_unknown_model_is_told_at_once(grade, server):
    server.will(*[refuse(404, "no such model")] * 4)

    run = fails(grade)

    assert run.error == "The server refuses (404): no such model. Nothing was answered."


def test_a_first_document_that_the_server_refuses_does_not_end_the_run(grade, server):
    server.will(*[refuse(400, "too long")] * 3)

    run = grade()

    assert (run.state, run.calls.failed().count(), machine_judgments()) == ("done", 1, 2)


def test_a_refused_document_does_not_weaken_how_the_others_are_asked(grade, server):
    server.will(*[refuse(400, "too long")] * 3)

    grade()

    formats = [request.body.get("response_format", {}).get("type") for request in server.received]
    assert formats == ["json_schema", "json_object", None, "json_schema", "json_schema"]


def test_a_server_that_is_no_longer_allowed_is_not_asked(grade, server, settings, cast, endpoint):
    run = request_run(new_run(endpoint=endpoint, most_tokens=9_999), by=cast.carla)
    settings.MODEL_SERVERS = {}

    run = fails(lambda: run_again(run))

    assert "is not among those that the administrator allows" in run.error
    assert server.received == []


def test_many_failures_in_a_row_end_the_run_and_keep_what_was_answered(cast, grade, server):
    for number in range(GIVE_UP_AFTER + 5):
        factories.candidate(cast.query, f"more {number}", text=f"Text {number}.")
    server.will(say('{"quote": "", "grade": 0}'))
    server.rule = lambda body: "no JSON"

    run = fails(grade)

    assert run.error.startswith(f"{GIVE_UP_AFTER} calls in a row failed, the last one so: ")
    assert run.calls.answered().count() == 1
    assert machine_judgments() == 0


def test_one_failure_among_answers_does_not_end_the_run(grade, server):
    server.will(say("no JSON"), say("no JSON again"))

    run = grade()

    assert (run.state, run.calls.failed().count()) == ("done", 1)
    assert machine_judgments() == 2


def test_the_same_choices_again_ask_only_what_failed(grade, server):
    server.will(say("no JSON"), say("no JSON again"))
    grade()
    asked = len(server.received)

    again = grade()

    assert len(server.received) == asked + 1
    assert again.calls.answered().count() == machine_judgments() == 3
