"""Environment variables for mail and OpenID Connect reach the settings."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

SHOW = """
import json
from config import settings
print(json.dumps({
    "forms": settings.CONTENT_SECURITY_POLICY["form-action"],
    "providers": settings.SOCIALACCOUNT_PROVIDERS,
    "mail": [settings.EMAIL_BACKEND.split(".")[-2], settings.EMAIL_HOST, settings.EMAIL_PORT],
    "from": settings.DEFAULT_FROM_EMAIL,
    "caches": {name: cache["BACKEND"] for name, cache in settings.CACHES.items()},
    "database": settings.DATABASES["default"]["OPTIONS"].get("options"),
}))
"""


@pytest.fixture
def read_settings(tmp_path):
    """Return a function that reads the settings of an installation with these variables only."""

    def read(**variables):
        known = {"PATH": os.environ["PATH"], "REJUDGE_DATA": str(tmp_path), **variables}
        answer = subprocess.run(
            [sys.executable, "-c", SHOW], env=known, capture_output=True, check=True, text=True
        )
        return json.loads(answer.stdout)

    return read


def test_without_variables_mail_is_printed_and_there_is_no_provider(read_settings):
    found = read_settings()

    assert found["mail"] == ["console", None, None]
    assert found["providers"] == {}
    assert found["forms"] == "'self'"
    assert found["caches"]["default"].endswith(".SharedDatabaseCache")


def test_variables_set_mail_the_provider_and_the_cache_of_rates(read_settings):
    found = read_settings(
        REJUDGE_MAIL="smtp+tls://rejudge:secret@mail.example.org:587",
        REJUDGE_MAIL_FROM="rejudge@example.org",
        REJUDGE_OIDC_ISSUER="https://login.example.org/realms/team/",
        REJUDGE_OIDC_CLIENT="rejudge",
        REJUDGE_OIDC_SECRET="hush",
        REDIS_URL="redis://redis:6379/0",
    )

    assert found["mail"] == ["smtp", "mail.example.org", 587]
    assert found["from"] == "rejudge@example.org"
    [app] = found["providers"]["openid_connect"]["APPS"]
    assert app["settings"] == {"server_url": "https://login.example.org/realms/team"}
    assert (app["client_id"], app["secret"]) == ("rejudge", "hush")
    # Browsers allow the form that leads to the provider.
    assert found["forms"] == "'self' https://login.example.org"
    assert {name: cache.rsplit(".", 1)[1] for name, cache in found["caches"].items()} == {
        # Signing in works while Redis is away.
        "default": "SharedDatabaseCache",
        "rates": "RedisCache",
    }


def test_postgresql_compiles_no_statement_whatever_else_its_address_asks_for(read_settings):
    plain = read_settings(DATABASE_URL="postgres://rejudge@db/rejudge")
    more = read_settings(
        DATABASE_URL="postgres://rejudge@db/rejudge?options=-c%20statement_timeout%3D60000"
    )

    assert plain["database"] == "-c jit=off"
    assert more["database"] == "-c jit=off -c statement_timeout=60000"
