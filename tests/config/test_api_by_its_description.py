"""Everything that the API's own description allows, and what it forbids, is asked of it, as several
people: no server error, and no answer that the description does not know.

In process, over WSGI, with rows of every kind; what a request does is undone before the next one.
Bounded: `REJUDGE_API_EXAMPLES` asks more of every operation (2 unless told otherwise).
"""

from __future__ import annotations

import os
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections, transaction
from hypothesis import HealthCheck, Phase, given
from hypothesis import settings as hypothesis_settings
from schemathesis.core.failures import FailureGroup
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi import checks

from annotate.actions.tokens import make_token
from annotate.models import User
from config.schema import schema
from tests.test_permissions import World, world

EXAMPLES = int(os.environ.get("REJUDGE_API_EXAMPLES", "2"))
CHECKS = [
    schemathesis.checks.not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_schema_conformance,
    checks.response_headers_conformance,
]
# Of what is made wrong on purpose, some is right again once it is written into an address.
OF_WRONG = CHECKS[:3]
BRIEF = hypothesis_settings(
    max_examples=EXAMPLES,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
    deadline=None,
    database=None,
    derandomize=True,
)


@pytest.fixture
def tides(db: None, settings: Any, tmp_path: Any, published: Any) -> Iterator[World]:
    settings.STORAGES = {
        **settings.STORAGES,
        "default": {
            "BACKEND": "django.core.files.storage.FileSystemStorage",
            "OPTIONS": {"location": str(tmp_path)},
        },
    }
    signals = (request_started, request_finished)
    for signal in signals:
        # The connection is this test's, and its transaction goes on.
        signal.disconnect(close_old_connections)
    yield world("tides", "ada", "carla")
    for signal in signals:
        signal.connect(close_old_connections)


@contextmanager
def undone() -> Iterator[None]:
    """What is done in here is as if it had never been."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


def token_of(name: str) -> str:
    """What a program of this person shows, with every scope."""
    person = User.objects.get(username=name)
    return make_token(name="Asks", scopes=["judge", "lead"], days=1, by=person).secret


def operations() -> list[Any]:
    """Every operation of the API."""
    described = schemathesis.openapi.from_dict(schema())
    described.app = get_wsgi_application()
    # What is no operation has none, and raises here.
    return [found.ok() for found in described.get_all_operations()]  # type: ignore[union-attr]


def asked(who: str, mode: GenerationMode, keys: dict[str, Any]) -> tuple[Counter[int], list[str]]:
    """Ask every operation some times; return the statuses, and what is wrong.

    `keys`: what stands in addresses; what is not in it is made up.
    """
    headers = {"Authorization": f"Bearer {token_of(who)}"} if who else {}
    statuses: Counter[int] = Counter()
    wrong: list[str] = []

    def ask(operation: Any) -> None:
        named = {parameter.name for parameter in operation.path_parameters}
        known = {name: str(keys[name]) for name in named & keys.keys()}

        @BRIEF
        @given(case=operation.as_strategy(generation_mode=mode))
        def one(case: Any) -> None:
            case.path_parameters.update(known)
            with undone():
                response = case.call(headers=headers)
                statuses[response.status_code] += 1
            try:
                case.validate_response(response, checks=looked_at)
            except FailureGroup as failures:
                told = "; ".join(f"{fault.title}: {fault.message}" for fault in failures.exceptions)
                wrong.append(f"{case.method} {case.path} {response.status_code}: {told}"[:600])

        one()

    looked_at = CHECKS if mode is GenerationMode.POSITIVE else OF_WRONG
    with warnings.catch_warnings():
        # Hypothesis and schemathesis say that they were asked for little.
        warnings.simplefilter("ignore")
        for operation in operations():
            if mode is GenerationMode.POSITIVE or operation.body or operation.query:
                ask(operation)
    return statuses, wrong


@pytest.mark.parametrize("who", ["", "ada", "carla"])
def test_what_it_allows_is_answered_as_it_says(tides, who):
    statuses, wrong = asked(who, GenerationMode.POSITIVE, tides.keys)

    assert not wrong, "\n".join(wrong)
    assert set(statuses) <= ({401} if not who else {404, *range(200, 205)} | set(range(400, 430)))
    if who == "carla":
        # Her requests come through to the actions.
        assert statuses[200] > 50
        assert statuses[201] > 0


def test_what_it_forbids_is_no_error_of_the_server(tides):
    statuses, wrong = asked("carla", GenerationMode.NEGATIVE, tides.keys)

    assert not wrong, "\n".join(wrong)
    assert statuses[400] > 100


def test_addresses_that_are_made_up_lead_nowhere(tides):
    statuses, wrong = asked("carla", GenerationMode.POSITIVE, {})

    assert not wrong, "\n".join(wrong)
    assert statuses[404] > 0
