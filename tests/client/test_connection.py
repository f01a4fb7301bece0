"""The client's connection: errors become exceptions, and each request takes effect once."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest

from rejudge_client import (
    Conflict,
    Damaged,
    Forbidden,
    NotFound,
    NotSignedIn,
    Refused,
    Rejudge,
    RejudgeError,
    Unreachable,
)

Answer = Callable[[httpx2.Request], httpx2.Response]


def make_client(answer: Answer, **options: Any) -> Rejudge:
    """Return a client whose requests `answer` answers; it never sleeps."""
    return Rejudge(
        "https://rejudge.example",
        "rejudge_words",
        **{
            "transport": httpx2.MockTransport(answer),
            "sleep": lambda seconds: None,
            "progress": False,
            **options,
        },
    )


def test_every_request_has_the_token():
    seen = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        seen.append((str(request.url), request.headers["Authorization"]))
        return httpx2.Response(200, json={"username": "ada"})

    assert make_client(answer).me() == {"username": "ada"}
    assert seen == [("https://rejudge.example/api/v1/me/", "Bearer rejudge_words")]


def test_a_token_may_end_with_the_line_end_of_its_file():
    def answer(request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200, json={"sent": request.headers["Authorization"]})

    client = Rejudge("https://r.example", "words\n", transport=httpx2.MockTransport(answer))

    assert client.me() == {"sent": "Bearer words"}


def test_an_invalid_request_names_each_field_with_the_reason():
    problem = {
        "detail": "The request is not valid: see the errors.",
        "errors": [{"pointer": "/file", "detail": "The submitted file is empty."}],
    }
    client = make_client(lambda request: httpx2.Response(400, json=problem))

    with pytest.raises(Refused) as refused:
        client.me()

    assert str(refused.value) == (
        "The request is not valid: see the errors. /file: The submitted file is empty."
    )


def test_the_api_is_found_from_the_address_of_any_page():
    # Rejudge is at the root of its host; the API is found from the address of any page.
    seen = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        seen.append(request.url.path)
        return httpx2.Response(200, json={})

    transport = httpx2.MockTransport(answer)
    Rejudge("https://rejudge.example/projects/tides/", "t", transport=transport).me()

    assert seen == ["/api/v1/me/"]


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, Refused),
        (401, NotSignedIn),
        (403, Forbidden),
        (404, NotFound),
        (409, Conflict),
        (413, Refused),
        (422, Refused),
    ],
)
def test_an_error_response_is_an_exception_with_its_sentence(status, kind):
    problem = {"title": "No", "status": status, "detail": "This cannot be done.", "code": "refused"}

    with pytest.raises(kind, match=r"^This cannot be done\.$") as caught:
        make_client(lambda request: httpx2.Response(status, json=problem)).get("projects/")

    assert (caught.value.status, caught.value.problem) == (status, problem)


def test_an_error_without_problem_json_names_its_status():
    with pytest.raises(RejudgeError, match="HTTP 500"):
        make_client(lambda request: httpx2.Response(500, text="<h1>Error</h1>")).get("projects/")


@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_temporary_errors_are_retried(status):
    answers = iter([status, status, 200])
    client = make_client(lambda request: httpx2.Response(next(answers), json={"results": []}))

    assert client.get("projects/") == {"results": []}
    assert next(answers, None) is None


def test_a_retried_write_has_the_same_key():
    keys = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        keys.append(request.headers["Idempotency-Key"])
        if len(keys) < 3:
            raise httpx2.ReadTimeout("nothing came")
        return httpx2.Response(201, json={"id": 1})

    rejudge = make_client(answer)
    assert rejudge.post("projects/", {"slug": "tides"}) == {"id": 1}
    rejudge.post("projects/", {"slug": "tides"})

    assert keys[0] == keys[1] == keys[2] != keys[3]


def test_pauses_follow_retry_after_or_grow():
    pauses: list[float] = []
    headers = iter([{"Retry-After": "7"}, {}, {"Retry-After": "600"}, {"Retry-After": "soon"}])

    def answer(request: httpx2.Request) -> httpx2.Response:
        header = next(headers, None)
        if header is None:
            return httpx2.Response(200, json={})
        return httpx2.Response(429, headers=header, json={})

    make_client(answer, sleep=pauses.append).get("me/")

    assert pauses == [7.0, 1.0, 30.0, 4.0]


def test_a_server_that_never_answers_is_unreachable():
    def answer(request: httpx2.Request) -> httpx2.Response:
        raise httpx2.ConnectError("refused")

    with pytest.raises(Unreachable, match=r"rejudge\.example"):
        make_client(answer, attempts=3).me()


def test_a_list_is_read_page_after_page():
    pages = {
        "": {"results": [{"n": 1}, {"n": 2}], "next": "https://rejudge.example/api/v1/x/?cursor=b"},
        "b": {"results": [{"n": 3}], "next": None},
    }
    rejudge = make_client(
        lambda request: httpx2.Response(200, json=pages[request.url.params.get("cursor", "")])
    )

    assert list(rejudge.pages("x/")) == [{"n": 1}, {"n": 2}, {"n": 3}]


@pytest.mark.parametrize(
    "elsewhere", ["https://other.example/api/v1/x/", "http://rejudge.example/", "//other.example/"]
)
def test_a_token_is_never_sent_to_another_site(elsewhere):
    hosts = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        hosts.append(request.url.host)
        return httpx2.Response(200, json={"results": [], "next": elsewhere})

    with pytest.raises(RejudgeError, match="not followed"):
        list(make_client(answer).pages("x/"))
    assert hosts == ["rejudge.example"]


def test_a_redirect_is_not_followed():
    def answer(request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(302, headers={"Location": "https://other.example/"})

    with pytest.raises(RejudgeError, match="redirects"):
        make_client(answer).me()


@pytest.mark.parametrize("url", ["http://rejudge.example", "rejudge.example", "ftp://x", ""])
def test_a_token_is_not_sent_unencrypted(url):
    with pytest.raises(ValueError, match=r"not the address|not encrypted"):
        Rejudge(url, "rejudge_words")


@pytest.mark.parametrize("token", ["", " \n"])
def test_an_empty_token_is_refused(token):
    with pytest.raises(ValueError, match="The token is empty"):
        Rejudge("https://rejudge.example", token)


@pytest.mark.parametrize("url", ["http://localhost:8000", "http://127.0.0.1", "http://[::1]:8000"])
def test_the_local_machine_needs_no_encryption(url):
    Rejudge(url, "rejudge_words").close()


def test_a_downloaded_file_is_complete_and_has_its_name(tmp_path: Path):
    content = b"301 0 S1 2\n" * 1_000
    target = tmp_path / "here" / "qrels.txt"

    make_client(lambda request: httpx2.Response(200, content=content)).download(
        "x/qrels.txt",
        target,
        size=len(content),
        sha256=hashlib.sha256(content).hexdigest(),
    )

    assert target.read_bytes() == content
    assert [path.name for path in target.parent.iterdir()] == ["qrels.txt"]


@pytest.mark.parametrize(
    ("facts", "sentence"),
    [({"size": 4}, "5 bytes instead of 4"), ({"sha256": "0" * 64}, "SHA-256 differs")],
)
def test_a_file_that_differs_from_its_facts_is_damaged(tmp_path: Path, facts, sentence):
    target = tmp_path / "qrels.txt"
    target.write_bytes(b"as it was")

    with pytest.raises(Damaged, match=sentence):
        make_client(lambda request: httpx2.Response(200, content=b"other")).download(
            "x/qrels.txt", target, **facts
        )

    assert target.read_bytes() == b"as it was"
    assert [path.name for path in tmp_path.iterdir()] == ["qrels.txt"]


def test_an_interrupted_download_is_retried(tmp_path: Path):
    tries = []

    def broken():
        yield b"half"
        raise httpx2.ReadError("gone")

    def answer(request: httpx2.Request) -> httpx2.Response:
        tries.append(request.url.path)
        return httpx2.Response(200, content=broken() if len(tries) == 1 else b"the whole")

    make_client(answer).download("x/qrels.txt", tmp_path / "qrels.txt", size=9)

    assert (tmp_path / "qrels.txt").read_bytes() == b"the whole"


def test_a_retried_upload_starts_from_the_beginning(tmp_path: Path):
    path = tmp_path / "qrels.txt"
    path.write_bytes(b"301 0 S1 2\n" * 10_000)
    bodies: list[bytes] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        bodies.append(request.read())
        return httpx2.Response(503 if len(bodies) == 1 else 201, json={"id": 1})

    make_client(answer).upload("loads/", path, {"format": "trec-qrels", "no_grade": None})

    assert len(bodies) == 2
    assert all(body.count(b"301 0 S1 2\n") == 10_000 for body in bodies)
    assert b"no_grade" not in bodies[1]
