"""Request bodies: who may send how much, and that no thread waits for a client."""

from __future__ import annotations

import contextlib
import errno
import os
import select
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import OperationalError
from django.http import HttpRequest
from django.test import Client, RequestFactory
from django.test.client import BOUNDARY, MULTIPART_CONTENT, encode_multipart
from waitress import wasyncore
from waitress.adjustments import Adjustments
from waitress.parser import HTTPRequestParser

from annotate.models import Load, Project
from annotate.people.tokens import make_token
from base.users import Scope
from config.request_guard import SMALL_BODY, is_too_large
from config.web import THREADS, Parser, Server, make_server
from tests import factories
from tests.services.processes import running, wait_until
from tests.services.web import web_server

SIGN_IN = "/accounts/login/"
FORM = "application/x-www-form-urlencoded"

# --- size -----------------------------------------------------------------------------------------

PAGE, PROGRAM = "/projects/tides/loads/", "/api/v1/projects/tides/loads/"


def make_request(
    path: str, length: int, client: Client | None = None, token: str | None = None
) -> HttpRequest:
    headers = {"authorization": f"Bearer {token}"} if token else {}
    request = RequestFactory().post(path, headers=headers)
    request.META["CONTENT_LENGTH"] = str(length)
    if client is not None:
        request.COOKIES.update({name: morsel.value for name, morsel in client.cookies.items()})
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

    assert not is_too_large(make_request(path, SMALL_BODY, client))
    assert is_too_large(make_request(path, SMALL_BODY + 1, client))


@pytest.mark.parametrize("path", [PAGE, PROGRAM])
@pytest.mark.parametrize(
    ("who", "refused"), [("carla", False), ("ada", True), ("stranger", True), (None, True)]
)
def test_only_leads_can_upload_large_files(tides, client, path, who, refused):
    if who:
        client.force_login(factories.user(who))

    assert is_too_large(make_request(path, SMALL_BODY + 1, client)) is refused
    assert is_too_large(make_request(path.replace("tides", "other"), SMALL_BODY + 1, client))


def test_only_tokens_of_leads_can_upload_large_files(tides):
    secrets = {
        who: make_token(name="up", scopes=[Scope.LEAD], days=1, by=factories.user(who))[1]
        for who in ("carla", "ada")
    } | {"nobody": "rejudge_unknown"}

    refused = {
        who: is_too_large(make_request(PROGRAM, SMALL_BODY + 1, token=secret))
        for who, secret in secrets.items()
    }

    assert refused == {"carla": False, "ada": True, "nobody": True}


def test_nobody_can_upload_more_than_the_limit_of_the_installation(tides, client, settings):
    settings.MAX_UPLOAD = SMALL_BODY + 5
    client.force_login(factories.user("carla"))

    assert not is_too_large(make_request(PAGE, SMALL_BODY + 5, client))
    assert is_too_large(make_request(PAGE, SMALL_BODY + 6, client))


# --- the parser -----------------------------------------------------------------------------------


def parse(*lines: str, body: bytes = b"") -> Parser:
    """Return a request after its headers, and as much of its body as has arrived."""
    parser = Parser(Adjustments(max_request_body_size=SMALL_BODY + 1))
    data = "".join(f"{line}\r\n" for line in (*lines, "")).encode() + body
    while data and not parser.completed:
        data = data[parser.received(data) :]
    return parser


def test_a_body_that_is_too_large_is_left_unread(db):
    request = parse(
        f"POST {SIGN_IN} HTTP/1.1", f"Content-Length: {SMALL_BODY + 1}", "Expect: 100-continue"
    )

    # Complete without a body; what follows on the connection is dropped, and it is not asked for.
    assert (request.completed, request.error, request.expect_continue) == (True, None, False)
    assert request.headers["CONNECTION"] == "close"


def test_a_body_of_the_largest_size_for_everybody_is_read():
    request = parse(f"POST {SIGN_IN} HTTP/1.1", f"Content-Length: {SMALL_BODY}", body=b"x")

    assert (request.completed, request.error) == (False, None)


def test_a_lead_may_send_a_large_file_and_a_database_that_fails_lets_nobody(monkeypatch):
    lines = ("POST /projects/tides/loads/ HTTP/1.1", f"Content-Length: {SMALL_BODY + 1}")

    monkeypatch.setattr("config.web.is_too_large", lambda request: False)
    monkeypatch.setattr("config.web.close_old_connections", lambda: None)
    assert not parse(*lines, body=b"x").completed

    def fail(request):
        raise OperationalError("no connection")

    monkeypatch.setattr("config.web.is_too_large", fail)
    assert parse(*lines).completed


def test_a_body_without_a_length_is_limited_as_well():
    request = parse(
        f"POST {SIGN_IN} HTTP/1.1",
        "Transfer-Encoding: chunked",
        body=f"{SMALL_BODY + 2:x}\r\n".encode() + b"x" * (SMALL_BODY + 2),
    )
    request.close()

    assert request.error is not None
    assert request.error.code == 413


def test_a_full_disk_is_reported_to_the_sender(monkeypatch):
    def fail(self, data):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(HTTPRequestParser, "received", fail)

    request = parse("POST /projects/tides/loads/ HTTP/1.1")

    assert request.completed
    assert request.error is not None
    assert request.error.code == 507
    assert request.error.body == "The disk of the server is full. Nothing was saved."


def test_a_header_with_an_underscore_is_ignored():
    request = parse("GET / HTTP/1.1", "X_Forwarded_For: 10.0.0.1", "X-Forwarded-For: 192.0.2.1")

    assert request.headers["X_FORWARDED_FOR"] == "192.0.2.1"


