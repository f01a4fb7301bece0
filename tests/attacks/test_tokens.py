"""Every kind of insufficient token x API route x verb; and what a valid token may do.

Routes come from the URL configuration, scopes from the declaration of each verb, so new routes are
tried without being listed here.
"""

from __future__ import annotations

import hashlib
import logging
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from itertools import product
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from allauth.usersessions.models import UserSession
from django.db import transaction
from django.test import Client
from django.utils import timezone

from annotate.models import Token, User
from annotate.people.tokens import make_token
from tests import factories
from tests.attacks.test_every_door import with_missing_keys, worlds, writes
from tests.test_permissions import LEADS, RIGHTS, ROUTES, VERBS, Right, World, rows

pytestmark = pytest.mark.long

__all__ = ["worlds"]

Worlds = tuple[World, World]

# They need a session: a page, and requests that pages send.
OF_PAGES = {"api_page", "annotate:api_journal"}
# A view without declared scopes: any token may read the schema.
UNDECLARED = {"api_schema"}
API = sorted(
    name
    for name, route in ROUTES.items()
    if name not in OF_PAGES and RIGHTS[name] is not Right.HIDDEN and "api_" in name
)


def operation_of(name: str, verb: str) -> Any:
    """Return the declaration of a verb of a route, or None without such a verb."""
    callback: Any = ROUTES[name].callback
    return getattr(getattr(callback.cls, verb.lower(), None), "operation", None)


DECLARED = [
    (name, verb, operation)
    for name, verb in product(API, ("GET", "POST", "PUT", "PATCH", "DELETE"))
    if name not in UNDECLARED and (operation := operation_of(name, verb)) is not None
]
PROBLEM = "application/problem+json"


def secret_of(name: str, *scopes: str, **changed: Any) -> str:
    """Return the secret of a new token with changed columns.

    Its last use is already set, so that using it writes nothing.
    """
    user = factories.user(name)
    made = make_token(name="Tried", scopes=scopes, days=1, by=user)
    Token.objects.filter(pk=made.token.pk).update(last_used_at=timezone.now(), **changed)
    return made.secret


def invalid_header(way: str) -> str:
    """Return an Authorization header that must not let a lead with every scope in."""
    now = timezone.now()
    good = secret_of("carla", "judge", "lead")
    match way:
        case "expired":
            past = {"made_at": now - timedelta(days=3), "expires_at": now - timedelta(seconds=1)}
            return f"Bearer {secret_of('carla', 'judge', 'lead', **past)}"
        case "ended":
            return f"Bearer {secret_of('carla', 'judge', 'lead', ended_at=now)}"
        case "closed":
            # "closed" is a lead of the project whose account was closed.
            return f"Bearer {secret_of('closed', 'judge', 'lead')}"
        case "its digest":
            return f"Bearer {hashlib.sha256(good.encode()).hexdigest()}"
        case "what is kept of it":
            return f"Bearer {good[:12]}"
        case "another's letters":
            return f"Bearer {good.swapcase()}"
        case "longer":
            return f"Bearer {good}, Bearer {good}"
        case "no words":
            return "Bearer "
        case "another scheme":
            return f"Token {good}"
    raise AssertionError(way)


INVALID = (
    *("expired", "ended", "closed", "its digest", "what is kept of it", "another's letters"),
    *("longer", "no words", "another scheme"),
)


@pytest.fixture(autouse=True)
def quiet(caplog: pytest.LogCaptureFixture) -> None:
    """Silence the log: thousands of requests are refused, each with a captured log line."""
    caplog.set_level(logging.CRITICAL, logger="django.request")


def send_and_undo(client: Client, url: str, verb: str) -> tuple[Any, list[str]]:
    """Send a request, undo it, and return the response and the writing statements."""
    with transaction.atomic():
        with writes() as written:
            answer: Any = client.generic(verb, url, "{}", content_type="application/json")
            # A streaming response runs its queries while it is read.
            body = answer.getvalue()
        transaction.set_rollback(True)
    answer.body = body
    return answer, written


def changes_rows(client: Client, url: str, verb: str) -> bool:
    """Return whether a request changes rows; some are refused half-way and roll back."""
    before = rows()
    with transaction.atomic():
        client.generic(verb, url, "{}", content_type="application/json").getvalue()
        left = rows() != before
        transaction.set_rollback(True)
    return left


