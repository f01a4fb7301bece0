"""Every error below /api/ is JSON and never a page, whatever is wrong and whoever answers."""

from __future__ import annotations

import logging
from itertools import product
from typing import Any

import pytest
from django.test import Client
from rest_framework.views import APIView

from tests import factories
from tests.attacks.test_every_door import worlds
from tests.attacks.test_tokens import API, secret_of
from tests.test_permissions import VERBS

__all__ = ["worlds"]

PROBLEM = "application/problem+json"
# Requests of pages have their own kind of answer, also in JSON.
ITS_OWN = {"annotate:api_journal": "application/json"}
BELOW_API = sorted([*API, *ITS_OWN])

# What is wrong with a request, and the expected status; 0: whatever the route answers.
WRONG: dict[str, tuple[int, dict[str, Any]]] = {
    "a NUL in the query": (400, {"QUERY_STRING": "of=a%00b"}),
    "an encoding that is none": (400, {"CONTENT_TYPE": "application/json; charset=nonsense"}),
    "an encoding of bytes": (400, {"CONTENT_TYPE": "multipart/form-data; boundary=x; charset=bz2"}),
    "too much": (413, {"CONTENT_LENGTH": "99999999999999"}),
    "no length": (413, {"CONTENT_LENGTH": "much"}),
    "a strange host": (400, {"HTTP_HOST": "evil.example"}),
    "pages alone are taken": (0, {"HTTP_ACCEPT": "text/html"}),
    "pictures alone are taken": (0, {"HTTP_ACCEPT": "image/png;q=0.1"}),
    "a form": (0, {"CONTENT_TYPE": "application/x-www-form-urlencoded"}),
    "no type at all": (0, {"CONTENT_TYPE": ""}),
    "a type that is none": (0, {"CONTENT_TYPE": "}{"}),
}

# HEAD has no body, and TRACE is answered by the server.
WRONG_VERBS = [verb for verb in VERBS if verb not in {"HEAD", "TRACE"}]


@pytest.fixture(autouse=True)
def quiet(caplog: pytest.LogCaptureFixture) -> None:
    """Silence the log: thousands of requests are refused, each with a captured log line."""
    for name in ("django.request", "django.security.DisallowedHost"):
        caplog.set_level(logging.CRITICAL, logger=name)


@pytest.fixture
def client(worlds) -> Client:
    """An API client of a lead that gets error responses instead of exceptions."""
    return Client(
        headers={"Authorization": f"Bearer {secret_of('carla', 'judge', 'lead')}"},
        raise_request_exception=False,
    )


def fault(answer: Any, kind: str = PROBLEM) -> str:
    """Return what is wrong with an error response, or ""."""
    if answer.status_code < 400:
        return ""
    if answer["Content-Type"] != kind:
        return f"{answer.status_code} {answer['Content-Type']}"
    if answer.get("Content-Length", str(len(answer.content))) != str(len(answer.content)):
        return "another length"
    answers = answer.json()
    if kind != PROBLEM:
        return "" if answers["detail"] else "no sentence"
    if (answers["status"], bool(answers["detail"])) != (answer.status_code, True):
        return repr(answers)
    return "" if answers["code"].replace("_", "").isalpha() else repr(answers)


def test_every_error_is_answered_in_json(worlds, client, record_property):
    """Send everything wrong to every route with one verb after the other, until one is an error.

    Each route begins with another verb, so each verb meets everything wrong as well.
    """
    found = {}
    tried: set[tuple[str, str]] = set()
    for place, name in enumerate(BELOW_API):
        for number, (what, (status, environ)) in enumerate(WRONG.items()):
            for step in range(len(WRONG_VERBS)):
                verb = WRONG_VERBS[(place + number + step) % len(WRONG_VERBS)]
                tried.add((what, verb))
                sent = {"content_type": "application/json"} if "CONTENT_TYPE" not in environ else {}
                answer = client.generic(verb, worlds[0].url(name), b"{", **sent, **environ)
                if status and answer.status_code != status:
                    found[what, verb, name] = str(answer.status_code)
                if answer.status_code >= 400:
                    break
            # The guard and Django refuse a request before its user and address are known.
            kind = PROBLEM if status else ITS_OWN.get(name, PROBLEM)
            if wrong := fault(answer, kind):
                found[what, verb, name] = wrong
    record_property("tried", f"errors in JSON: {len(BELOW_API)} routes x {len(WRONG)} faults")

    assert found == {}
    assert tried == set(product(WRONG, WRONG_VERBS))