# --- complete bodies ------------------------------------------------------------------------------

Application = Callable[[dict[str, Any], Callable[..., Any]], Any]


@contextlib.contextmanager
def serving(application: Application) -> Iterator[int]:
    """Serve an application in a thread of this process; yield the port."""
    server = make_server(application, "127.0.0.1", 0)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        yield int(server.effective_port)
    finally:
        # The loop may be awake already and close everything, before the byte that wakes it is sent.
        with contextlib.suppress(OSError):
            server.trigger.pull_trigger(lambda: _close(server))
        thread.join()
        server.task_dispatcher.shutdown()


def _close(server: Server) -> None:
    """Close everything that the server's loop watches, so that it ends."""
    for channel in list(server.active_channels.values()):
        channel.handle_close()
    wasyncore.close_all(server._map)


def send(port: int, path: str, **request: Any) -> tuple[HTTPResponse, bytes]:
    """Send a request; return the response and its body."""
    with contextlib.closing(HTTPConnection("127.0.0.1", port, timeout=30)) as connection:
        connection.request(request.pop("method", "GET"), path, **request)
        response = connection.getresponse()
        return response, response.read()


@pytest.mark.parametrize("size", [0, 1, 65_536, 700_000])
@pytest.mark.parametrize("chunked", [False, True])
def test_a_body_reaches_django_completely(size, chunked):
    content = os.urandom(size)

    def echo(environ, start_response):
        start_response("200 OK", [("Content-Type", "text/plain")])
        return [environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))]

    with serving(echo) as port:
        _, body = send(
            port,
            "/",
            method="POST",
            body=iter([content]) if chunked else content,
            encode_chunked=chunked,
            headers={"Transfer-Encoding": "chunked"} if chunked else {},
        )

    assert body == content


def test_slow_readers_of_long_responses_hold_no_thread():
    piece = bytes(1_000_000)

    def answer(environ, start_response):
        start_response("200 OK", [])
        return (piece for _ in range(40)) if environ["PATH_INFO"] == "/long/" else [b"short"]

    with serving(answer) as port, contextlib.ExitStack() as stack:
        slow = []
        for _ in range(THREADS + 1):
            reader = stack.enter_context(socket.create_connection(("127.0.0.1", port)))
            reader.sendall(b"GET /long/ HTTP/1.0\r\n\r\n")
            slow.append(reader)
        short = send(port, "/short/")[1]
        with slow[0].makefile("rb") as response:
            long = response.read()

    assert short == b"short"
    # The headers, and everything that was written.
    assert long.partition(b"\r\n\r\n")[2] == piece * 40


# --- the server itself ----------------------------------------------------------------------------

# Answers when the third argument is the name of a file; makes the second one when a request comes.
SLOW = """
import sys, time
from pathlib import Path
from config import web

def answer(environ, start_response):
    Path(sys.argv[2]).touch()
    while not Path(sys.argv[3]).exists():
        time.sleep(0.01)
    start_response("200 OK", [("Content-Length", "4")])
    return [b"done"]

web.application = answer
web.main("127.0.0.1", int(sys.argv[1]))
"""


def test_a_server_that_is_stopped_finishes_what_it_answers(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    began, go = tmp_path / "began", tmp_path / "go"
    argv = [sys.executable, "-c", SLOW, str(port), str(began), str(go)]
    log = tmp_path / "log"
    with running(argv, log=log, cwd=Path(settings.BASE_DIR)) as process:
        wait_until(lambda: _listens(port), "the server", process=process, log=log)
        with socket.create_connection(("127.0.0.1", port), timeout=30) as client:
            client.sendall(b"GET / HTTP/1.0\r\n\r\n")
            wait_until(began.exists, "the request", process=process, log=log)
            process.send_signal(signal.SIGTERM)
            go.touch()
            with client.makefile("rb") as response:
                answer = response.read()

        assert answer.startswith(b"HTTP/1.0 200 OK")
        assert answer.endswith(b"done")
        assert process.wait(timeout=30) == 0


def _listens(port: int) -> bool:
    with contextlib.suppress(OSError):
        socket.create_connection(("127.0.0.1", port)).close()
        return True
    return False


@pytest.mark.django_db(transaction=True)
def test_only_a_leads_large_file_is_read_by_the_server(tmp_path):
    factories.lead(factories.project("tides"), "carla")
    _, secret = make_token(name="up", scopes=[Scope.LEAD], days=1, by=factories.user("carla"))
    lines = b"".join(b"301 0 DOCUMENT-%09d 1\n" % number for number in range(200_000))
    file = SimpleUploadedFile("qrels.txt", lines)
    body = encode_multipart(BOUNDARY, {"file": file, "format": "trec-qrels"})
    assert len(body) > SMALL_BODY
    path = "/api/v1/projects/tides/loads/"
    headers = {"Host": "localhost", "Content-Type": MULTIPART_CONTENT}
    with web_server() as server:
        accepted, _ = send(
            server.port,
            path,
            method="POST",
            body=body,
            headers={**headers, "Authorization": f"Bearer {secret}"},
        )
        with socket.create_connection(("127.0.0.1", server.port), timeout=30) as stranger:
            head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n"
            stranger.sendall(f"{head}\r\nx".encode())
            with stranger.makefile("rb") as response:
                refused = response.read()

    assert accepted.status == 201
    assert Load.objects.get().file.size == len(lines)
    # Answered and closed although only one byte had arrived.
    assert refused.startswith(b"HTTP/1.1 413 ")
    assert b'"code": "too_large"' in refused


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
