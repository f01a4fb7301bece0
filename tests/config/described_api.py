"""Requests to every API operation that its schema allows and forbids.

A module of its own, which the tests import when they run: schemathesis takes a second to import.
"""

from __future__ import annotations

import os
import warnings
from collections import Counter
from collections.abc import Iterable
from functools import cache
from typing import Any

import schemathesis
from django.core.wsgi import get_wsgi_application
from hypothesis import HealthCheck, Phase, given
from hypothesis import settings as hypothesis_settings
from schemathesis.core.failures import FailureGroup
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi import checks

from annotate.models import User
from annotate.people.tokens import make_token
from config.api import schema
from tests.services.database import rolled_back

EXAMPLES = int(os.environ.get("REJUDGE_API_EXAMPLES", "2"))
CHECKS = [
    schemathesis.checks.not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_schema_conformance,
    checks.response_headers_conformance,
]
# Some intentionally invalid values become valid once they are written into a URL.
CHECKS_OF_INVALID = CHECKS[:3]
BRIEF = hypothesis_settings(
    max_examples=EXAMPLES,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
    deadline=None,
    database=None,
    derandomize=True,
)


def make_full_token(name: str) -> str:
    """Return a token of this person with every scope."""
    person = User.objects.get(username=name)
    return make_token(name="Asks", scopes=["judge", "lead"], days=1, by=person).secret


@cache
def operations() -> list[Any]:
    """Return every operation of the API; the schema is made once."""
    described = schemathesis.openapi.from_dict(schema())
    described.app = get_wsgi_application()
    # `ok` raises for an invalid operation.
    every = [found.ok() for found in described.get_all_operations()]  # type: ignore[union-attr]
    # Making an example creates tables. From then on SQLite reads its schema at each rollback.
    return sorted(every, key=lambda operation: operation.path.endswith("/examples/"))


class Sent:
    """The statuses that the requests of one person got, and what is wrong with the responses."""

    def __init__(self, who: str) -> None:
        self.headers = {"Authorization": f"Bearer {make_full_token(who)}"} if who else {}
        self.statuses: Counter[int] = Counter()
        self.failures: list[str] = []


def send_requests(
    people: Iterable[str], kind: str, keys: dict[str, Any], elsewhere: str = ""
) -> dict[str, Sent]:
    """Send some requests to every operation, each as every person; "" is not signed in.

    `kind`: "positive" for valid requests, "negative" for invalid ones.
    `keys`: values for parameters of addresses; others are generated.
    `elsewhere`: a person who sends the same to addresses with generated parameters alone; the
    result is under "elsewhere".
    """
    mode = GenerationMode(kind)
    sent_by = {who: Sent(who) for who in people}
    sent_elsewhere = Sent(elsewhere) if elsewhere else None

    def ask(operation: Any) -> None:
        named = {parameter.name for parameter in operation.path_parameters}
        known = {name: str(keys[name]) for name in named & keys.keys()}

        @BRIEF
        @given(case=operation.as_strategy(generation_mode=mode))
        def send(case: Any) -> None:
            checks_of_kind = CHECKS if mode is GenerationMode.POSITIVE else CHECKS_OF_INVALID
            if sent_elsewhere:
                _send(case, sent_elsewhere, checks_of_kind)
            case.path_parameters.update(known)
            for sent in sent_by.values():
                _send(case, sent, checks_of_kind)

        send()

    with warnings.catch_warnings():
        # Hypothesis and schemathesis warn about the small number of examples.
        warnings.simplefilter("ignore")
        for operation in operations():
            if mode is GenerationMode.POSITIVE or operation.body or operation.query:
                ask(operation)
    return sent_by | ({"elsewhere": sent_elsewhere} if sent_elsewhere else {})


def _send(case: Any, sent: Sent, active_checks: list[Any]) -> None:
    with rolled_back():
        response = case.call(headers=sent.headers)
        sent.statuses[response.status_code] += 1
    try:
        case.validate_response(response, checks=active_checks)
    except FailureGroup as group:
        messages = "; ".join(f"{fault.title}: {fault.message}" for fault in group.exceptions)
        failure = f"{case.method} {case.path} {response.status_code}: {messages}"
        sent.failures.append(failure[:600])