def test_a_nul_character_is_reported_with_its_parameter(worlds, client):
    answer = client.get("/api/v1/projects/tides/agreement/units/?of=a%00b&side=changed&%00=1")

    assert answer.status_code == 400
    assert answer.json() == {
        "title": "Bad Request",
        "status": 400,
        "code": "invalid",
        "detail": "This request cannot be read.",
        "errors": [
            {"pointer": "?of", "detail": "There is a NUL in this."},
            {"pointer": "?", "detail": "There is a NUL in this."},
        ],
    }


@pytest.mark.parametrize(
    ("url", "place"),
    [
        ("/api/v1/projects/tides/agreement/units/?of=everything", "?of"),
        ("/api/v1/projects/tides/agreement/units/?query=nowhere", "?query"),
        ("/api/v1/projects/tides/audit-log/?since=yesterday", "?since"),
        ("/api/v1/projects/tides/disagreements/?state=none", "?state"),
    ],
)
def test_an_invalid_parameter_is_named(worlds, client, url, place):
    answer = client.get(url)

    assert (answer.status_code, answer["Content-Type"]) == (400, PROBLEM)
    assert [one["pointer"] for one in answer.json()["errors"]] == [place]


@pytest.mark.parametrize("debug", [False, True])
def test_an_unexpected_error_is_never_a_page(worlds, client, monkeypatch, settings, caplog, debug):
    settings.DEBUG = debug

    def broken(*_args: Any, **_options: Any) -> None:
        raise RuntimeError("the password is swordfish")

    monkeypatch.setattr(APIView, "initial", broken)
    # Django's page for developers takes long.
    for name in API[::20] if debug else API:
        answer = client.get(worlds[0].url(name))

        assert (answer.status_code, fault(answer)) == (500, ""), name
        assert b"swordfish" not in answer.content, name


def test_an_unknown_address_is_answered_in_json(worlds, client):
    paths = ["", "v1/nowhere/", "v1/nowhere", "v2/me/", "v1/pairs/-1/", "%FF"]
    answers = {}
    for path, verb in product(paths, [verb for verb in VERBS if verb != "HEAD"]):
        answer = client.generic(verb, f"/api/{path}")
        answers[verb, path] = (answer.status_code, fault(answer))

    assert {what: one for what, one in answers.items() if one != (404, "")} == {}
    assert len(answers) == 42


def test_a_forged_entry_is_refused_in_json(db):
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(factories.user("ada"))

    answer = browser.post("/api/v1/journal/", "{}", content_type="application/json")

    assert (answer.status_code, answer.json()["code"], fault(answer)) == (
        *(403, "permission_denied"),
        "",
    )


def test_the_api_page_refuses_other_methods(db):
    browser = Client()
    browser.force_login(factories.user("ada"))

    answer = browser.delete("/api/v1/")

    assert (answer.status_code, answer["Allow"], fault(answer)) == (405, "GET", "")


def test_people_get_error_pages(db):
    browser = Client(raise_request_exception=False)
    browser.force_login(factories.user("ada"))

    for answer in (
        browser.get("/nowhere/"),
        browser.get("/?search=a%00b"),
        browser.generic("POST", "/projects/new/", b"", CONTENT_LENGTH="9999999999999"),
    ):
        assert answer.status_code >= 400
        assert answer["Content-Type"].startswith("text/html")


def test_a_form_with_an_unknown_encoding_is_refused(worlds):
    browser = Client(raise_request_exception=False)
    browser.force_login(factories.user("carla"))
    part = b'--x\r\nContent-Disposition: form-data; name="theme"\r\n\r\ndark\r\n--x--\r\n'
    answers = {}
    for route, encoding in product(
        ["login", "annotate:preferences", "annotate:new_project"],
        ["zlib", "hex", "rot13", "undefined", "utf-16", "nonsense"],
    ):
        kind = f"multipart/form-data; boundary=x; charset={encoding}"
        answer = browser.generic("POST", worlds[0].url(route), part, content_type=kind)
        answers[route, encoding] = answer.status_code

    assert {what: status for what, status in answers.items() if status != 400} == {}
