"""How long an answer takes tells nobody what others said: the work behind it is the same.

Time itself cannot be asserted on a machine that others use. What takes time here are queries, and
those can be counted.
"""

from __future__ import annotations

import re

from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from tests import factories
from tests.test_blindness import BLIND, HOW_FAR, Way, addresses, signed_in, speak, undone
from tests.test_permissions import RIGHTS, ROUTES, Right

VALUES = re.compile(r"'[^']*'|\b[0-9]+\b")


def shapes(client: Client, url: str) -> list[str]:
    """The queries behind an address, without what they ask for."""
    with CaptureQueriesContext(
        connection,
    ) as queries:
        client.get(url)
    return [VALUES.sub("?", query["sql"]) for query in queries.captured_queries]


def test_the_queries_behind_a_page_are_the_same_whatever_others_said(stage, record_property):
    told: dict[int, dict[tuple[str, str], list[str]]] = {}
    doors = addresses(stage)
    for number in (1, 2):
        with undone():
            speak(stage, Way(number))
            told[number] = {
                (name, url): shapes(signed_in(stage.members[name]), url)
                for name in BLIND
                for url in doors
            }
    record_property("tried", f"timing: queries of {len(told[1]):,} answers compared")

    differ = {key for key, queries in told[1].items() if queries != told[2][key]}

    assert differ == set()
    assert len(ROUTES) > len(HOW_FAR)
    assert any(RIGHTS[name] is Right.MEMBER for name in ROUTES)


def test_a_name_that_is_nobodys_takes_the_same_work_to_refuse(db, monkeypatch, client):
    hashed: list[str] = []
    from django.contrib.auth import hashers

    real = hashers.MD5PasswordHasher.encode

    def encode(self, password, *rest):
        hashed.append(password)
        return real(self, password, *rest)

    monkeypatch.setattr(hashers.MD5PasswordHasher, "encode", encode)
    factories.user("ada")
    counts = []
    answers = []
    for name in ("ada", "nobody"):
        hashed.clear()
        answers.append(
            client.post(
                "/accounts/login/", {"username": name, "login": name, "password": "wrong"}
            ).content.replace(name.encode(), b"")
        )
        counts.append(len(hashed))

    assert counts[0] == counts[1] == 1
    strip = re.compile(rb'name="csrfmiddlewaretoken" value="[^"]*"|"x-csrftoken": "[^"]*"')
    assert strip.sub(b"", answers[0]) == strip.sub(b"", answers[1])
