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
from django.core.exceptions import ImproperlyConfigured
from platformdirs import user_data_path

from config.logs import Style, logging_config
from config.required_settings import Given, missing
from config.secret import secret_key

django_stubs_ext.monkeypatch()

BASE_DIR = Path(__file__).resolve().parent.parent
# Said by exports and reports, so that a figure can be traced to the code that made it.
VERSION = tomllib.loads((BASE_DIR / "pyproject.toml").read_text())["project"]["version"]
env = environ.FileAwareEnv()

# Where the embedded database, the embedded broker, uploads and exports live.
DATA = Path(env.str("REJUDGE_DATA", default=str(user_data_path("rejudge")))).expanduser().resolve()
DATA.mkdir(parents=True, exist_ok=True, mode=0o700)

DEBUG = env.bool("REJUDGE_DEBUG", default=False)
# Behind a proxy that speaks HTTPS: cookies and redirects insist on it.
HTTPS = env.bool("REJUDGE_HTTPS", default=False)
# Uploads, exports and releases in an S3-compatible store instead of the data folder.
S3_BUCKET = env.str("REJUDGE_S3_BUCKET", default="")
S3 = {
    "REJUDGE_S3_ENDPOINT": env.str("REJUDGE_S3_ENDPOINT", default=""),
    "REJUDGE_S3_REGION": env.str("REJUDGE_S3_REGION", default=""),
    "REJUDGE_S3_ACCESS_KEY": env.str("REJUDGE_S3_ACCESS_KEY", default=""),
    "REJUDGE_S3_SECRET_KEY": env.str("REJUDGE_S3_SECRET_KEY", default=""),
    "REJUDGE_S3_PREFIX": env.str("REJUDGE_S3_PREFIX", default=""),
}
# OpenID Connect: who signs people in besides the password, if anyone.
OIDC_ISSUER = env.str("REJUDGE_OIDC_ISSUER", default="").rstrip("/")
OIDC_CLIENT = env.str("REJUDGE_OIDC_CLIENT", default="")
LOG: Style = env.str("REJUDGE_LOG", default="text")
# Where mail is handed over, and who it comes from.
MAIL = env.str("REJUDGE_MAIL", default="")
MAIL_FROM = env.str("REJUDGE_MAIL_FROM", default="rejudge@localhost")

_environment = Given(
    # For others to reach: nothing that matters may be left to a default.
    production=env.bool("REJUDGE_PRODUCTION", default=False),
    debug=DEBUG,
    https=HTTPS,
    secret_key=env.str("REJUDGE_SECRET_KEY", default=""),
    hosts=[name.strip() for name in env.list("REJUDGE_HOSTS", default=[])],
    database_url=env.str("DATABASE_URL", default=""),
    redis_url=env.str("REDIS_URL", default=""),
    log=LOG,
    bucket=S3_BUCKET,
    beside_bucket=S3,
    mail=MAIL,
    mail_from=MAIL_FROM,
    issuer=OIDC_ISSUER,
    client=OIDC_CLIENT,
)
if _wrong := missing(_environment):
    raise ImproperlyConfigured("\n".join(_wrong))

SECRET_KEY = _environment.secret_key or secret_key(DATA)
ALLOWED_HOSTS = _environment.hosts or ["localhost", "127.0.0.1", "[::1]"]
CSRF_TRUSTED_ORIGINS = env.list("REJUDGE_ORIGINS", default=[])

SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SECURE_SSL_REDIRECT = HTTPS
# A browser takes this name from this very host alone, and only over HTTPS.
SESSION_COOKIE_NAME = "__Host-sessionid" if HTTPS else "sessionid"
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if HTTPS else None
SECURE_HSTS_SECONDS = 31_536_000 if HTTPS else 0
# Who asks whether all is well stands inside, and speaks plain HTTP.
SECURE_REDIRECT_EXEMPT = [r"^(healthz|readyz|metrics)$"]
SECURE_REFERRER_POLICY = "same-origin"
SESSION_ENGINE = "config.sessions"
SESSION_COOKIE_AGE = 60 * 60 * 24 * 14
X_FRAME_OPTIONS = "DENY"

