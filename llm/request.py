"""The body of a request, the key under which its answer is cached, and what it costs at most."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, TypeAlias

from llm.endpoint import Endpoint, ResponseFormat

# Every model cuts text into tokens in its own way. English has 4 to 5 bytes a token, most other
# languages 2 to 4; with 3 the estimate is too high for English and seldom too low for others.
_BYTES_PER_TOKEN = 3
# What surrounds each message in the form that the model reads.
_TOKENS_AROUND_A_MESSAGE = 8

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """What calls need if each is answered at the first time, with an answer as long as may be."""

    calls: int
    tokens: int
    # None: the endpoint has no prices.
    cost: Decimal | None

    def for_calls(self, calls: int) -> Estimate:
        """Return the estimate for so many calls like these; nothing, if there are none of these."""
        times = Decimal(calls) / self.calls if self.calls else Decimal(0)
        cost = None if self.cost is None else self.cost * times
        return Estimate(calls=calls, tokens=round(self.tokens * times), cost=cost)


def estimate_tokens(text: str) -> int:
    """Return about how many tokens a text has, rather too many than too few."""
    return math.ceil(len(text.encode()) / _BYTES_PER_TOKEN)


def estimate_call(endpoint: Endpoint, messages: Sequence[Message], schema: Schema) -> Estimate:
    """Return what one call needs: its whole request, and an answer as long as is allowed."""
    body = request_body(endpoint, messages, schema)
    prompt = sum(
        estimate_tokens(message["content"]) + _TOKENS_AROUND_A_MESSAGE
        for message in body["messages"]
    )
    prompt += estimate_tokens(as_json(body.get("response_format", "")))
    prices = endpoint.prices
    cost = None if prices is None else prices.cost(prompt, endpoint.max_tokens)
    return Estimate(calls=1, tokens=prompt + endpoint.max_tokens, cost=cost)


def total_estimate(estimates: Iterable[Estimate]) -> Estimate:
    """Return what several calls need together; the cost is unknown if that of any call is."""
    several = list(estimates)
    costs = [estimate.cost for estimate in several if estimate.cost is not None]
    return Estimate(
        calls=sum(estimate.calls for estimate in several),
        tokens=sum(estimate.tokens for estimate in several),
        cost=sum(costs, Decimal(0)) if len(costs) == len(several) else None,
    )
