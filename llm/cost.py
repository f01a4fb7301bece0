"""How many tokens a request has, and what it costs at most, before it is sent."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from llm.endpoint import Endpoint
from llm.request import Message, Schema, as_json, request_body

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
        tokens: Of the requests, estimated, and of answers as long as they may be.
        cost: At most; None if the endpoint has no prices.
    """

    calls: int
    tokens: int
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