INSTALLED_APPS = [
    "config",
    "keeping",
    "exporters",
    "audit",
    "annotate",
    "jobs",
    # The administration, with everything that is done there in the audit log.
    "config.administration.AdministrationConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "django_guid",
    "django_htmx",
    "template_partials",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.socialaccount",
    "allauth.usersessions",
]
if OIDC_ISSUER:
    # It reads a client for HTTP, 5 MB, into each process.
    INSTALLED_APPS.append("allauth.socialaccount.providers.openid_connect")

MIDDLEWARE = [
    "django_guid.middleware.guid_middleware",
    "config.request_metrics.requests",
    "config.probe_host.any_name",
    # First what every answer says to a browser, so that no error and no file goes out without it.
    "django.middleware.security.SecurityMiddleware",
    # Static files need nothing of what follows, and have none of the headers of pages.
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "config.request_guard.guard",
    # Around all that writes.
    "config.disk_sync.kept_on_disk",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "config.sessions.AuthenticationMiddleware",
    "django.contrib.auth.middleware.LoginRequiredMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "base.current_request.remember",
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
            "builtins": ["base.tags.addresses"],
            "libraries": {
                "rejudge": "base.tags",
                "documents": "annotate.collection.tags",
                "judging": "annotate.judging.tags",
                "rewriting": "annotate.rewriting.tags",
                "charts": "annotate.overview.tags",
                "checks": "audit.checks.tags",
                "evaluation_charts": "exporters.evaluations.tags",
            },
        },
    },
]

# Content is text: nothing that a document, a table cell or a note holds can run.
CONTENT_SECURITY_POLICY = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "img-src": "'self'",
    "font-src": "'self'",
    "connect-src": "'self'",
    "form-action": "'self'",
    "base-uri": "'none'",
    "frame-ancestors": "'none'",
}

# Set by config/wsgi.py: connections are kept open in web processes only.
WEB = env.bool("REJUDGE_WEB_PROCESS", default=False)


def _database() -> dict[str, Any]:
    """SQLite in the data folder, or what DATABASE_URL names."""
    url = _environment.database_url
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
                # In bytes: a log that has grown larger gives back what is above, once it is moved.
                "PRAGMA journal_size_limit=67108864; "
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
# The second signs in whose name differs from another only by capitals: Django tells them apart.
AUTHENTICATION_BACKENDS = [
    "allauth.account.auth_backends.AuthenticationBackend",
    "django.contrib.auth.backends.ModelBackend",
]
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "annotate:home"
LOGOUT_REDIRECT_URL = "login"

# --- people: docs/people.md -----------------------------------------------------------------------

ACCOUNT_ADAPTER = "config.accounts.AccountAdapter"
ACCOUNT_FORMS = {
    "login": "config.accounts.LoginForm",
    "reauthenticate": "config.accounts.ReauthenticateForm",
    "add_email": "config.accounts.AddEmailForm",
    "change_password": "config.accounts.ChangePasswordForm",
    "set_password": "config.accounts.SetPasswordForm",
    "reset_password": "config.accounts.ResetPasswordForm",
    "reset_password_from_key": "config.accounts.ResetPasswordKeyForm",
}
ACCOUNT_LOGIN_METHODS = {"username", "email"}
ACCOUNT_SIGNUP_FIELDS = ["username*", "email", "password1*", "password2*"]
# An address is confirmed before it counts; nobody waits for a mail to sign in.
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_CHANGE_EMAIL = True
ACCOUNT_REAUTHENTICATION_REQUIRED = True
ACCOUNT_EMAIL_UNKNOWN_ACCOUNTS = False
ACCOUNT_EMAIL_SUBJECT_PREFIX = "[Rejudge] "
ACCOUNT_SESSION_REMEMBER = True
# A team often shares one address, so that addresses are limited loosely. "key" is an account
# together with the address or the known browser that tries (config.accounts.AccountAdapter).
ACCOUNT_RATE_LIMITS = {"login": "300/m/ip", "login_failed": "60/m/ip,5/5m/key"}
# How many proxies stand in front: the address of who asks is taken from what the first one says.
ALLAUTH_TRUSTED_PROXY_COUNT = env.int("REJUDGE_PROXIES", default=0)
MFA_ADAPTER = "config.accounts.MFAAdapter"
MFA_FORMS = {
    "authenticate": "config.accounts.AuthenticateForm",
    "reauthenticate": "config.accounts.ReauthenticateByCodeForm",
    "activate_totp": "config.accounts.ActivateTOTPForm",
}
# Nobody registers by themselves, so there is nobody to keep out with an address not theirs.
MFA_ALLOW_UNVERIFIED_EMAIL = True
MFA_TOTP_ISSUER = "Rejudge"
# A clock that goes half a minute wrong still tells the right code.
MFA_TOTP_TOLERANCE = 1

