"""Every route x verb x role x object: of the own project, of another project, or missing.

The routes are read from the URL configuration, including the administration. RIGHTS of
`tests.test_permissions` says what a role may do with a route; a missing route fails there. Each
answer also has the security headers, and no reading verb changes a row.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from http.cookies import SimpleCookie
from typing import Any

import pytest
from django.db import connection, transaction
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse
from django.utils import timezone
from rest_framework.throttling import SimpleRateThrottle

from annotate.judgments import assignments
from annotate.models import Assignment, Project, User
from tests import factories
from tests.attacks.test_headers import faults as header_faults
from tests.attacks.test_headers import is_download
from tests.test_permissions import (
    ADMINS,
    LEADS,
    PERMITTED,
    PROGRAMS,
    RIGHTS,
    ROUTES,
    VERBS,
    Right,
    World,
    rows,
    world,
)

pytestmark = pytest.mark.long

__all__ = ["worlds"]

# A key that no row has and no database could store.
MISSING_KEY = 10**30
UUID_LIKE = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
NO_UUID = "00000000-0000-4000-8000-000000000000"

OF_ANYBODY = {Right.OPEN, Right.DOOR, Right.PERSON, Right.API_PERSON, Right.JOURNAL}
NOT_FOUND = {404, 405}
REFUSED = {403, 405}
SIGN_IN_REQUIRED = {401, 403}
# Answers of sign-in steps to people who do not need them.
NOTHING_TO_DO = {200, 302, 401, 403, 404, 405}
SIGN_IN = "/accounts/login/?next="
MEMBERS = {"ada", "dan", "carla"}
READING = {"GET", "HEAD", "OPTIONS"}
# The documentation is not made here: `tests.config.test_help` makes and reads it.
NOT_MADE = "help"


WRITE = re.compile(r"\s*(?:INSERT|UPDATE|DELETE|REPLACE|TRUNCATE|COPY)\b", re.IGNORECASE)


@contextmanager
def writes() -> Iterator[list[str]]:
    """Record the writing statements inside, except those on sessions, which signing in needs.

    Much faster than comparing every row before and after each of so many requests.
    """
    found: list[str] = []

    def watch(execute: Any, sql: Any, params: Any, many: bool, context: Any) -> Any:
        if WRITE.match(str(sql)) and "django_session" not in str(sql):
            found.append(str(sql)[:200])
        return execute(sql, params, many, context)

    with connection.execute_wrapper(watch):
        yield found


def without_session_statements(written: list[str]) -> list[str]:
    """Return the statements except those on the list of sessions, which its page updates."""
    return [one for one in written if "usersessions_usersession" not in one]


@pytest.fixture
def worlds(
    db: None, settings: Any, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> tuple[World, World]:
    """The attacked project with the whole cast, and another project with other people."""
    # The tests send far more requests per minute than the limit.
    monkeypatch.setattr(SimpleRateThrottle, "allow_request", lambda *_: True)
    settings.STORAGES = {
        **settings.STORAGES,
        "default": {
            **settings.STORAGES["default"],
            "OPTIONS": {"location": str(tmp_path / "storage")},
        },
    }
    ours = world("tides", "ada", "carla")
    Project.objects.filter(pk=ours.project.pk).update(overlap_review=2)
    ours.pair.project.refresh_from_db()
    dan = factories.member(ours.project, "dan")
    assignments.take(pair=ours.pair, task=Assignment.Task.REVIEW, by=dan)
    gone = factories.lead(ours.project, "gone")
    gone.left_at = timezone.now()
    gone.save()
    User.objects.create_user("closed", password=factories.PASSWORD, is_active=False)
    factories.lead(ours.project, "closed")
    # Its writer is asked to write again: otherwise there is nothing to read about it.
    ours.pair.narratives.current().update(
        sent_back_at=timezone.now(),
        sent_back_by=ours.project.memberships.get(name="carla"),
        sent_back_reason="Too narrow.",
    )
    return ours, world("other", "eve", "frank")


def with_missing_keys(of: World, *except_for: str) -> World:
    """Return a world with keys of missing objects, except those of `except_for`."""
    keys = {name: missing_key(key) for name, key in of.keys.items()}
    return replace(of, keys=keys | {name: of.keys[name] for name in except_for})


def missing_key(key: Any) -> Any:
    """Return a key of the same kind that no object has."""
    if isinstance(key, int):
        return MISSING_KEY
    return NO_UUID if UUID_LIKE.fullmatch(str(key)) else "nothing-of-this-name"


# Whoever left a project may still withdraw their name from it.
RIGHTS_OF_FORMER = {"annotate:naming": Right.PERSON, "annotate:api_naming": Right.API_PERSON}


def right_of(role: str, name: str) -> Right:
    """Return the right that a route needs from a role."""
    return RIGHTS_OF_FORMER.get(name, RIGHTS[name]) if role == "gone" else RIGHTS[name]


def expected(role: str, right: Right, whose: str) -> set[int] | None:
    """Return the statuses that a role may get; None: the role is let in."""
    if right is Right.HIDDEN:
        return None if role == "root" else NOT_FOUND
    if role in {"anonymous", "closed"}:
        if right is Right.DOOR:
            return NOTHING_TO_DO
        if right is Right.OPEN:
            return None
        return SIGN_IN_REQUIRED if right in PROGRAMS else {302}
    if right is Right.DOOR and role == "ada":
        return NOTHING_TO_DO
    if right in OF_ANYBODY:
        return None
    if right in {Right.STAFF, *ADMINS}:
        return None if role == "root" else NOT_FOUND | REFUSED
    member = role in MEMBERS and whose in {"own", "missing"}
    if not member:
        return NOT_FOUND
    if whose == "missing":
        return NOT_FOUND if role == "carla" or right not in LEADS else NOT_FOUND | REFUSED
    if role == "carla" or right not in LEADS:
        return None
    return REFUSED


def missing_answer(role: str, right: Right, statuses: dict[str, int]) -> str:
    """Return what is missing among a role's answers to all verbs on its own project, or ""."""
    found = set(statuses.values())
    let_in = PERMITTED[right in PROGRAMS]
    match role, right:
        case "anonymous" | "closed", _:
            return ""
        case "stranger" | "gone", _ if right not in OF_ANYBODY | ADMINS | {Right.STAFF}:
            return "" if 404 in found else "does not get 404"
        case "root", _ if right in ADMINS:
            good = let_in & found and not {403, 404, 500} & found
            return "" if good else "is not let in"
        case "root" | "stranger" | "gone", _:
            return ""
        case _, Right.STAFF | Right.ADMIN | Right.API_ADMIN:
            return "" if 403 in found else "is not refused"
        case "carla", _ if right in LEADS:
            # Objects that do not exist yet are not found, also by a lead, and an empty body lacks
            # fields; but nothing is forbidden.
            good = {404, 409, *let_in} & found and not {403, 500} & found
            return "" if good else "is not let in"
        case "ada" | "dan", _ if right in LEADS:
            return "" if 403 in found else "is not refused"
        case "ada" | "dan", Right.READ:
            good = (statuses["GET"], statuses["POST"]) == (200, 403)
            return "" if good else "reads nothing, or writes"
        case "ada" | "dan", Right.API_READ:
            writing = {status for verb, status in statuses.items() if verb not in {"GET", "HEAD"}}
            good = statuses["GET"] == statuses["HEAD"] == 200 and writing == {403, 405}
            return "" if good else "reads nothing, or writes"
        case "ada", Right.OPEN | Right.PERSON | Right.MEMBER | Right.API | Right.API_PERSON:
            good = let_in & found and not {403, 404, 500} & found
            return "" if good else "is not let in"
    return ""


