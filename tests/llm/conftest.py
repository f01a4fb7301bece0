"""A model server, an endpoint at it, and one question."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from llm.completion import complete
from llm.endpoint import Endpoint
from llm.request import Message
from tests.services.model_server import MODEL, model_server

KEY = "sk-of-nobody-1234567890"
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"quote": {"type": "string"}, "grade": {"enum": [0, 1, 2]}},
    "required": ["grade"],
    "additionalProperties": False,
}
QUESTION: list[Message] = [{"role": "user", "content": "Is it relevant?"}]


@pytest.fixture
def server():
    with model_server() as running:
        yield running


@pytest.fixture
def endpoint(server):
    return Endpoint(base_url=server.base_url, model=MODEL, key=KEY, retries=1)


@pytest.fixture
def ask(endpoint):
    """A function that asks the question, with some parameters of the endpoint changed."""

    def ask_with(pool=None, **changes):
        return complete(replace(endpoint, **changes), QUESTION, SCHEMA, pool=pool)

    return ask_with


@pytest.fixture
def waits(monkeypatch):
    """The seconds that were waited between retries, which take no time here."""
    seconds: list[float] = []
    monkeypatch.setattr("time.sleep", seconds.append)
    return seconds
