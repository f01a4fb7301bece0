"""A program that uses the API, for tests."""

from __future__ import annotations

import json
from typing import Any

from django.test import Client

from annotate.people.tokens import make_token
from tests import factories


class Program:
    """A person's program: it has a token, but no session and no cookies."""

    def __init__(self, name: str, *scopes: str) -> None:
        self.made = make_token(name="Notebook", scopes=scopes, days=1, by=factories.user(name))
        self.client = Client(headers={"Authorization": f"Bearer {self.made.secret}"})

    def get(self, path: str, **headers: str) -> Any:
        return self.client.get(f"/api/v1/{path}", headers=headers)

    def send(self, verb: str, path: str, content: Any = None, **headers: str) -> Any:
        body = "" if content is None else json.dumps(content)
        return self.client.generic(
            verb, f"/api/v1/{path}", body, content_type="application/json", headers=headers
        )
