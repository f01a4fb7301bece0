"""The body of a request, and the key under which its answer is cached."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from llm.endpoint import Endpoint, ResponseFormat

Schema: TypeAlias = Mapping[str, Any]
"""A JSON schema of an object; models answer in the order of its properties."""


Message: TypeAlias = Mapping[str, str]
"""One message of a conversation with a model: its `role` and its `content`."""


def object_of(properties: Mapping[str, Any]) -> Schema:
    """Return the schema of an object that has all these properties, in this order, and no other."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


_IN_WORDS = "\n\nAnswer with one JSON object that matches this schema, and with nothing else:\n"


def request_body(
    endpoint: Endpoint,
    messages: Sequence[Message],
    schema: Schema,
    response_format: ResponseFormat | None = None,
) -> dict[str, Any]:
    """Return the body of a request, by default with the endpoint's first response format.

    Where the server does not enforce the schema, the last message ends with the schema in words.
    """
    response_format = response_format or endpoint.response_format
    sent = [dict(message) for message in messages]
    if response_format != ResponseFormat.JSON_SCHEMA:
        sent[-1]["content"] = f"{sent[-1]['content']}{_IN_WORDS}{as_json(schema)}"
    body: dict[str, Any] = {
        "model": endpoint.model,
        "messages": sent,
        endpoint.max_tokens_field: endpoint.max_tokens,
    }
    if endpoint.temperature is not None:
        body["temperature"] = endpoint.temperature
    if endpoint.seed is not None:
        body["seed"] = endpoint.seed
    if response_format == ResponseFormat.JSON_SCHEMA:
        format_of_answer = {"name": "answer", "strict": True, "schema": dict(schema)}
        body["response_format"] = {"type": "json_schema", "json_schema": format_of_answer}
    elif response_format == ResponseFormat.JSON_OBJECT:
        body["response_format"] = {"type": "json_object"}
    return body


def as_json(value: object) -> str:
    """Return `value` as compact JSON: equal values in the same order are the same text.

    Keys are not sorted, because the order of a schema's properties changes what a model answers.
    """
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def request_key(endpoint: Endpoint, messages: Sequence[Message], schema: Schema) -> str:
    """Return the SHA-256 of the canonical request: requests with the same key get the same answer.

    It covers the address, the model, its parameters, the messages and the schema, but neither the
    key nor the response format, which depends on what the server accepts.
    """
    body = request_body(endpoint, messages, schema, ResponseFormat.JSON_SCHEMA)
    return hashlib.sha256(as_json([endpoint.url, body]).encode()).hexdigest()