@pytest.mark.parametrize("way", INVALID)
def test_an_invalid_token_is_refused_everywhere(worlds, repeated_requests, way, record_property):
    client = Client(headers={"Authorization": invalid_header(way)})
    failures = {}
    for name, verb, _operation in DECLARED:
        answer, written = send_and_undo(client, worlds[0].url(name), verb)
        response_kind = (answer.status_code, answer["Content-Type"])
        if response_kind != (401, PROBLEM) or "Bearer" not in answer["WWW-Authenticate"] or written:
            failures[verb, name] = (*response_kind, written)
    record_property("tried", f"tokens, {way}: {len(DECLARED)} operations")

    assert failures == {}
    assert len(DECLARED) > 130


def test_a_token_outside_its_header_is_ignored(worlds):
    secret = secret_of("carla", "judge", "lead")
    client = Client(raise_request_exception=False)
    client.cookies["Authorization"] = f"Bearer {secret}"
    client.cookies["sessionid"] = secret
    parameters = dict.fromkeys(("token", "access_token", "api_key", "authorization"), secret)
    for name in API:
        assert client.get(worlds[0].url(name), parameters).status_code == 401, name


@pytest.mark.parametrize("scope", ["judge", "lead"])
def test_a_token_without_the_scope_is_refused_before_any_lookup(
    worlds, repeated_requests, scope, record_property
):
    # An administrator who also leads the project: only the scope is missing.
    root = User.objects.get(username="root")
    factories.lead(worlds[0].project, "root")
    assert root.is_superuser
    missing = with_missing_keys(worlds[0])
    failures, tried = {}, 0
    for roles in {"judge": [(), ("lead",)], "lead": [(), ("judge",)]}[scope]:
        client = Client(headers={"Authorization": f"Bearer {secret_of('root', *roles)}"})
        for name, verb, operation in DECLARED:
            if operation.scope != scope:
                continue
            for verb_sent in {"GET": ("GET", "HEAD")}.get(verb, (verb,)):
                for world in (*worlds, missing):
                    tried += 1
                    answer, written = send_and_undo(client, world.url(name), verb_sent)
                    response_kind = (answer.status_code, answer["Content-Type"])
                    if response_kind != (403, PROBLEM) or written:
                        failures[verb_sent, name] = (*response_kind, written)
    record_property(
        "tried", f"tokens, without the scope “{scope}”: {tried:,} requests, by who may all"
    )

    assert failures == {}
    assert tried > 100


def test_reading_requires_the_scope_read_and_writing_another():
    # It analyses the text that is sent and stores nothing.
    harmless = {("annotate:api_advice", "POST")}
    scopes: Counter[tuple[str, bool]] = Counter()
    for name, verb, operation in DECLARED:
        scopes[str(operation.scope), operation.writes] += 1
        if verb == "GET":
            assert (operation.writes, operation.scope) == (False, "read"), name
        elif (name, verb) not in harmless:
            assert operation.scope in {"judge", "lead"}, (verb, name)
        if verb != "GET" and RIGHTS[name] in {*LEADS, Right.API_READ, Right.API_ADMIN}:
            assert operation.scope == "lead", (verb, name)

    assert sum(scopes.values()) == len(DECLARED) > 130
    assert scopes["read", True] == len(harmless)


def outcome_of(answer: Any, verb: str) -> tuple[int, str, bytes]:
    """Return what to compare of a response; for writes without the body, which has new keys."""
    kind = answer.get("Content-Type", "")
    return answer.status_code, kind, answer.body if verb == "GET" else b""


