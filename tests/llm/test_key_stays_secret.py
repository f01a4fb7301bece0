"""The key is sent to the server, and stands nowhere else."""

from __future__ import annotations

import logging

import pytest

from llm.completion import complete
from llm.endpoint import Endpoint
from tests.llm.conftest import KEY, QUESTION, SCHEMA
from tests.services.model_server import (
    cut_connection,
    never_end,
    redirect,
    refuse,
    repeat_the_key,
    say,
)


def test_the_key_is_in_no_repr(endpoint):
    assert KEY not in repr(endpoint)
    assert KEY not in str(endpoint)


@pytest.mark.parametrize(
    "behaviours",
    [
        [say('{"grade": 2}')],
        [say(KEY), say(f'{{"grade": "{KEY}"}}')],
        [repeat_the_key()],
        [refuse(500, retry_after="0.001"), refuse(500)],
        [refuse(429, retry_after="0.001"), cut_connection()],
        [redirect("http://127.0.0.1:1/")],
        [never_end(200)],
    ],
)
def test_the_key_is_in_no_answer_and_no_log_line(server, ask, caplog, behaviours):
    caplog.set_level(logging.DEBUG)
    server.will(*behaviours)

    answer = ask()

    assert KEY not in repr(answer)
    assert caplog.records
    assert KEY not in caplog.text
    assert all(KEY not in repr(record.args) for record in caplog.records)


def test_a_server_that_repeats_the_key_is_quoted_without_it(server, ask):
    server.will(repeat_the_key())

    answer = ask()

    assert answer.failure.reason == "The server refuses (401): wrong key: Bearer [key]"


def test_an_endpoint_without_a_key_sends_none(server, endpoint, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-somebody-else")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-of-somebody-else")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Team: somebody-else")
    server.will(say('{"grade": 2}'))

    complete(Endpoint(base_url=server.base_url, model="m"), QUESTION, SCHEMA)

    (request,) = server.received
    assert "authorization" not in request.headers
    assert "somebody-else" not in repr(request)


def test_a_proxy_of_the_environment_is_not_used(server, ask, monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:1")
    server.will(say('{"grade": 2}'))

    assert ask().value == {"grade": 2}


@pytest.mark.parametrize("key", ["sk-with space", "sk-with\nline", "sk-ключ"])
def test_a_key_that_no_header_can_contain_is_refused_without_showing_it(key):
    with pytest.raises(ValueError, match="A key has only ASCII") as refused:
        Endpoint(base_url="https://models.example.org/v1", model="m", key=key)

    assert key not in str(refused.value)
