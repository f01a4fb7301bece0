"""Requests with the same key get the same answer, so it is paid once."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import pytest

from llm.endpoint import Endpoint, ResponseFormat
from llm.request import Message, request_key
from tests.llm.conftest import QUESTION, SCHEMA

ENDPOINT = Endpoint(base_url="https://models.example.org/v1", model="m", key="k" * 20, seed=1)
KEY_OF_QUESTION = request_key(ENDPOINT, QUESTION, SCHEMA)


def test_a_key_is_the_sha256_of_the_canonical_request():
    canonical = (
        '["https://models.example.org/v1/chat/completions",{"model":"m","messages":[{"role":"user",'
        '"content":"Is it relevant?"}],"max_tokens":1024,"temperature":0.0,"seed":1,'
        '"response_format":{"type":"json_schema","json_schema":{"name":"answer","strict":true,'
        '"schema":{"type":"object","properties":{"quote":{"type":"string"},"grade":{"enum":[0,1,2]'
        '}},"required":["grade"],"additionalProperties":false}}}}]'
    )

    assert hashlib.sha256(canonical.encode()).hexdigest() == KEY_OF_QUESTION


@pytest.mark.parametrize(
    "change",
    [
        {"key": "another"},
        {"base_url": "https://models.example.org/v1/"},
        {"timeout": 1.0, "retries": 0, "max_answer_bytes": 10},
        {"response_format": ResponseFormat.WORDS},
    ],
)
def test_what_does_not_change_the_answer_does_not_change_the_key(change):
    assert request_key(replace(ENDPOINT, **change), QUESTION, SCHEMA) == KEY_OF_QUESTION


@pytest.mark.parametrize(
    "change",
    [
        {"base_url": "https://models.example.com/v1"},
        {"model": "n"},
        {"temperature": 1.0},
        {"temperature": None},
        {"seed": 2},
        {"max_tokens": 1},
    ],
)
def test_another_model_or_parameter_has_another_key(change):
    assert request_key(replace(ENDPOINT, **change), QUESTION, SCHEMA) != KEY_OF_QUESTION


def test_another_question_has_another_key():
    messages: list[Message] = [{"role": "user", "content": "Is it relevant? "}]

    assert request_key(ENDPOINT, messages, SCHEMA) != KEY_OF_QUESTION


def test_the_order_of_fields_in_the_schema_counts_because_models_answer_in_it():
    properties = dict(reversed(SCHEMA["properties"].items()))

    assert request_key(ENDPOINT, QUESTION, SCHEMA | {"properties": properties}) != KEY_OF_QUESTION
