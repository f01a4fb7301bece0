"""Settings of the whole installation, read once from the environment.

Every variable is listed in `.env.example`; a test holds the two together.
"""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import Any

import django_stubs_ext
import environ
from csp.constants import NONE, SELF
from platformdirs import user_data_path

from config.secret import secret_key

django_stubs_ext.monkeypatch()

BASE_DIR = Path(__file__).resolve().parent.parent
# Said by exports and reports, so that a figure can be traced to the code that made it.
VERSION = tomllib.loads((BASE_DIR / "pyproject.toml").read_text())["project"]["version"]
env = environ.FileAwareEnv()

# Where the embedded database, the embedded broker, uploads and exports live.
DATA = Path(env.str("REJUDGE_DATA", default=str(user_data_path("rejudge")))).expanduser().resolve()
DATA.mkdir(parents=True, exist_ok=True, mode=0o700)

SECRET_KEY = env.str("REJUDGE_SECRET_KEY", default="") or secret_key(DATA)
DEBUG = env.bool("REJUDGE_DEBUG", default=False)
ALLOWED_HOSTS = env.list("REJUDGE_HOSTS", default=["localhost", "127.0.0.1", "[::1]"])
CSRF_TRUSTED_ORIGINS = env.list("REJUDGE_ORIGINS", default=[])

# Behind a proxy that speaks HTTPS: cookies and redirects insist on it.
HTTPS = env.bool("REJUDGE_HTTPS", default=False)
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SECURE_SSL_REDIRECT = HTTPS
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if HTTPS else None
SECURE_HSTS_SECONDS = 31_536_000 if HTTPS else 0
SECURE_REFERRER_POLICY = "same-origin"
SESSION_COOKIE_AGE = 60 * 60 * 24 * 14
X_FRAME_OPTIONS = "DENY"

INSTALLED_APPS = [
    "config",
    "exporters",
    "audit",
    "annotate",
    "jobs",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "django_htmx",
    "template_partials",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "csp",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.auth.middleware.LoginRequiredMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "csp.middleware.CSPMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "annotate.personal.reader",
]

ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"

TEMPLATES: list[dict[str, Any]] = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]

# Content is text: nothing that a document, a table cell or a note holds can run.
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF],
        "font-src": [SELF],
        "connect-src": [SELF],
        "form-action": [SELF],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
    },
}

# Set by config/wsgi.py: connections are kept open in web processes only.
WEB = env.bool("REJUDGE_WEB_PROCESS", default=False)


def _database() -> dict[str, Any]:
    """SQLite in the data folder, or what DATABASE_URL names."""
    url = env.str("DATABASE_URL", default="")
    database: dict[str, Any] = (
        dict(environ.Env.db_url_config(url))
        if url
        else {"ENGINE": "django.db.backends.sqlite3", "NAME": str(DATA / "rejudge.sqlite3")}
    )
    if database["ENGINE"].endswith("sqlite3"):
        # IMMEDIATE: a writer waits at the start of its transaction, and never fails in its middle.
        database["OPTIONS"] = {
            "timeout": 20,
            "transaction_mode": "IMMEDIATE",
            "init_command": (
                "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; "
                # In KiB. Pages have a connection for each of many threads, and the system's own
                # cache behind them; a file that is loaded wants room for its indexes.
                f"PRAGMA cache_size={-4_000 if WEB else -20_000};"
            ),
        }
        if database.get("NAME") != ":memory:":
            # A file also in tests: threads and a real worker must see the same rows.
            database["TEST"] = {"NAME": os.fspath(DATA / "test.sqlite3")}
    database["CONN_MAX_AGE"] = None if WEB else 0
    database["CONN_HEALTH_CHECKS"] = WEB
    return database


DATABASES = {"default": _database()}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

AUTH_USER_MODEL = "annotate.User"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {
        "NAME": "django.contrib.auth.password_validation.MinimumLengthValidator",
        "OPTIONS": {"min_length": 10},
    },
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.NumericPasswordValidator"},
]
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "annotate:home"
LOGOUT_REDIRECT_URL = "login"

LANGUAGE_CODE = "en"
USE_I18N = True
USE_TZ = True
TIME_ZONE = "UTC"

STATIC_URL = "static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATIC_ROOT = DATA / "static"
MEDIA_ROOT = DATA / "files"
STORAGES = {
    "default": {
        "BACKEND": "django.core.files.storage.FileSystemStorage",
        "OPTIONS": {"location": str(MEDIA_ROOT), "file_permissions_mode": 0o600},
    },
    "staticfiles": {"BACKEND": "config.storage.StaticStorage"},
}
# Uploads of collections are large; they go to disk beyond a megabyte and are never held in memory.
FILE_UPLOAD_MAX_MEMORY_SIZE = 1_048_576
DATA_UPLOAD_MAX_MEMORY_SIZE = 2_621_440

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "annotate.api.authentication.TokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
    # OPTIONS would describe a route also to who may not use it.
    "DEFAULT_METADATA_CLASS": None,
    "DEFAULT_SCHEMA_CLASS": "annotate.api.schema.ApiSchema",
    "EXCEPTION_HANDLER": "annotate.api.problems.handler",
    # Of one person; counted in the cache.
    "DEFAULT_THROTTLE_RATES": {"reads": "1200/min", "writes": "600/min"},
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Rejudge",
    "DESCRIPTION": "Everything that the pages can do, for programs. See docs/api.md.",
    "VERSION": "1",
    "SCHEMA_PATH_PREFIX": "/api/v1/",
    "SERVE_INCLUDE_SCHEMA": False,
    "COMPONENT_SPLIT_PATCH": False,
    # Where several things have a kind or a state.
    "ENUM_NAME_OVERRIDES": {
        "DisagreementKindEnum": "audit.api.disagreements.KINDS",
        "DisagreementStateEnum": "audit.api.disagreements.STATES",
        "FlagKindEnum": "annotate.models.Flag.Kind",
        "JobStateEnum": "jobs.models.Job.State",
        "SampleKindEnum": "audit.models.Sample.Kind",
    },
}

# The broker: Redis for teams, one SQLite file beside the database for everybody else.
REDIS_URL = env.str("REDIS_URL", default="")
BROKER_URL = REDIS_URL or f"sqla+sqlite:///{DATA / 'broker.sqlite3'}"
# How `jobs.queue` publishes; the rooms know no Celery.
JOBS_DELIVER = "config.celery.deliver"
