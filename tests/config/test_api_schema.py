"""The API schema is valid, complete and matches docs/api-outline.txt."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml
from django.core.management import call_command

from tests import factories
from tests.config.api_outline import FILE, outline
from tests.test_permissions import PROGRAMS, RIGHTS, ROUTES, Right


@pytest.fixture(scope="module")
def schema(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The current schema; a warning while it is generated is an error."""
    made = tmp_path_factory.mktemp("schema") / "openapi.json"
    call_command(
        "spectacular", file=str(made), format="openapi-json", validate=True, fail_on_warn=True
    )
    return json.loads(made.read_bytes())


def test_operations_and_shapes_match_the_outline(schema):
    assert outline(schema).splitlines() == FILE.read_text().splitlines(), (
        "the API is not as docs/api-outline.txt says; if it should be as it is now: "
        "python -m tests.config.api_outline"
    )


def test_every_route_for_programs_is_in_the_schema(schema):
    paths = schema["paths"]
    routes = [
        name
        for name, right in RIGHTS.items()
        if right in PROGRAMS - {Right.JOURNAL} and name != "api_schema"
    ]

    assert len(paths) == len(routes)
    assert all("api/v1" in path for path in paths)
    assert {len(ROUTES[name].pattern.converters) for name in routes} == {
        path.count("{") for path in paths
    }


def test_every_operation_documents_its_errors(schema):
    for path, verbs in schema["paths"].items():
        for verb, operation in verbs.items():
            assert {"401", "403", "404", "429"} <= set(operation["responses"]), (path, verb)
            assert operation["description"], (path, verb)


@pytest.mark.parametrize(
    ("form", "media"), [("", "application/yaml"), ("json", "application/json")]
)
def test_signed_in_people_can_read_the_schema(db, client, schema, form, media):
    client.force_login(factories.user("ada"))

    response = client.get("/api/v1/schema/", {"form": form})

    assert response["Content-Type"] == f"{media}; charset=utf-8"
    # Ten times as fast as the loader that is written in Python.
    assert yaml.load(response.content, Loader=yaml.CSafeLoader) == schema
