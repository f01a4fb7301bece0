"""A run's questions are written as a batch file, and answered by a file without any server."""

from __future__ import annotations

import html
import json
import re

import pytest
from django.core.files.base import ContentFile
from django.test import Client
from django.urls import reverse
from rest_framework.test import APIClient

from audit.model_runs.actions import batch_file, new_run, request_run
from audit.model_runs.figures import run_figures
from audit.model_runs.models import ModelRun
from jobs.errors import JobError
from llm.imitation import imitate
from tests import factories
from tests.model_runs.conftest import grades, run_again
from tests.services.model_server import completion

pytestmark = pytest.mark.both_databases


def questions(endpoint, **choices):
    run = new_run(endpoint=endpoint, subjects="all", **choices)
    file = batch_file(run, by=endpoint.by).file_to_stream
    assert file is not None
    with file:
        return [json.loads(line) for line in file]


def answer(question, **details):
    """Answer a line as a provider does that runs the imitation."""
    body = completion(imitate(question["body"]), **details)
    response = {"status_code": 200, "body": body}
    return {"custom_id": question["custom_id"], "response": response, "error": None}


def file_of(*lines):
    content = "".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines)
    return ContentFile(content.encode(), name="answers.jsonl")


@pytest.fixture
def load(cast, endpoint):
    """A function that does a run with a file of these lines; it returns the run's row."""

    def request_and_run(*lines, **choices) -> ModelRun:
        chosen = {"endpoint": endpoint, "subjects": "all", "most_tokens": 100_000, **choices}
        return run_again(request_run(new_run(**chosen, answers=file_of(*lines)), by=cast.carla))

    return request_and_run


def test_each_question_is_a_line_that_a_server_would_get_as_a_request(cast, endpoint, grade):
    lines = questions(endpoint)

    sent = {call.key: call.request for call in grade().calls.all()}
    assert {line["custom_id"]: line["body"] for line in lines} == sent


def test_a_file_answers_a_run_without_asking_the_server(cast, endpoint, server, load):
    lines = questions(endpoint)

    done = load(*[answer(line) for line in reversed(lines)])

    assert (done.state, done.stopped) == ("done", "")
    assert grades(cast.project) == {"D1": 2, "D2": 1, "D3": 0}
    assert server.received == []


def test_tokens_are_those_that_the_file_counts(endpoint, load):
    done = load(*[answer(line, tokens=(100, 7)) for line in questions(endpoint)])

    assert run_figures(done).tokens == 3 * 107


def test_answers_whose_tokens_the_file_does_not_count_are_counted_as_estimated(endpoint, load):
    lines = [answer(line) for line in questions(endpoint)]
    for line in lines:
        del line["response"]["body"]["usage"]

    done = load(*lines)

    reserved = sum(done.calls.values_list("reserved_tokens", flat=True))
    assert reserved > 3 * endpoint.max_tokens
    assert run_figures(done).tokens == reserved


def test_a_failed_line_counts_no_tokens(endpoint, load):
    first, *rest = questions(endpoint)
    failed = {"custom_id": first["custom_id"], "response": None, "error": {"message": "expired"}}

    done = load(failed, *[answer(line, tokens=(100, 7)) for line in rest])

    assert run_figures(done).tokens == 2 * 107


def test_lines_that_answer_no_question_are_told_if_an_answer_is_missing(endpoint, load):
    _first, *rest = questions(endpoint)
    other = {**rest[0], "custom_id": "of another run"}

    done = load(*[answer(line) for line in (*rest, other)])

    assert done.stopped == (
        "The file has no answer to 1 question. 1 of its lines answers no question of this run: "
        "their choices, model or prompt were others."
    )


def test_what_was_answered_before_is_in_no_further_file(endpoint, grade):
    grade(drawn=1)

    assert len(questions(endpoint)) == 2


def test_what_the_file_lacks_is_told_and_can_be_asked_again(cast, endpoint, load):
    first, *rest = questions(endpoint)

    done = load(*[answer(line) for line in rest])

    assert done.stopped == "The file has no answer to 1 question."
    assert len(grades(cast.project)) == 2
    assert questions(endpoint) == [first]


def test_a_line_with_an_error_is_a_failure_and_no_grade(cast, endpoint, load):
    first, *rest = questions(endpoint)
    failed = {"custom_id": first["custom_id"], "response": None, "error": {"message": "expired"}}

    done = load(failed, *[answer(line) for line in rest])

    assert "expired" in done.calls.failed().get().reason
    assert len(grades(cast.project)) == 2


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        (["no JSON"], "line 1: "),
        (['{"custom_id": "a"}', '{"custom_id": "a"}'], "line 2: the custom_id “a”"),
        (['{"custom_id": "of another run"}'], "No line of the file answers a question"),
    ],
)
def test_a_file_that_is_of_no_use_writes_nothing_and_says_why(cast, load, lines, reason):
    with pytest.raises(JobError, match=reason):
        load(*lines)

    assert grades(cast.project) == {}


def test_the_file_is_downloaded_and_uploaded_on_the_page_of_a_run(cast, endpoint):
    client = Client()
    client.force_login(cast.carla.user)
    address = reverse("audit:new_model_run", args=["tides"])
    choices = {"endpoint": endpoint.pk, "subjects": "all", "draw_seed": 1, "samples": 1}
    plan = client.get(address, choices)

    (link,) = re.findall(r'href="([^"]*questions.jsonl[^"]*)"', plan.content.decode())
    response = client.get(html.unescape(link))
    downloaded = response.getvalue()
    # So a reader notices if it breaks off.
    assert response["Content-Length"] == str(len(downloaded))
    lines = [json.loads(line) for line in downloaded.splitlines()]
    answers = file_of(*[answer(line) for line in lines])
    client.post(address, {**choices, "most_tokens": 50_000, "answers": answers})
    run_again(ModelRun.objects.get())

    assert grades(cast.project) == {"D1": 2, "D2": 1, "D3": 0}


def test_the_file_is_taken_by_the_api(cast, endpoint):
    lines = questions(endpoint)
    client = APIClient()
    client.force_authenticate(cast.carla.user)
    sent = {"endpoint": endpoint.pk, "subjects": "all", "most_tokens": 50_000}

    response = client.post(
        reverse("audit:api_model_runs", args=["tides"]),
        {**sent, "answers": file_of(*[answer(line) for line in lines])},
        format="multipart",
    )
    run_again(ModelRun.objects.get())

    assert response.status_code == 201
    assert grades(cast.project) == {"D1": 2, "D2": 1, "D3": 0}


def test_the_file_is_kept_in_a_folder_of_its_project(cast, endpoint, load):
    done = load(*[answer(line) for line in questions(endpoint)])

    assert done.answers.name.startswith(f"uploads/{cast.project.pk}/answers/")


def test_a_file_that_is_gone_is_named(cast, endpoint):
    made = new_run(endpoint=endpoint, subjects="all", most_tokens=9_999, answers=file_of("{}"))
    run = request_run(made, by=cast.carla)
    run.answers.delete(save=False)
    run.refresh_from_db()

    with pytest.raises(JobError, match="The file of answers is gone"):
        run_again(run)

    assert "The file of answers is gone" in run.why_not_retryable()


def test_a_lead_who_still_judges_gets_no_questions_about_what_was_judged(cast, endpoint):
    factories.assignment(cast.pair, cast.carla)
    client = Client()
    client.force_login(cast.carla.user)

    response = client.get(
        reverse("audit:model_batch", args=["tides"]),
        {"endpoint": endpoint.pk, "subjects": "judged", "draw_seed": 1, "samples": 1},
    )

    assert response.status_code == 403