SOCIALACCOUNT_ADAPTER = "config.accounts.SocialAccountAdapter"
SOCIALACCOUNT_FORMS = {"signup": "config.accounts.OtherSignupForm"}
SOCIALACCOUNT_EMAIL_VERIFICATION = "none"
# An address that the team's own sign-in has confirmed finds the account that has it here.
SOCIALACCOUNT_EMAIL_AUTHENTICATION = True
SOCIALACCOUNT_EMAIL_AUTHENTICATION_AUTO_CONNECT = True
# Whether whoever signs in there gets an account.
OIDC_OPEN = env.bool("REJUDGE_OIDC_OPEN", default=False)
SOCIALACCOUNT_PROVIDERS: dict[str, Any] = {}
if OIDC_ISSUER:
    SOCIALACCOUNT_PROVIDERS["openid_connect"] = {
        "OAUTH_PKCE_ENABLED": True,
        "APPS": [
            {
                "provider_id": "team",
                "name": env.str("REJUDGE_OIDC_NAME", default="OpenID Connect"),
                "client_id": OIDC_CLIENT,
                "secret": env.str("REJUDGE_OIDC_SECRET", default=""),
                "settings": {"server_url": OIDC_ISSUER},
            }
        ],
    }
    # The form that leads there is sent to us, and browsers ask for the whole way.
    CONTENT_SECURITY_POLICY["form-action"] += " " + "/".join(OIDC_ISSUER.split("/")[:3])

# Mail: printed by the web process until a server is named.
vars().update(env.email_url_config(MAIL or "consolemail://"))
EMAIL_TIMEOUT = 10
DEFAULT_FROM_EMAIL = SERVER_EMAIL = MAIL_FROM

# Every word goes through the translation layer, and there is one language so far: to look for its
# words in a catalogue would take a tenth of a page's time. With a second language comes Django's
# LocaleMiddleware, which chooses; until then it would mix Django's own German words, commas and
# months into English pages.
LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English")]
USE_I18N = len(LANGUAGES) > 1
USE_TZ = True
TIME_ZONE = "UTC"

STATIC_URL = "static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATIC_ROOT = DATA / "static"
WHITENOISE_ALLOW_ALL_ORIGINS = False


def WHITENOISE_ADD_HEADERS_FUNCTION(headers: Any, _path: str, _url: str) -> None:  # noqa: N802
    """Say that no other site may use a static file."""
    headers["Cross-Origin-Resource-Policy"] = "same-origin"


# With the other headers of pages, in `config.request_guard`: a file opens no window.
SECURE_CROSS_ORIGIN_OPENER_POLICY = None
MEDIA_ROOT = DATA / "files"


