"""Tokens and cost are estimated before a call."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest

from llm.endpoint import Endpoint, Prices, ResponseFormat
from llm.request import Estimate, estimate_call, estimate_tokens, total_estimate
from tests.llm.conftest import QUESTION, SCHEMA

PRICES = Prices(prompt=Decimal("2.50"), completion=Decimal(10))
ENDPOINT = Endpoint(
    base_url="https://models.example.org/v1", model="m", max_tokens=100, prices=PRICES
)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [("", 0), ("tide", 2), ("the tide rises", 5), ("прилив", 4), ("潮の満ち", 4)],
)
def test_a_token_is_taken_to_be_three_bytes(text, tokens):
    assert estimate_tokens(text) == tokens


def test_a_price_is_that_of_a_million_tokens():
    assert PRICES.cost(1_000_000, 0) == Decimal("2.50")
    assert PRICES.cost(0, 1_000_000) == Decimal(10)
    assert PRICES.cost(1_200, 30) == Decimal("0.0033")


def test_a_call_costs_its_request_and_the_longest_answer():
    words = replace(ENDPOINT, response_format=ResponseFormat.WORDS)
    in_words = estimate_call(words, QUESTION, {"type": "object"})

    # The question and the sentence with the schema have 111 bytes: 37 tokens, and 8 around them.
    # The format that is not sent is two quotes: 1 token.
    assert in_words == Estimate(
        calls=1,
        tokens=37 + 8 + 1 + 100,
        cost=Decimal("0.001115"),
    )


def test_the_schema_is_part_of_the_request():
    with_schema = estimate_call(ENDPOINT, QUESTION, SCHEMA)

    assert with_schema.tokens > 100 + 13 + len(str(SCHEMA)) / 4


def test_without_prices_the_cost_is_unknown():
    estimate = estimate_call(replace(ENDPOINT, prices=None), QUESTION, SCHEMA)

    assert estimate.cost is None


def test_several_calls_are_added():
    one = estimate_call(ENDPOINT, QUESTION, SCHEMA)

    total = total_estimate([one] * 3)

    assert total.calls == 3
    assert total.tokens == 3 * one.tokens
    assert (one.cost, total.cost) == (Decimal("0.00121"), Decimal("0.00363"))


def test_one_unknown_cost_makes_the_total_unknown():
    one = estimate_call(ENDPOINT, QUESTION, SCHEMA)
    unknown = estimate_call(replace(ENDPOINT, prices=None), QUESTION, SCHEMA)

    total = total_estimate([one, unknown, one])

    assert (total.calls, total.cost) == (3, None)


def test_no_calls_cost_nothing():
    assert total_estimate([]).cost == 0


def test_what_some_calls_need_is_scaled_to_all():
    one = estimate_call(ENDPOINT, QUESTION, SCHEMA)

    scaled = total_estimate([one, one]).for_calls(7)

    assert scaled == Estimate(calls=7, tokens=7 * one.tokens, cost=Decimal("0.00847"))
    assert total_estimate([]).for_calls(5).tokens == 0
