"""An endpoint is checked when it is made."""

from __future__ import annotations

from decimal import Decimal

import pytest

from llm.endpoint import Endpoint, Prices

ADDRESS = "https://models.example.org/v1"


@pytest.mark.parametrize(
    "address",
    [
        ADDRESS,
        f"{ADDRESS}/",
        "http://localhost:8080/v1",
        "http://model_server/v1",
        "http://192.0.2.1/v1",
        "http://[::1]:8080/v1",
        "https://xn--modles-5ua.example.org/v1",
    ],
)
def test_requests_go_to_chat_completions_below_the_address(address):
    url = Endpoint(base_url=address, model="m").url

    assert url == f"{address.rstrip('/')}/chat/completions"


@pytest.mark.parametrize(
    "address",
    [
        "",
        "models.example.org/v1",
        "ftp://models.example.org",
        "file:///etc/passwd",
        "https://",
        "https:///v1",
        "https://models.example.org:port",
        "https://models.example.org:99999",
        "https://[::1",
        "https://models.example.org /v1",
        "https://models.example.org\n/v1",
        "https://models.example.org/\x07",
        "https://models..example.org/v1",
        "https://modèles.example.org/v1",
        "https://mod<e>ls.example.org/v1",
        f"https://{'a' * 64}.org/v1",
        f"https://{'a.' * 130}org/v1",
        "http://1.2.3.999/v1",
        "http://[v1.x]/v1",
    ],
)
def test_what_is_no_address_of_a_server_is_refused(address):
    with pytest.raises(ValueError, match="The address of a model server is https"):
        Endpoint(base_url=address, model="m")


@pytest.mark.parametrize("login", ["ann:pass", "ann", ":pass"])
def test_a_password_in_the_address_is_refused_without_showing_it(login):
    with pytest.raises(ValueError, match="contains a name or password") as refused:
        Endpoint(base_url=f"https://{login}@models.example.org/v1", model="m")

    assert login not in str(refused.value)


@pytest.mark.parametrize("end", ["?version=1", "#1", "?"])
def test_an_address_has_no_query(end):
    with pytest.raises(ValueError, match="has no “\\?” and no “#”"):
        Endpoint(base_url=ADDRESS + end, model="m")


@pytest.mark.parametrize(
    ("field", "value", "sentence"),
    [
        ("model", " ", "The model has no name"),
        ("temperature", -0.1, "A temperature is between 0 and 2"),
        ("temperature", float("nan"), "A temperature is between 0 and 2"),
        ("timeout", 0, "A time limit is a number of seconds above 0"),
        ("timeout", float("inf"), "A time limit is a number of seconds above 0"),
        ("max_tokens", 0, "at least 1 token"),
        ("max_answer_bytes", 0, "at least 1 token and 1 byte"),
        ("retries", -1, "retries are 0 or more"),
    ],
)
def test_impossible_parameters_are_refused(field, value, sentence):
    with pytest.raises(ValueError, match=sentence):
        Endpoint(**{"base_url": ADDRESS, "model": "m", field: value})


@pytest.mark.parametrize("price", ["-1", "NaN", "Infinity"])
def test_impossible_prices_are_refused(price):
    with pytest.raises(ValueError, match="A price of a million tokens is a number from 0 on"):
        Prices(prompt=Decimal(1), completion=Decimal(price))
