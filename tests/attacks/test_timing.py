"""Response times do not reveal others' judgments: the same queries are run.

Time itself cannot be asserted reliably on a shared machine. Queries take most of the time, and they
can be compared.
"""

from __future__ import annotations

import re
from typing import Any

from django.db import connection
from django.test import Client

from tests import factories
from tests.services.database import rolled_back
from tests.test_blindness import AnswerSet, give_answers, signed_in
from tests.test_permissions import ADMINS, LEADS, RIGHTS, ROUTES

# Literals, numbers, placeholders, and the numbered names of savepoints.
VALUES = re.compile(r"'[^']*'|\b[0-9]+\b|\"s[0-9]+_x[0-9]+\"|%s(?:, %s)*")


def shapes(client: Client, url: str) -> list[str]:
    """Return the queries behind an address, without their values."""
    found: list[str] = []

    def watch(execute: Any, sql: Any, params: Any, many: bool, context: Any) -> Any:
        found.append(VALUES.sub("?", str(sql)))
        return execute(sql, params, many, context)

    with connection.execute_wrapper(watch):
        client.get(url)
    return found


def test_the_queries_of_a_page_do_not_depend_on_others_judgments(stage, record_property):
    queries_by_way: dict[int, dict[tuple[str, str], list[str]]] = {}
    # Leads' pages are refused to all annotators alike: only ada asks for them.
    asked = [("ada", route) for route in ROUTES]
    asked += [("dan", route) for route in ROUTES if RIGHTS[route] not in {*LEADS, *ADMINS}]
    for number in (1, 2):
        with rolled_back():
            give_answers(stage, AnswerSet(number))
            clients = {name: signed_in(stage.members[name]) for name in ("ada", "dan")}
            queries_by_way[number] = {
                (name, route): shapes(clients[name], stage.world.url(route))
                for name, route in asked
            }
    record_property("tried", f"timing: queries of {len(asked):,} answers compared")

    assert {
        place for place, queries in queries_by_way[1].items() if queries != queries_by_way[2][place]
    } == set()
    assert max(map(len, queries_by_way[1].values())) > 5


def test_refusing_an_unknown_name_takes_the_same_work(db, monkeypatch, client):
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

    assert counts[0] == counts[1] > 0
    strip = re.compile(rb'name="csrfmiddlewaretoken" value="[^"]*"|"x-csrftoken": "[^"]*"')
    assert strip.sub(b"", answers[0]) == strip.sub(b"", answers[1])
