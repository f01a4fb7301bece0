"""One question to a server that does what it should."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from jsonschema import SchemaError

from llm.completion import Answer, complete, open_pool
from llm.request import Message
from tests.llm.conftest import KEY, QUESTION, SCHEMA
from tests.services.model_server import cut_connection, say


def test_an_answer_is_the_value_that_the_model_wrote(server, ask):
    server.will(say('{"quote": "the tide", "grade": 2}'))

    answer = ask()

    assert answer.value == {"quote": "the tide", "grade": 2}
    assert answer.failure is None
    assert (answer.in_doubt, len(answer.replies)) == (0, 1)
    assert answer.seconds > 0


def test_a_request_has_the_model_its_parameters_the_messages_and_the_schema(server, ask):
    server.will(say('{"grade": 2}'))

    ask(seed=7, max_tokens=50)

    (request,) = server.received
    assert request.path == "/v1/chat/completions"
    assert request.body == {
        "model": "imitation-1",
        "messages": [{"role": "user", "content": "Is it relevant?"}],
        "max_tokens": 50,
        "temperature": 0.0,
        "seed": 7,
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "answer", "strict": True, "schema": SCHEMA},
        },
    }


def test_a_request_has_no_headers_but_the_necessary_ones(server, ask):
    server.will(say('{"grade": 2}'))

    ask()

    headers = server.received[0].headers
    assert headers.pop("content-length").isdigit()
    assert headers.pop("host").startswith("127.0.0.1:")
    assert headers == {
        "accept": "application/json",
        "accept-encoding": "identity",
        "authorization": f"Bearer {KEY}",
        "content-type": "application/json",
        "user-agent": "rejudge",
    }


def test_parameters_that_a_model_refuses_are_left_out_or_renamed(server, endpoint):
    server.will(say('{"grade": 2}'))
    reasoning = replace(endpoint, temperature=None, max_tokens_field="max_completion_tokens")

    complete(reasoning, QUESTION, SCHEMA)

    body = server.received[0].body
    assert body["max_completion_tokens"] == 1_024
    assert not {"temperature", "seed", "max_tokens"} & set(body)


def test_tokens_are_those_that_the_server_counted(server, ask):
    server.will(say('{"grade": 2}', tokens=(320, 12)))

    answer = ask()

    assert (answer.prompt_tokens, answer.completion_tokens) == (320, 12)


def test_tokens_that_the_server_did_not_count_are_unknown(server, ask):
    server.will(say('{"grade": 2}', tokens=None))

    answer = ask()

    assert (answer.prompt_tokens, answer.completion_tokens) == (None, None)


def test_another_model_that_answers_is_named(server, ask):
    server.will(say('{"grade": 2}', model="cheaper-1"))

    answer = ask()

    assert answer.model == "cheaper-1"


def test_documents_of_every_script_arrive_as_they_are(server, endpoint):
    server.will(say('{"quote": "潮の満ち引き 🌊", "grade": 1}'))

    answer = complete(endpoint, [{"role": "user", "content": "潮の満ち引き 🌊 المد"}], SCHEMA)

    assert server.received[0].body["messages"][0]["content"] == "潮の満ち引き 🌊 المد"
    assert answer.value["quote"] == "潮の満ち引き 🌊"


def test_several_calls_share_connections(server, endpoint):
    server.will(say('{"grade": 0}'), say('{"grade": 1}'))
    pool = open_pool()

    values = [complete(endpoint, QUESTION, SCHEMA, pool=pool).value for _ in range(2)]

    pool.close()
    assert values == [{"grade": 0}, {"grade": 1}]
    assert len({request.port for request in server.received}) == 1


def test_threads_share_a_pool_and_each_call_keeps_its_own_counts(server, endpoint):
    server.will(cut_connection())
    server.rule = lambda body: f'{{"grade": {body["messages"][0]["content"]}}}'
    once, pool = replace(endpoint, retries=0), open_pool()

    def ask(grade: int) -> Answer:
        message: Message = {"role": "user", "content": str(grade)}
        return complete(once, [message], SCHEMA, pool=pool)

    cut = ask(0)
    with ThreadPoolExecutor(4) as threads:
        answers = list(threads.map(ask, [0, 1, 2] * 4))

    pool.close()
    assert [answer.value["grade"] for answer in answers] == [0, 1, 2] * 4
    assert (cut.in_doubt, {answer.in_doubt for answer in answers}) == (1, {0})


def test_a_wrong_call_is_an_error_and_asks_nobody(server, endpoint):
    with pytest.raises(ValueError, match="at least one message"):
        complete(endpoint, [], SCHEMA)
    with pytest.raises(SchemaError):
        complete(endpoint, QUESTION, {"type": "grade"})

    assert server.received == []
