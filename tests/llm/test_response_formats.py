"""A server that does not know a response format is asked with a weaker one."""

from __future__ import annotations

import pytest

from llm.answers import FailureKind
from llm.endpoint import ResponseFormat
from tests.services.model_server import refuse, say

IN_WORDS = (
    "Is it relevant?\n\nAnswer with one JSON object that matches this schema, and with nothing "
    'else:\n{"type":"object","properties":{"quote":{"type":"string"},"grade":{"enum":[0,1,2]}},'
    '"required":["grade"],"additionalProperties":false}'
)


def formats_of(server):
    return [request.body.get("response_format", {}).get("type") for request in server.received]


@pytest.mark.parametrize("status", [400, 422])
def test_a_server_without_schemas_is_asked_for_a_json_object(server, ask, status):
    server.will(refuse(status, "unknown response_format"), say('{"grade": 1}'))

    answer = ask()

    assert answer.value == {"grade": 1}
    assert answer.response_format == ResponseFormat.JSON_OBJECT
    assert formats_of(server) == ["json_schema", "json_object"]
    assert server.received[1].body["messages"][0]["content"] == IN_WORDS


def test_a_server_without_formats_gets_the_schema_in_words(server, ask):
    server.will(refuse(400), refuse(400), say('{"grade": 1}'))

    answer = ask()

    assert answer.value == {"grade": 1}
    assert answer.response_format == ResponseFormat.WORDS
    assert formats_of(server) == ["json_schema", "json_object", None]
    assert server.received[2].body["messages"][0]["content"] == IN_WORDS


def test_an_endpoint_can_begin_with_the_format_that_its_server_knows(server, ask):
    server.will(say('{"grade": 1}'))

    ask(response_format=ResponseFormat.WORDS)

    assert formats_of(server) == [None]


def test_a_request_refused_in_every_format_fails_with_the_servers_last_words(server, ask):
    server.will(refuse(400, "format"), refuse(400, "format"), refuse(400, "the prompt is too long"))

    answer = ask()

    assert answer.value is None
    assert answer.failure.kind == FailureKind.REFUSED
    assert answer.failure.reason == "The server refuses (400): the prompt is too long"


@pytest.mark.parametrize(
    ("status", "words"), [(401, "wrong key"), (403, "not allowed"), (404, "no model imitation-1")]
)
def test_what_has_nothing_to_do_with_formats_is_refused_once(server, ask, status, words):
    server.will(refuse(status, words))

    answer = ask()

    assert answer.failure.reason == f"The server refuses ({status}): {words}"
    assert answer.failure.status == status
    assert len(server.received) == 1


def test_the_schema_is_enforced_where_the_server_ignores_it(server, ask):
    server.will(say('{"grade": 3}'), say('{"grade": 3}'))

    answer = ask()

    assert answer.value is None
    assert answer.failure.reason.endswith("$.grade: 3 is not one of [0, 1, 2]")