def signed_in(role: str) -> Client:
    client = Client(raise_request_exception=False)
    if role == "closed":
        # A session from before the account was closed.
        User.objects.filter(username="closed").update(is_active=True)
        client.force_login(User.objects.get(username="closed"))
        User.objects.filter(username="closed").update(is_active=False)
    elif role != "anonymous":
        client.force_login(User.objects.get(username=role))
    return client


def tries(worlds: tuple[World, World], role: str) -> Iterator[tuple[str, str, str]]:
    """Yield the name of a route, whose object it is, and the address.

    To people outside the project its own objects are foreign already.
    """
    ours, others = worlds
    nothing, missing = with_missing_keys(ours), with_missing_keys(ours, "slug")
    for name in RIGHTS:
        yield name, "own", ours.url(name)
        if role not in MEMBERS:
            continue
        if ROUTES[name].pattern.converters:
            yield name, "foreign", others.url(name)
            yield name, "nobody's", nothing.url(name)
        if {"slug", "pk"} <= ROUTES[name].pattern.converters.keys():
            yield name, "missing", missing.url(name)


@pytest.mark.parametrize(
    "role", ["anonymous", "closed", "eve's", "gone", "root", "ada", "dan", "carla"]
)
def test_roles_are_let_in_only_by_right_and_reading_changes_nothing(
    worlds, repeated_requests, role, record_property
):
    if role == "eve's":
        # The lead of a third project.
        role = factories.lead(factories.project("third"), "stranger").name
    client = signed_in(role)
    tried = downloads = 0
    failures: dict[tuple[str, ...], Any] = {}
    changed: dict[tuple[str, str], list[str]] = {}
    before, session = rows(), client.cookies.output(header="")
    # The verbs that the route takes from this role on its own object.
    taken: tuple[str, ...] = ()
    for name, whose, url in tries(worlds, role):
        allowed, statuses = expected(role, right_of(role, name), whose), {}
        # No code asks which verb was sent before it has looked for the project.
        for verb in {"own": VERBS, "nobody's": ("GET", "POST")}.get(whose, taken):
            tried += 1
            # Restore the session, also after a request that signed out.
            client.cookies = SimpleCookie(session)
            with transaction.atomic():
                with writes() as written:
                    answer: Any = client.generic(verb, url)
                if (written_rows := without_session_statements(written)) and (
                    allowed is not None or (verb in READING and rows() != before)
                ):
                    changed[verb, url] = written_rows
                transaction.set_rollback(True)
            statuses[verb] = status = answer.status_code
            downloads += is_download(answer)
            if missing_headers := header_faults(answer, name):
                failures[verb, whose, name] = missing_headers
            if allowed == {302} and not answer.url.startswith(SIGN_IN):
                failures[verb, whose, name] = answer.url
            if status >= 500 or (allowed is not None and status not in allowed):
                failures[verb, whose, name] = status
            if allowed is None and role == "carla" and whose == "own" and status == 403:
                failures[verb, whose, name] = status
        if whose != "own":
            continue
        taken = tuple(verb for verb, status in statuses.items() if status != 405)
        if name == NOT_MADE:
            continue
        if missing := missing_answer(role, right_of(role, name), statuses):
            failures[whose, name] = (missing, statuses)
    record_property(
        "tried",
        f"permission matrix, {role}: {len(RIGHTS)} routes x {len(VERBS)} verbs, {tried:,} requests",
    )

    assert failures == {}
    assert downloads or role != "carla"
    assert changed == {}
    assert rows() == before


