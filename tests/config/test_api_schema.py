"""The schema of the API: valid, complete, and the same as the file that is handed out."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from django.conf import settings
from django.core.management import call_command

from tests import factories
from tests.test_permissions import PROGRAMS, RIGHTS, ROUTES, Right

FILE = Path(settings.BASE_DIR) / "docs" / "openapi.yaml"


def test_the_schema_is_that_of_the_file(tmp_path):
    made = tmp_path / "openapi.yaml"

    call_command("spectacular", file=str(made), validate=True, fail_on_warn=True)

    assert made.read_text() == FILE.read_text(), (
        "the API is not as docs/openapi.yaml says; if it should be as it is now: "
        "manage.py spectacular --file docs/openapi.yaml --validate --fail-on-warn"
    )


def test_every_route_for_programs_is_in_the_schema():
    paths = yaml.safe_load(FILE.read_text())["paths"]
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


def test_every_verb_says_what_can_go_wrong():
    for path, verbs in yaml.safe_load(FILE.read_text())["paths"].items():
        for verb, operation in verbs.items():
            assert {"401", "403", "404", "429"} <= set(operation["responses"]), (path, verb)
            assert operation["description"], (path, verb)


@pytest.mark.parametrize(
    ("form", "media"), [("", "application/yaml"), ("json", "application/json")]
)
def test_who_is_signed_in_reads_the_schema(db, client, form, media):
    client.force_login(factories.user("ada"))

    response = client.get("/api/v1/schema/", {"form": form})

    assert response["Content-Type"] == f"{media}; charset=utf-8"
    assert yaml.safe_load(response.content) == yaml.safe_load(FILE.read_text())
