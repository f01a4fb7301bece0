"""No other site can make a signed-in browser write anything (CSRF)."""

from __future__ import annotations

import pytest
from django.conf import settings
from django.test import Client

from tests import factories
from tests.test_permissions import RIGHTS, Right, rows, world

pytestmark = pytest.mark.long

WRITING = ("POST", "PUT", "PATCH", "DELETE")
BODIES = {
    "a form": ("application/x-www-form-urlencoded", "role=lead&change=leave&archived=yes&sure=1"),
    "a form with files": ("multipart/form-data; boundary=x", "--x--\r\n"),
    "JSON in disguise": ("text/plain", '{"entries": []}'),
    "JSON": ("application/json", "{}"),
}


def test_nothing_is_written_without_a_csrf_token(db, repeated_requests, record_property):
    tides = world("tides", "ada", "carla")
    # An administrator who also leads the project: only the token is missing.
    factories.lead(tides.project, "root")
    root = factories.user("root")
    root.is_staff = root.is_superuser = True
    root.save()
    client = Client(enforce_csrf_checks=True)
    client.force_login(root)
    before = rows()
    let_in, tried = {}, 0
    for name in RIGHTS:
        url = tides.url(name)
        for verb in WRITING:
            for what, (kind, body) in BODIES.items():
                tried += 1
                status = client.generic(verb, url, body, content_type=kind).status_code
                # A verb that is not supported does nothing for anybody.
                if status not in {403, 404, 405}:
                    let_in[verb, name, what] = status
    record_property("tried", f"forged writes: {tried:,} requests without a token")

    assert let_in == {}
    assert rows() == before


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "null", "https://testserver.evil.example"]
)
def test_a_csrf_token_does_not_help_another_origin(db, origin):
    factories.lead(factories.project("tides"), "carla")
    client = Client(enforce_csrf_checks=True)
    client.force_login(factories.user("carla"))
    client.get("/projects/tides/settings/")
    token = client.cookies["csrftoken"].value

    answer = client.post(
        "/projects/tides/archiving/",
        {"archived": "yes", "sure": "1", "csrfmiddlewaretoken": token},
        headers={"origin": origin},
    )

    assert answer.status_code == 403


def test_signing_in_and_out_need_a_csrf_token(db):
    factories.user("ada")
    client = Client(enforce_csrf_checks=True)
    forms = [name for name, right in RIGHTS.items() if right is Right.OPEN]

    assert "login" in forms
    answer = client.post(
        "/accounts/login/", {"username": "ada", "login": "ada", "password": factories.PASSWORD}
    )

    assert answer.status_code == 403
    assert settings.SESSION_COOKIE_NAME not in client.cookies
    client.force_login(factories.user("ada"))
    # Otherwise an image on another site could sign people out.
    client.get("/accounts/logout/")
    assert client.get("/settings/").status_code == 200