def test_a_missing_object_and_a_foreign_one_get_the_same_answer(worlds):
    ours, others = worlds
    client = signed_in("carla")

    for name in RIGHTS:
        if {"slug", "pk", "narrative", "condition"}.isdisjoint(ROUTES[name].pattern.converters):
            continue
        foreign = client.get(others.url(name))
        nothing = client.get(with_missing_keys(ours).url(name))

        assert foreign.status_code == nothing.status_code, name
        if foreign.status_code == 404:
            plain = [body.content.replace(b"other", b"") for body in (foreign, nothing)]
            assert len(set(plain)) == 1, name


def administration() -> dict[str, str]:
    """Return every address of the administration by its name."""
    found: dict[str, str] = {}

    def walk(patterns: Any) -> None:
        for entry in patterns:
            if isinstance(entry, URLResolver):
                walk(entry.url_patterns)
            elif isinstance(entry, URLPattern) and entry.name:
                values: dict[str, Any] = dict.fromkeys(entry.pattern.converters, 1)
                if entry.name == "view_on_site":
                    values = {"content_type_id": 1, "object_id": 1}
                if entry.name == "app_list":
                    values = {"app_label": "annotate"}
                if entry.name == "auth_user_password_change":
                    values = {"id": 1}
                found[entry.name] = reverse(f"admin:{entry.name}", kwargs=values)

    for entry in get_resolver().url_patterns:
        if isinstance(entry, URLResolver) and entry.app_name == "admin":
            walk(entry.url_patterns)
    return found


OPEN_IN_ADMINISTRATION = {"login", "jsi18n", "logout"}


@pytest.mark.parametrize("role", ["anonymous", "closed", "ada", "carla"])
def test_the_administration_is_only_for_staff(worlds, repeated_requests, role, record_property):
    client = signed_in(role)
    doors = administration()
    before = rows()
    failures = {}
    for name, url in doors.items():
        for verb in VERBS:
            with transaction.atomic():
                response = client.generic(verb, url)
                transaction.set_rollback(True)
            sent = response.status_code == 302 and "/login/" in response.headers["Location"]
            if name in OPEN_IN_ADMINISTRATION:
                assert response.status_code < 500, name
            elif not sent and response.status_code not in NOT_FOUND | REFUSED:
                failures[verb, name] = response.status_code
    record_property(
        "tried",
        f"permission matrix, {role}: administration, {len(doors)} routes x {len(VERBS)} verbs = "
        f"{len(doors) * len(VERBS):,} requests",
    )

    assert rows() == before
    assert failures == {}
    assert len(doors) > 20