def _files() -> dict[str, Any]:
    """The data folder, or a bucket."""
    if not S3_BUCKET:
        return {
            "BACKEND": "django.core.files.storage.FileSystemStorage",
            "OPTIONS": {"location": str(MEDIA_ROOT), "file_permissions_mode": 0o600},
        }
    return {
        "BACKEND": "config.bucket.Bucket",
        "OPTIONS": {
            "bucket_name": S3_BUCKET,
            "endpoint_url": S3["REJUDGE_S3_ENDPOINT"] or None,
            "region_name": S3["REJUDGE_S3_REGION"] or None,
            # Without these two, the machine's own identity opens the bucket.
            "access_key": S3["REJUDGE_S3_ACCESS_KEY"] or None,
            "secret_key": S3["REJUDGE_S3_SECRET_KEY"] or None,
            "location": S3["REJUDGE_S3_PREFIX"],
        },
    }


STORAGES: dict[str, dict[str, Any]] = {
    "default": _files(),
    "staticfiles": {"BACKEND": "config.storage.StaticStorage"},
}
# Uploads of collections are large; they go to disk beyond a megabyte and are never held in memory.
FILE_UPLOAD_MAX_MEMORY_SIZE = 1_048_576
FILE_UPLOAD_HANDLERS = [
    "config.request_guard.OnlyWanted",
    "django.core.files.uploadhandler.MemoryFileUploadHandler",
    "django.core.files.uploadhandler.TemporaryFileUploadHandler",
]
# The most that is taken at once, in bytes; larger collections are loaded from the command line.
MAX_UPLOAD = env.int("REJUDGE_MAX_UPLOAD", default=4 * 1024**3)
# What is on its way in or out: beside the data, for /tmp may be memory, and too small.
SCRATCH = DATA / "scratch"
SCRATCH.mkdir(exist_ok=True, mode=0o700)
FILE_UPLOAD_TEMP_DIR = str(SCRATCH)
DATA_UPLOAD_MAX_MEMORY_SIZE = 2_621_440

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "annotate.people.authentication.TokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
    # OPTIONS would describe a route also to who may not use it.
    "DEFAULT_METADATA_CLASS": None,
    "DEFAULT_SCHEMA_CLASS": "base.api.schema.ApiSchema",
    "EXCEPTION_HANDLER": "base.api.problems.handler",
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
    # Choices stand where they are used: named, they would need a name each in every room.
    "POSTPROCESSING_HOOKS": [],
}

# The broker: Redis for teams; for everybody else one SQLite file (`config.embedded_broker`).
REDIS_URL = _environment.redis_url
# What several processes count together, such as failed attempts to sign in; and what each may
# count for itself where that is cheaper: how much a program asks.
_redis = {
    "BACKEND": "django.core.cache.backends.redis.RedisCache",
    # Celery and Redis's own client have different names for a socket.
    "LOCATION": REDIS_URL.replace("redis+socket://", "unix://"),
}
_shared = {
    "BACKEND": "config.cache.SharedDatabaseCache",
    "LOCATION": "shared_cache",
    # Beyond as many the oldest counts are thrown away, and whoever tries begins at nought.
    "OPTIONS": {"MAX_ENTRIES": 100_000},
}
_memory = {"BACKEND": "django.core.cache.backends.locmem.LocMemCache", "LOCATION": "rates"}
CACHES: dict[str, Any] = {
    "default": _redis if REDIS_URL else _shared,
    "rates": _redis if REDIS_URL else _memory,
}
BROKER_URL = REDIS_URL or f"embedded://{DATA / 'broker.sqlite3'}"
# How `jobs.queue` publishes; the rooms know no Celery.
JOBS_DELIVER = "config.celery.deliver"

# Who brings this may read /metrics without signing in; empty: nobody.
METRICS_TOKEN = env.str("REJUDGE_METRICS_TOKEN", default="")

LOGGING = logging_config(LOG)
# Every request has an id: the proxy's, or one made here. It stands in the answer and on every line
# of the log, also on those of the jobs that it asked for.
DJANGO_GUID = {
    "GUID_HEADER_NAME": "X-Request-ID",
    "VALIDATE_GUID": True,
    "RETURN_HEADER": True,
    "EXPOSE_HEADER": False,
}
