"""The servers that the administrator allows, and how an endpoint's model is reached there."""

from __future__ import annotations

from typing import Any, cast

from django.conf import settings

from audit.model_runs.models import Endpoint
from llm.endpoint import Endpoint as Model
from llm.endpoint import Prices


def server_names() -> list[str]:
    """Return the names of the servers that projects may ask, in the order of the settings."""
    return list(settings.MODEL_SERVERS)


def model_behind(endpoint: Endpoint) -> Model:
    """Return how to ask an endpoint's model, with its key.

    Raise ValueError if the server is no longer in the settings, or a value cannot be sent.
    """
    address = settings.MODEL_SERVERS.get(endpoint.server)
    if address is None:
        raise ValueError(
            f"The server “{endpoint.server}” is not among those that the administrator allows."
        )
    prices = None
    if endpoint.prompt_price is not None and endpoint.completion_price is not None:
        prices = Prices(prompt=endpoint.prompt_price, completion=endpoint.completion_price)
    return Model(
        base_url=address,
        model=endpoint.model,
        key=settings.MODEL_KEYS.get(endpoint.server, ""),
        temperature=endpoint.temperature,
        seed=endpoint.seed,
        max_tokens=endpoint.max_tokens,
        max_tokens_field=cast(Any, endpoint.limit_field),
        prices=prices,
        timeout=60,
        retries=3,
    )
