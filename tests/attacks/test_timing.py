"""How long a refusal takes tells nobody who has an account: the work behind it is the same.

Time itself cannot be asserted on a machine that others use. What takes time is hashing a password,
and that can be counted.
"""

from __future__ import annotations

import re

from tests import factories


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

    assert counts[0] == counts[1] > 0
    strip = re.compile(rb'name="csrfmiddlewaretoken" value="[^"]*"|"x-csrftoken": "[^"]*"')
    assert strip.sub(b"", answers[0]) == strip.sub(b"", answers[1])
