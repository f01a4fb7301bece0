"""A model behind an address, and how it is asked."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from ipaddress import ip_address
from typing import Literal
from urllib.parse import urlsplit

# Labels between dots; the last is no number, because four numbers are an IP address.
_HOST = re.compile(r"(?:[a-z0-9_-]{1,63}\.)*(?![0-9]+$)[a-z0-9_-]{1,63}")


class ResponseFormat(StrEnum):
    """How a server is told to answer with JSON, from the strictest way to the weakest."""

    JSON_SCHEMA = "json_schema"
    JSON_OBJECT = "json_object"
    WORDS = "words"


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """What a million tokens cost, both in the same currency."""

    prompt: Decimal
    completion: Decimal

    def __post_init__(self) -> None:
        if not all(price.is_finite() and price >= 0 for price in (self.prompt, self.completion)):
            raise ValueError("A price of a million tokens is a number from 0 on.")

    def cost(self, prompt_tokens: int, completion_tokens: int) -> Decimal:
        """Return what this many tokens cost."""
        total = prompt_tokens * self.prompt + completion_tokens * self.completion
        return total / 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """A model behind an address, and how it is asked.

    Raise ValueError for an address, a key or a number that no server can be asked with. The message
    does not contain the key or the address, which could contain a password.
    """

    # Before `/chat/completions`.
    base_url: str
    model: str
    # "": the server needs none.
    key: str = field(default="", repr=False)
    # None: it is not sent, because some models refuse it.
    temperature: float | None = 0.0
    seed: int | None = None
    max_tokens: int = 1_024
    # Newer models of some providers know only the longer name.
    max_tokens_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    prices: Prices | None = None
    # Of one request, in seconds.
    timeout: float = 120.0
    retries: int = 4
    max_answer_bytes: int = 4 * 1024 * 1024
    # The first to try; `Answer.response_format` is one that the server accepts.
    response_format: ResponseFormat = ResponseFormat.JSON_SCHEMA

    def __post_init__(self) -> None:
        _check_address(self.base_url)
        if not self.model.strip():
            raise ValueError("The model has no name.")
        if not _is_visible_ascii(self.key):
            raise ValueError("A key has only ASCII letters, digits and signs, without spaces.")
        if self.temperature is not None and not 0 <= self.temperature <= 2:
            raise ValueError("A temperature is between 0 and 2.")
        if not (math.isfinite(self.timeout) and self.timeout > 0):
            raise ValueError("A time limit is a number of seconds above 0.")
        if self.max_tokens < 1 or self.max_answer_bytes < 1 or self.retries < 0:
            raise ValueError("An answer has at least 1 token and 1 byte; retries are 0 or more.")

    @property
    def url(self) -> str:
        """Return the address to which requests are sent."""
        return f"{self.base_url.rstrip('/')}/chat/completions"


def _check_address(address: str) -> None:
    try:
        parts = urlsplit(address)
        host = parts.hostname or ""
        is_address = parts.scheme in {"http", "https"} and parts.port != 0 and _is_host(host)
        # Only an IPv6 address has brackets and, between them, colons.
        is_address = is_address and ("[" in address) == (":" in host)
    except ValueError:
        is_address = False
    if not (is_address and _is_visible_ascii(address)):
        raise ValueError("The address of a model server is https:// or http:// and a host.")
    if parts.username is not None or parts.password is not None:
        raise ValueError("The address contains a name or password: give the key by itself.")
    if "?" in address or "#" in address:
        raise ValueError("The address of a model server has no “?” and no “#”.")


def _is_host(name: str) -> bool:
    """Return whether a name is an IP address or one that can be looked up."""
    try:
        ip_address(name)
    except ValueError:
        return len(name) <= 253 and _HOST.fullmatch(name) is not None
    return True


def _is_visible_ascii(text: str) -> bool:
    return all("!" <= character <= "~" for character in text)
