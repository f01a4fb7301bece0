"""The settings that a production installation requires, and the errors without them."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from django.conf import settings

from config.required_settings import Given, missing, read_by_name

ROOT = Path(settings.BASE_DIR)
COMPLETE = Given(
    production=True,
    https=True,
    secret_key="k" * 50,
    hosts=["rejudge.example.org"],
    database_url="postgres://rejudge:secret@postgres:5432/rejudge",
    redis_url="redis://redis:6379/0",
    mail="smtp+tls://rejudge:secret@mail.example.org:587",
    mail_from="rejudge@example.org",
)
S3 = {"REJUDGE_S3_ENDPOINT": "", "REJUDGE_S3_ACCESS_KEY": "", "REJUDGE_S3_SECRET_KEY": ""}


def test_no_setting_is_required_on_ones_own_machine():
    assert missing(Given()) == []


def test_complete_settings_are_accepted():
    assert missing(COMPLETE) == []


@pytest.mark.parametrize(
    ("left_out", "begins"),
    [
        ({"debug": True}, "Set REJUDGE_DEBUG=0:"),
        ({"secret_key": ""}, "Set REJUDGE_SECRET_KEY to 50 random characters or more"),
        ({"secret_key": "k" * 49}, "Set REJUDGE_SECRET_KEY to 50 random characters or more"),
        ({"hosts": []}, "Set REJUDGE_HOSTS to the host names"),
        ({"hosts": ["*"]}, "Set REJUDGE_HOSTS to the host names"),
        ({"https": False}, "Set REJUDGE_HTTPS=1 and serve HTTPS with a proxy"),
        ({"database_url": ""}, "Set DATABASE_URL to a PostgreSQL database"),
        ({"database_url": "sqlite:////data/x"}, "Set DATABASE_URL to a PostgreSQL database"),
        ({"redis_url": ""}, "Set REDIS_URL to a Redis server"),
        ({"mail": ""}, "Set REJUDGE_MAIL to the mail server"),
        ({"mail_from": "rejudge@localhost"}, "Set REJUDGE_MAIL_FROM to the sender's address"),
    ],
)
def test_production_does_not_start_with_incomplete_settings(left_out, begins):
    (sentence,) = missing(replace(COMPLETE, **left_out))

    assert sentence.startswith(begins)
    assert sentence.endswith(".")


@pytest.mark.parametrize(
    ("settings_given", "begins"),
    [
        (Given(numbers={"REJUDGE_PROXIES": "one"}), "Set REJUDGE_PROXIES to a whole number; it is"),
        (Given(database_url="rejudge"), "Set DATABASE_URL to an address as in postgres://"),
        (Given(database_url="mysql://a:b@c/d"), "Set DATABASE_URL to an address as in postgres://"),
        (Given(mail="mail.example.org"), "Set REJUDGE_MAIL to an address as in smtp+tls://"),
        (Given(hosts=["https://a.example.org"]), "Set REJUDGE_HOSTS to names as in rejudge."),
        (Given(origins=["a.example.org"]), "Set REJUDGE_ORIGINS to addresses as in https://"),
        (Given(log="loud"), "Set REJUDGE_LOG to text or json; it is “loud”."),
        (
            Given(beside_bucket=S3 | {"REJUDGE_S3_ENDPOINT": "https://s3.example.org"}),
            "Set REJUDGE_S3_BUCKET to the bucket for files, or leave REJUDGE_S3_ENDPOINT out",
        ),
        (
            Given(bucket="files", beside_bucket=S3 | {"REJUDGE_S3_ACCESS_KEY": "a"}),
            "Set both REJUDGE_S3_ACCESS_KEY and REJUDGE_S3_SECRET_KEY, or neither",
        ),
        (Given(client="rejudge"), "Set both REJUDGE_OIDC_ISSUER and REJUDGE_OIDC_CLIENT"),
        (
            Given(issuer="https://login.example.org"),
            "Set both REJUDGE_OIDC_ISSUER and REJUDGE_OIDC_CLIENT",
        ),
        (Given(issuer="login.example.org", client="a"), "Set REJUDGE_OIDC_ISSUER to an address"),
        (
            Given(model_servers={"lab": "ftp://lab"}, model_keys={}),
            "Correct REJUDGE_MODEL_SERVERS or its key of “lab”",
        ),
        (Given(model_keys={"": "sk-1"}), "REJUDGE_MODEL_KEYS has a key without the name"),
    ],
)
def test_incomplete_pairs_of_settings_are_refused_everywhere(settings_given, begins):
    (sentence,) = missing(settings_given)

    assert sentence.startswith(begins)


def test_a_bucket_needs_no_credentials():
    assert missing(Given(bucket="files", beside_bucket=S3)) == []


def test_mail_can_be_printed_in_the_log():
    assert missing(replace(COMPLETE, mail="consolemail://", mail_from="rejudge@localhost")) == []


def test_all_missing_settings_are_reported_at_once_and_nothing_is_written(tmp_path):
    data = tmp_path / "data"
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("REJUDGE_") and name not in {"DATABASE_URL", "REDIS_URL"}
    }

    started = subprocess.run(
        [sys.executable, "manage.py", "prepare"],
        cwd=ROOT,
        env=environment
        | {
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "REJUDGE_DATA": str(data),
            "REJUDGE_PRODUCTION": "1",
            "REJUDGE_HOSTS": "rejudge.example.org",
        },
        capture_output=True,
        text=True,
    )

    first, *sentences = started.stderr.splitlines()
    assert started.returncode == 1
    assert first == "Rejudge does not start."
    assert [sentence.split()[1].partition("=")[0] for sentence in sentences] == [
        "REJUDGE_SECRET_KEY",
        "REJUDGE_HTTPS",
        "DATABASE_URL",
        "REDIS_URL",
        "REJUDGE_MAIL",
    ]
    assert not data.exists()


def test_no_sentence_about_keys_contains_one():
    given = Given(
        model_servers={"lab": "http://127.0.0.1:1/v1"},
        model_keys=read_by_name("lab=sk with a blank, sk-without-a-name"),
    )

    sentences = " ".join(missing(given))

    assert "“lab”" in sentences
    assert "sk" not in sentences.replace("asked", "")


def test_names_and_values_are_read_without_what_surrounds_them():
    assert read_by_name(" lab=http://a/v1?b=c , openai=sk-1\n") == {
        "lab": "http://a/v1?b=c",
        "openai": "sk-1",
    }
