"""The security headers and cookies of responses.

`tests.attacks.test_every_door` checks the headers of every route for every role.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from django.conf import settings
from django.core.handlers.wsgi import WSGIRequest
from django.test import Client, override_settings

from config.wsgi import readable
from tests import factories

ALWAYS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
POLICY = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "img-src": "'self'",
    "font-src": "'self'",
    "connect-src": "'self'",
    "form-action": "'self'",
    "base-uri": "'none'",
    "frame-ancestors": "'none'",
}


def policy(response) -> dict[str, str]:
    parts = response["Content-Security-Policy"].split("; ")
    return dict(part.split(" ", 1) for part in parts)


# Types that a browser may show; every other one is a download.
SHOWN = {"text/html", "application/json", "text/plain", ""}


def is_download(response) -> bool:
    kind = response.get("Content-Type", "").partition(";")[0]
    return response.status_code == 200 and kind not in SHOWN


def shows_file(response) -> bool:
    """Return whether a browser would show a file in place of saving it."""
    is_attachment = response.get("Content-Disposition", "").startswith("attachment")
    return is_download(response) and not is_attachment


# The icons of the API's page are `data:` URLs.
POLICY_OF_API_PAGE = {**POLICY, "img-src": "'self' data:"}


def faults(response, name: str = "") -> list[str]:
    """Return the security headers that are missing or wrong at the route `name`."""
    found = [name for name, value in ALWAYS.items() if response.get(name) != value]
    allowed = [POLICY, POLICY_OF_API_PAGE] if name == "api_page" else [POLICY]
    if policy(response) not in allowed:
        found.append(response["Content-Security-Policy"])
    if "camera=()" not in response.get("Permissions-Policy", ""):
        found.append("Permissions-Policy")
    if not {"private", "no-store"} & set(response.get("Cache-Control", "").split(", ")):
        found.append(f"Cache-Control: {response.get('Cache-Control')}")
    # Going back shows a stored response again: a part of a page must not stand for the page.
    if "HX-Request" not in response.get("Vary", "").split(", "):
        found.append(f"Vary: {response.get('Vary')}")
    if shows_file(response):
        found.append(f"no attachment: {response.get('Content-Type')}")
    if "Access-Control-Allow-Origin" in response:
        found.append("Access-Control-Allow-Origin")
    return found


def test_no_policy_allows_unsafe_code():
    assert "unsafe" not in repr(settings.CONTENT_SECURITY_POLICY)
    assert "CONTENT_SECURITY_POLICY_REPORT_ONLY" not in dir(settings)


def test_errors_send_security_headers(db, client):
    answers = {
        "no such page": client.get("/nowhere/"),
        "a strange host": client.get("/", headers={"host": "evil.example"}),
        "a NUL": client.get("/?search=a%00b"),
        "a form without its token": Client(enforce_csrf_checks=True).post("/accounts/login/", {}),
        "too much": client.generic("POST", "/accounts/login/", b"", CONTENT_LENGTH="99999999999"),
    }

    assert {what: answer.status_code for what, answer in answers.items()} == {
        "no such page": 404,
        "a strange host": 400,
        "a NUL": 400,
        "a form without its token": 403,
        "too much": 413,
    }
    assert {what: faults(answer) for what, answer in answers.items() if faults(answer)} == {}


def test_a_foreign_host_is_never_used_in_a_page(db, client):
    ada = factories.user("ada")
    client.force_login(ada)
    for name in ("Host", "X-Forwarded-Host", "X-Original-Host", "Forwarded", "X-Host"):
        answer = client.get("/accounts/login/", headers={name: "evil.example"})

        assert b"evil.example" not in answer.content, name
        assert "evil.example" not in answer.get("Location", ""), name


@pytest.mark.parametrize(
    "wanted",
    [
        "https://evil.example/",
        "//evil.example",
        "///evil.example",
        "/\\evil.example",
        "http:evil.example",
        "javascript:alert(1)",
        "\thttps://evil.example",
        "https://testserver@evil.example/",
        "/%09/evil.example",
    ],
)
def test_signing_in_never_redirects_to_another_site(db, client, wanted):
    factories.user("ada")

    answer = client.post(
        f"/accounts/login/?next={wanted}",
        {"username": "ada", "login": "ada", "password": factories.PASSWORD, "next": wanted},
    )

    assert answer.status_code == 302
    assert answer.url.startswith("/")
    assert not answer.url.startswith(("//", "/\\", "/\t"))


def test_the_session_cookie_is_hidden_from_scripts_and_other_sites(db, client):
    factories.user("ada")

    client.post(
        "/accounts/login/", {"username": "ada", "login": "ada", "password": factories.PASSWORD}
    )

    session = client.cookies[settings.SESSION_COOKIE_NAME]
    assert session["httponly"]
    assert session["samesite"] == "Lax"
    assert client.cookies["csrftoken"]["samesite"] == "Lax"


def test_cookies_are_secure_and_hsts_is_set_with_https(tmp_path):
    names = (
        "SESSION_COOKIE_SECURE CSRF_COOKIE_SECURE SESSION_COOKIE_NAME SECURE_SSL_REDIRECT "
        "SECURE_HSTS_SECONDS"
    )
    code = (
        "import json; from config import settings; "
        f"print(json.dumps([getattr(settings, name) for name in {names!r}.split()]))"
    )

    printed = subprocess.run(
        [sys.executable, "-c", code],
        cwd=settings.BASE_DIR,
        env={
            **os.environ,
            "REJUDGE_HTTPS": "1",
            "REJUDGE_DATA": str(tmp_path),
            "REJUDGE_HOSTS": "rejudge.example.org",
            "REJUDGE_SECRET_KEY": "a-key-of-this-test-alone-" + "x" * 40,
        },
        capture_output=True,
        text=True,
        check=True,
    )

    assert json.loads(printed.stdout) == [True, True, "__Host-sessionid", True, 31_536_000]


@override_settings(SECURE_SSL_REDIRECT=True, SECURE_HSTS_SECONDS=31_536_000)
def test_http_requests_are_redirected_to_https(db, client):
    assert client.get("/accounts/login/")["Location"] == "https://testserver/accounts/login/"
    assert (
        client.get("/accounts/login/", secure=True)["Strict-Transport-Security"]
        == "max-age=31536000"
    )


@pytest.mark.parametrize(
    ("sent", "read"),
    [
        ("application/json; charset=utf-8", "application/json; charset=utf-8"),
        ("text/plain; charset*=nonsense''x", ""),
        ("text/plain; charset*=utf-8'en'utf-8", "text/plain; charset*=utf-8'en'utf-8"),
    ],
)
def test_an_unreadable_content_type_is_ignored(rf, sent, read):
    seen = []

    def pages(environ, start_response):
        seen.append(WSGIRequest(environ).META["CONTENT_TYPE"])
        return []

    readable(pages)(rf.post("/").environ | {"CONTENT_TYPE": sent}, lambda *_: None)

    assert seen == [read]
