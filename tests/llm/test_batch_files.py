"""Calls are written as batch files, and their answers read back."""

from __future__ import annotations

import io
import json

import pytest

from llm import batch
from llm.answers import FailureKind, read_value
from llm.batch import BatchError, read_answers, request_lines
from llm.endpoint import Endpoint
from llm.request import request_body
from tests.llm.conftest import QUESTION, SCHEMA
from tests.services.model_server import completion

ENDPOINT = Endpoint(base_url="https://models.example.org/v1", model="m", key="sk-" + "k" * 20)


def written(*requests):
    return "".join(request_lines(requests)).encode()


def answered(*lines):
    content = "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines)
    return list(read_answers(io.BytesIO(content.encode())))


def line(custom_id="a", status=200, body=None, error=None):
    response = None if status is None else {"status_code": status, "body": body}
    return {"id": "1", "custom_id": custom_id, "response": response, "error": error}


def test_a_line_has_the_id_the_method_the_address_and_the_body():
    body = request_body(ENDPOINT, QUESTION, SCHEMA)

    (text,) = written(("call-1", body)).decode().splitlines()

    assert json.loads(text) == {
        "custom_id": "call-1",
        "method": "POST",
        "url": "/v1/chat/completions",
        "body": body,
    }
    assert list(json.loads(text)) == ["custom_id", "method", "url", "body"]


def test_a_batch_file_has_no_key():
    assert b"kkkk" not in written(("call-1", request_body(ENDPOINT, QUESTION, SCHEMA)))


def test_the_same_calls_are_the_same_bytes():
    body = request_body(ENDPOINT, QUESTION, SCHEMA)

    assert written(("a", body), ("b", body)) == written(("a", body), ("b", body))


@pytest.mark.parametrize("ids", [["a", "a"], ["a", ""]])
def test_an_id_that_is_empty_or_occurs_twice_is_not_written(ids):
    with pytest.raises(BatchError, match=r"^line 2: the custom_id “.?” is empty or occurs twice$"):
        written(*[(custom_id, {}) for custom_id in ids])


def test_answers_are_read_in_the_order_of_the_file():
    answers = answered(
        line("b", body=completion('{"grade": 1}')), "", line("a", body=completion('{"grade": 0}'))
    )

    values = [(custom_id, read_value(reply, SCHEMA)) for custom_id, reply in answers]
    assert values == [("b", {"grade": 1}), ("a", {"grade": 0})]


@pytest.mark.parametrize(
    ("answer", "kind", "reason"),
    [
        (
            line(status=400, body={"error": {"message": "too long"}}),
            FailureKind.REFUSED,
            'The batch has no answer to this line: {"error":{"message":"too long"}}',
        ),
        (
            line(status=None, error={"code": "batch_expired"}),
            FailureKind.REFUSED,
            'The batch has no answer to this line: {"code":"batch_expired"}',
        ),
        (
            line(body={"choices": []}),
            FailureKind.NOT_A_COMPLETION,
            "The server's answer is not a chat completion: it has no field choices[0].message",
        ),
    ],
)
def test_a_line_without_an_answer_is_a_failure_with_a_reason(answer, kind, reason):
    ((custom_id, failure),) = answered(answer)

    assert (custom_id, failure.kind, failure.reason) == ("a", kind, reason)


@pytest.mark.parametrize(
    ("second", "reason"),
    [
        ("{", "not JSON: Expecting property name enclosed in double quotes"),
        ("[]", "it has no custom_id"),
        ('{"custom_id": 7}', "it has no custom_id"),
        (line("a", body=completion("x")), "the custom_id “a” is empty or occurs twice"),
    ],
)
def test_a_bad_line_is_an_error_with_its_number(second, reason):
    with pytest.raises(BatchError) as refused:
        answered(line("a", body=completion("x")), second)

    assert str(refused.value) == f"line 2: {reason}"


def test_bytes_that_are_no_text_are_an_error_with_their_line():
    with pytest.raises(BatchError, match=r"^line 1: 'utf-8' codec can't decode"):
        list(read_answers(io.BytesIO(b"\xff\n")))


def test_a_line_without_an_end_is_refused_at_the_limit(monkeypatch):
    monkeypatch.setattr(batch, "MAX_LINE", 100)

    with pytest.raises(BatchError, match=r"^line 1: it has more than 100 bytes$"):
        list(read_answers(io.BytesIO(b"x" * 1_000)))