# Eve is to the other project what ada is to this one.
@pytest.mark.parametrize("who", ["ada", "carla", "gone", "root"])
def test_a_token_has_the_same_rights_as_its_owner(worlds, repeated_requests, who, record_property):
    token = Client(
        headers={"Authorization": f"Bearer {secret_of(who, 'judge', 'lead')}"},
        raise_request_exception=False,
    )
    session = Client(raise_request_exception=False)
    session.force_login(User.objects.get(username=who))
    failures: dict[tuple[str, str], Any] = {}
    tried = 0
    for name, verb, _operation in DECLARED:
        # The resource "me" differs by design between a token and a session.
        for world in worlds if name != "annotate:api_me" else ():
            tried += 1
            url = world.url(name)
            by_token, written = send_and_undo(token, url, verb)
            by_session, _written = send_and_undo(session, url, verb)
            if outcome_of(by_token, verb) != outcome_of(by_session, verb):
                failures[verb, url] = outcome_of(by_token, verb), outcome_of(by_session, verb)
            if by_session.status_code >= 400 and written and changes_rows(session, url, verb):
                failures[verb, url] = written
            if by_token.status_code >= 500:
                failures[verb, url] = outcome_of(by_token, verb)
    record_property(
        "tried", f"tokens beside a session, {who}: {tried:,} requests of each, own and foreign"
    )

    assert failures == {}


def of_pages() -> Iterator[str]:
    """Return every route that is not part of the API."""
    return (name for name in ROUTES if name not in API)


def sign_in_rows() -> dict[str, Any]:
    """Return all rows that let somebody sign in."""
    return {
        "tokens": list(
            Token.objects.order_by("pk").values_list("pk", "user", "digest", "ended_at")
        ),
        "passwords": list(User.objects.order_by("pk").values_list("pk", "password", "email")),
        "rights": list(User.objects.order_by("pk").values_list("is_staff", "is_superuser")),
        "factors": list(Authenticator.objects.order_by("pk").values()),
        "sessions": list(UserSession.objects.order_by("pk").values()),
    }


def test_a_token_does_not_open_pages(worlds, repeated_requests, record_property):
    root = secret_of("root", "judge", "lead")
    nobody, token = (
        Client(headers=headers, raise_request_exception=False)
        for headers in ({}, {"Authorization": f"Bearer {root}"})
    )
    before, failures, tried = sign_in_rows(), {}, 0
    for name in of_pages():
        for verb in VERBS:
            tried += 1
            url = worlds[0].url(name)
            for client in (nobody, token):
                client.cookies.clear()
            by_token, written = send_and_undo(token, url, verb)
            by_nobody, written_by_nobody = send_and_undo(nobody, url, verb)
            same = by_token.status_code == by_nobody.status_code
            if not same or by_token.get("Location") != by_nobody.get("Location"):
                failures[verb, name] = by_token.status_code, by_nobody.status_code
            if len(written) != len(written_by_nobody):
                failures[verb, name] = written, written_by_nobody
    record_property("tried", f"tokens on pages: {tried:,} requests, answered as nobody's")

    assert failures == {}
    assert sign_in_rows() == before


PASSWORD_PAGES: dict[str, dict[str, Any]] = {
    "/settings/tokens/": {"name": "Another", "scopes": ["judge", "lead"], "days": "30"},
    "/accounts/password/change/": {
        "oldpassword": factories.PASSWORD,
        "password1": "another long password",
        "password2": "another long password",
    },
    "/accounts/2fa/totp/activate/": {"code": "123456"},
    "/accounts/2fa/recovery-codes/generate/": {},
    "/accounts/email/": {"email": "eve@evil.example", "action_add": ""},
}


def test_a_token_cannot_make_tokens_or_change_sign_in_data(worlds):
    token = Client(headers={"Authorization": f"Bearer {secret_of('carla', 'judge', 'lead')}"})
    before = sign_in_rows()

    for url, form in PASSWORD_PAGES.items():
        answer: Any = token.post(url, form)
        assert answer.status_code in {302, 404}, url
        assert answer.status_code == 404 or "/accounts/login/" in answer.url

    assert sign_in_rows() == before


def test_no_request_body_has_sign_in_data(worlds):
    """No field of any request body is a password, a code or a token's scope."""
    from config.api import schema

    components = schema()["components"]["schemas"]
    bodies = {
        content["schema"]["$ref"].rpartition("/")[2]
        for verbs in schema()["paths"].values()
        for operation in verbs.values()
        for content in operation.get("requestBody", {}).get("content", {}).values()
    }
    names = {name for body in bodies for name in components[body]["properties"]}

    assert len(bodies) > 30
    assert not names & {"password", "secret", "scopes", "code", "totp", "factor", "digest"}
