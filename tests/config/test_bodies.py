"""Request bodies: limits on size and time, and that no thread waits for one."""

from __future__ import annotations

import asyncio
import json
import os
import select
import socket
from http.client import HTTPConnection
from types import SimpleNamespace
from typing import Any

import pytest
from django.http import HttpRequest
from django.test import Client, RequestFactory

from annotate.models import Project
from annotate.people.tokens import make_token
from base.api.scopes import Scope
from config import asgi, request_bodies
from config.request_bodies import LITTLE, is_too_large, seconds_for
from tests import factories
from tests.services.web import web_server

SIGN_IN = "/accounts/login/"
FORM = "application/x-www-form-urlencoded"


def send_request(
    path: str, *, chunks: list[bytes], headers: dict[str, str], ends: bool = True
) -> SimpleNamespace:
    """Let the application answer a request whose body comes in these chunks.

    After the last one the client disconnects or, if `ends` is False, sends nothing more.
    """
    seen = SimpleNamespace(status=None, body=b"", headers={}, received=0)
    scope = {
        "type": "http",
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "server": ("127.0.0.1", 8000),
        "client": ("192.0.2.7", 5000),
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
    }
    waiting = list(chunks)

    async def receive():
        seen.received += 1
        if waiting:
            chunk = waiting.pop(0)
            return {"type": "http.request", "body": chunk, "more_body": bool(waiting) or not ends}
        if not ends:
            await asyncio.Event().wait()
        return {"type": "http.disconnect"}

    async def send(message):
        seen.status = message.get("status", seen.status)
        seen.headers |= dict(message.get("headers", ()))
        seen.body += message.get("body", b"")

    asyncio.run(asgi.application(scope, receive, send))
    return seen


