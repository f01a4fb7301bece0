"""How many tokens a request has, and what it costs at most, before it is sent."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from llm.endpoint import Endpoint
from llm.request import Message, Schema, as_json, request_body

UNKNOWN_COST = "The cost is unknown: the endpoint has no prices."
# Every model cuts text into tokens in its own way. English has 4 to 5 bytes a token, most other
# languages 2 to 4; with 3 the estimate is too high for English and seldom too low for others.
_BYTES_PER_TOKEN = 3
# What surrounds each message in the form that the model reads.
_TOKENS_AROUND_A_MESSAGE = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """What calls need if each is answered at the first time.

    Attributes:
        calls: How many calls.
        prompt_tokens: Of the requests, estimated.
        completion_tokens: Of the answers, at most.
        cost: At most; None if the endpoint has no prices.
        note: Why there is no cost; "" if there is one.
    """

    calls: int
    prompt_tokens: int
    completion_tokens: int
    cost: Decimal | None
    note: str


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
    return Estimate(
        calls=1,
        prompt_tokens=prompt,
        completion_tokens=endpoint.max_tokens,
        cost=None if prices is None else prices.cost(prompt, endpoint.max_tokens),
        note=UNKNOWN_COST if prices is None else "",
    )


def total_estimate(estimates: Iterable[Estimate]) -> Estimate:
    """Return what several calls need together; the cost is unknown if that of any call is."""
    calls = prompt_tokens = completion_tokens = 0
    cost: Decimal | None = Decimal(0)
    for estimate in estimates:
        calls += estimate.calls
        prompt_tokens += estimate.prompt_tokens
        completion_tokens += estimate.completion_tokens
        cost = None if cost is None or estimate.cost is None else cost + estimate.cost
    return Estimate(
        calls=calls,
        prompt_tokens=prompt_tokens,
        completion_tokens=completion_tokens,
        cost=cost,
        note=UNKNOWN_COST if cost is None else "",
    )
