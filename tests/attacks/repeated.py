"""Speed up thousands of requests of the same few people by caching what they read."""

from __future__ import annotations

import copy
import logging
from functools import cache
from typing import Any

import pytest
from django.contrib.auth.backends import ModelBackend
from django.contrib.sessions.backends.db import SessionStore
from django.http import HttpRequest, HttpResponse, HttpResponseForbidden
from django.middleware import csrf
from django.template.loader import render_to_string
from django.urls import get_resolver

from config import request_guard


@pytest.fixture
def repeated_requests(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    """Read each session and user once, resolve each address once, and log nothing.

    Each page that refuses a request is rendered once.

    Only for tests in which every request is undone or refused: the next request would not see
    changes of a session or a user.
    """
    sessions: dict[str | None, dict[str, Any]] = {}
    users: dict[Any, Any] = {}
    load, get_user = SessionStore.load, ModelBackend.get_user

    def load_once(self: SessionStore) -> dict[str, Any]:
        key = self.session_key
        if key not in sessions:
            found = load(self)
            if self.session_key is None:
                return found
            sessions[key] = found
        return copy.deepcopy(sessions[key])

    def get_user_once(self: ModelBackend, user_id: Any) -> Any:
        if user_id not in users:
            users[user_id] = get_user(self, user_id)
        # A request may cache rows on its user; the next one must start without them.
        return copy.copy(users[user_id])

    draw_forged = csrf._get_failure_view()  # type: ignore[attr-defined]
    forged: dict[tuple[Any, str], bytes] = {}

    def refuse_forged(request: HttpRequest, reason: str = "") -> HttpResponse:
        key = request.user.pk, reason
        if key not in forged:
            forged[key] = draw_forged(request, reason=reason).content
        return HttpResponseForbidden(forged[key])

    monkeypatch.setattr(csrf, "_get_failure_view", lambda: refuse_forged)
    resolver = get_resolver()
    monkeypatch.setattr(resolver, "resolve", cache(resolver.resolve))
    monkeypatch.setattr(SessionStore, "load", load_once)
    monkeypatch.setattr(ModelBackend, "get_user", get_user_once)
    monkeypatch.setattr(request_guard, "render_to_string", cache(render_to_string))
    caplog.set_level(logging.CRITICAL, logger="django.request")