@pytest.fixture
def echo(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Replace Django by an application that returns the body; return the environs it gets."""
    environs: list[dict[str, Any]] = []

    def answer(environ, start_response):
        environs.append(environ)
        start_response("200 OK", [("Content-Type", "text/plain")])
        return [environ["wsgi.input"].read()]

    monkeypatch.setattr(asgi, "django", answer)
    return environs


def headers(length: int, **others: str) -> dict[str, str]:
    return {"host": "localhost", "content-type": FORM, "content-length": str(length), **others}


# --- time -----------------------------------------------------------------------------------------


def test_a_body_has_ten_seconds_and_one_more_for_each_16_kib():
    assert seconds_for(0, 1_000) == 10
    assert seconds_for(1, 1_000) == pytest.approx(10.00006, abs=1e-5)
    assert seconds_for(163_840, 1_000_000) == 20


def test_a_body_has_a_deadline_however_fast_it_arrives():
    assert seconds_for(LITTLE, LITTLE) == 120
    assert seconds_for(4 * 1024**3, 4 * 1024**3) == 3600


def test_a_stalled_body_is_refused_before_django_reads_it(monkeypatch):
    monkeypatch.setattr(request_bodies, "GRACE", 0.0)

    seen = send_request(SIGN_IN, chunks=[b"x"], headers=headers(1_000), ends=False)

    assert seen.status == 408
    assert b"This took too long to arrive" in seen.body


def test_a_stalled_body_to_the_api_gets_problem_json(monkeypatch):
    monkeypatch.setattr(request_bodies, "GRACE", 0.0)

    seen = send_request("/api/v1/journal/", chunks=[b"x"], headers=headers(9), ends=False)

    assert (seen.status, json.loads(seen.body)["code"]) == (408, "too_slow")


def test_a_request_is_dropped_if_its_client_disconnects(echo):
    seen = send_request(SIGN_IN, chunks=[b"half"], headers=headers(8))

    assert (seen.status, echo) == (None, [])


def test_a_body_without_a_length_is_refused_unread():
    seen = send_request(
        SIGN_IN, chunks=[b"x"], headers={"host": "localhost", "transfer-encoding": "chunked"}
    )

    assert (seen.status, seen.received) == (411, 0)


# --- complete bodies ------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [0, 1, 65_536, 65_537, 700_000])
def test_a_body_reaches_django_completely(echo, size):
    content = os.urandom(size)
    pieces = [content[i : i + 50_000] for i in range(0, size, 50_000)]

    seen = send_request(SIGN_IN, chunks=pieces, headers=headers(size))

    assert (seen.status, seen.body) == (200, content)


def test_a_long_response_reaches_the_client_completely(monkeypatch):
    parts = [bytes([number % 256]) * 1_000 for number in range(1_000)]

    def answer(environ, start_response):
        start_response("200 OK", [])
        return iter(parts)

    monkeypatch.setattr(asgi, "django", answer)

    seen = send_request(SIGN_IN, chunks=[], headers={"host": "localhost"}, ends=False)

    assert seen.body == b"".join(parts)


def test_a_header_with_an_underscore_is_ignored(echo):
    send_request(
        SIGN_IN, chunks=[], headers={"x_forwarded_for": "10.0.0.1", "x-forwarded-for": "b"}
    )

    assert echo[0]["HTTP_X_FORWARDED_FOR"] == "b"
    assert echo[0]["REMOTE_ADDR"] == "192.0.2.7"


# --- size -----------------------------------------------------------------------------------------

PAGE, PROGRAM = "/projects/tides/loads/", "/api/v1/projects/tides/loads/"


def make_request(
    path: str, length: int, client: Client | None = None, token: str | None = None
) -> HttpRequest:
    headers = {"authorization": f"Bearer {token}"} if token else {}
    request = RequestFactory().post(path, headers=headers)
    request.META["CONTENT_LENGTH"] = str(length)
    if client is not None:
        request.COOKIES.update({name: one.value for name, one in client.cookies.items()})
    return request


@pytest.fixture
def tides(db: None) -> Project:
    project = factories.project("tides")
    factories.lead(project, "carla")
    factories.member(project, "ada")
    factories.user("stranger")
    return project


@pytest.mark.parametrize(
    "path", [SIGN_IN, "/projects/", "/healthz", "/nothing/", "/projects/tides/rubric/"]
)
def test_addresses_without_large_uploads_accept_only_small_bodies(tides, client, path):
    client.force_login(factories.user("carla"))

    assert not is_too_large(make_request(path, LITTLE, client))
    assert is_too_large(make_request(path, LITTLE + 1, client))


@pytest.mark.parametrize("path", [PAGE, PROGRAM])
@pytest.mark.parametrize(
    ("who", "refused"), [("carla", False), ("ada", True), ("stranger", True), (None, True)]
)
def test_only_leads_can_upload_large_files(tides, client, path, who, refused):
    if who:
        client.force_login(factories.user(who))

    assert is_too_large(make_request(path, LITTLE + 1, client)) is refused
    assert is_too_large(make_request(path.replace("tides", "other"), LITTLE + 1, client))


def test_only_tokens_of_leads_can_upload_large_files(tides):
    secrets = {
        who: make_token(name="up", scopes=[Scope.LEAD], days=1, by=factories.user(who))[1]
        for who in ("carla", "ada")
    } | {"nobody": "rejudge_unknown"}

    refused = {
        who: is_too_large(make_request(PROGRAM, LITTLE + 1, token=secret))
        for who, secret in secrets.items()
    }

    assert refused == {"carla": False, "ada": True, "nobody": True}


def test_nobody_can_upload_more_than_the_limit_of_the_installation(tides, client, settings):
    settings.MAX_UPLOAD = LITTLE + 5
    client.force_login(factories.user("carla"))

    assert not is_too_large(make_request(PAGE, LITTLE + 5, client))
    assert is_too_large(make_request(PAGE, LITTLE + 6, client))


def test_a_body_that_is_too_large_is_refused_before_any_of_it_is_read():
    seen = send_request(SIGN_IN, chunks=[b"x"], headers=headers(LITTLE + 1), ends=False)

    assert (seen.status, seen.received) == (413, 0)


# --- the server itself ----------------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
def test_pages_answer_while_a_hundred_connections_stall():
    slow_body = (
        f"POST {SIGN_IN} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {FORM}\r\n"
        f"Cookie: csrftoken={'a' * 32}\r\nContent-Length: 1000\r\n\r\nx"
    )
    slow_header = f"GET {SIGN_IN} HTTP/1.1\r\nHost: loc"
    with web_server() as server:
        slow = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(100)]
        try:
            for number, one in enumerate(slow):
                one.sendall((slow_header if number % 4 == 0 else slow_body).encode())
            answers = []
            for path in ("/healthz", SIGN_IN) * 3:
                connection = HTTPConnection("127.0.0.1", server.port, timeout=30)
                connection.request("GET", path, headers={"Host": "localhost"})
                answers.append(connection.getresponse().status)
                connection.close()
            given_up, _, _ = select.select(slow, [], [], 0)
        finally:
            for one in slow:
                one.close()

    # None of them had timed out before the pages were answered.
    assert (answers, given_up) == ([200] * 6, [])
