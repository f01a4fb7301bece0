"""An answer that cannot be read is asked for once more, and is never a grade."""

from __future__ import annotations

import pytest

from llm.answers import FailureKind
from tests.llm.conftest import QUESTION
from tests.services.model_server import refuse, say, send_body

UNREADABLE = [
    ("Relevant, grade 2.", "not JSON: Expecting value (“Relevant, grade 2.”)"),
    ('{"grade": 2', "not JSON: Expecting ',' delimiter (“{\"grade\": 2”)"),
    ('{"grade": 2} {"grade": 0}', "the value ends here, but more text follows"),
    ('{"grade": 2, "grade": 0}', "the field “grade” occurs twice in one JSON object"),
    ('{"grade": NaN}', "NaN is not allowed"),
    ('{"grade": 7}', "$.grade: 7 is not one of [0, 1, 2]"),
    ('{"grade": "2"}', "$.grade: '2' is not one of [0, 1, 2]"),
    ('{"grade": true}', "$.grade: True is not one of [0, 1, 2]"),
    ('{"grade": 2, "sure": 1}', "Additional properties are not allowed ('sure' was unexpected)"),
    ("{}", "$: 'grade' is a required property"),
    ("2", "$: 2 is not of type 'object'"),
    ('{"quote": "\\u0000", "grade": 2}', "a string contains the control character U+0000"),
    ("[" * 5_000, "this JSON is nested too deeply"),
    ("", "not JSON: Expecting value"),
    (None, "not JSON: Expecting value"),
]


@pytest.mark.parametrize(("text", "reason"), UNREADABLE)
def test_an_answer_that_is_unreadable_twice_is_a_failure_with_a_reason(server, ask, text, reason):
    server.will(say(text), say(text))

    answer = ask()

    assert answer.value is None
    assert answer.failure.kind == FailureKind.UNREADABLE
    assert answer.failure.reason.startswith("The model's answer cannot be read: ")
    assert reason in answer.failure.reason
    assert len(server.received) == 2


def test_the_model_is_asked_again_with_its_answer_and_the_error(server, ask):
    server.will(say('{"grade": 7}'), say('{"grade": 2}'))

    answer = ask()

    assert (answer.value, answer.failure) == ({"grade": 2}, None)
    question, said, again = server.received[1].body["messages"]
    assert question == QUESTION[0]
    assert said == {"role": "assistant", "content": '{"grade": 7}'}
    assert again["role"] == "user"
    assert again["content"].startswith(
        "The model's answer cannot be read: $.grade: 7 is not one of [0, 1, 2]\n"
    )


def test_both_replies_are_kept_and_paid(server, ask):
    server.will(say("two", tokens=(20, 5)), say('{"grade": 2}', tokens=(40, 6)))

    answer = ask()

    assert [reply.text for reply in answer.replies] == ["two", '{"grade": 2}']
    assert (answer.prompt_tokens, answer.completion_tokens) == (60, 11)


def test_a_server_that_fails_when_asked_again_leaves_the_first_reply(server, ask):
    server.will(say("two"), refuse(403, "over your quota"))

    answer = ask()

    assert answer.failure.reason == "The server refuses (403): over your quota"
    assert [reply.text for reply in answer.replies] == ["two"]


def test_the_model_is_shown_only_the_beginning_of_an_endless_answer(server, ask):
    server.will(say("no " * 100_000), say('{"grade": 2}'))

    ask()

    assert len(server.received[1].content) < 5_000


@pytest.mark.parametrize("text", ['```json\n{"grade": 2}\n```', '\n```\n{"grade": 2}```\n'])
def test_a_code_block_around_the_answer_is_taken_off(server, ask, text):
    server.will(say(text))

    assert ask().value == {"grade": 2}


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b'{"choices": [', "not JSON"),
        (b"\xff", "'utf-8' codec can't decode"),
        (b"", "not JSON"),
        (b"<html>", "not JSON"),
        (b"[]", "it is not a JSON object"),
        (b"{}", "it has no field choices[0].message"),
        (b'{"choices": []}', "it has no field choices[0].message"),
        (b'{"choices": [{"message": null}]}', "it has no field choices[0].message"),
    ],
)
def test_a_server_that_speaks_another_language_is_asked_once(server, ask, body, reason):
    server.will(send_body(body))

    answer = ask()

    assert answer.failure.kind == FailureKind.NOT_A_COMPLETION
    assert reason in answer.failure.reason
    assert len(server.received) == 1


def test_an_answer_cut_at_the_limit_of_tokens_is_a_failure(server, ask):
    server.will(say('{"grade": 2}', finish_reason="length", tokens=(20, 1_024)))

    answer = ask()

    assert answer.failure.kind == FailureKind.CUT
    assert answer.failure.reason == "The answer was cut at its limit after 1,024 tokens."
    assert len(server.received) == 1


def test_a_model_that_refuses_is_not_asked_again(server, ask):
    server.will(say(None, refusal="I do not judge texts."))

    answer = ask()

    assert answer.failure.kind == FailureKind.DECLINED
    assert answer.failure.reason == "The model refuses to answer: I do not judge texts."


def test_an_answer_that_a_filter_removed_is_a_failure(server, ask):
    server.will(say('{"grade": 0}', finish_reason="content_filter"))

    answer = ask()

    assert answer.failure.kind == FailureKind.DECLINED
    assert answer.failure.reason == "A filter of the server removed the answer."
