"""Settings of the whole installation, read once from the environment.

Every variable is listed in `.env.example`; a test compares the two.
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

from config.data_folder import make_data_folders, secret_key
from config.logs import Style, logging_config
from config.required_settings import Given, missing, read_by_name

django_stubs_ext.monkeypatch()

BASE_DIR = Path(__file__).resolve().parent.parent
# Written into exports and reports, so that a figure can be traced to the code that computed it.
VERSION = tomllib.loads((BASE_DIR / "pyproject.toml").read_text())["project"]["version"]
# How people call the commands: an installed package has a script, a checkout has manage.py.
COMMAND = "rejudge" if (BASE_DIR / "__init__.py").exists() else "manage.py"
# The documentation's pages: `bin/docs` makes them in a checkout, and a wheel has them.
HELP = BASE_DIR / "help"
env = environ.FileAwareEnv()

# Where the embedded database, the embedded broker, uploads and exports live.
DATA = Path(env.str("REJUDGE_DATA", default=str(user_data_path("rejudge")))).expanduser().resolve()

DEBUG = env.bool("REJUDGE_DEBUG", default=False)
# Whether a proxy in front serves HTTPS: cookies and redirects then require it.
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
# The OpenID Connect provider for sign-in besides passwords, if there is one.
OIDC_ISSUER = env.str("REJUDGE_OIDC_ISSUER", default="").rstrip("/")
OIDC_CLIENT = env.str("REJUDGE_OIDC_CLIENT", default="")
# The servers of language models that projects may ask: address and key by name.
MODEL_SERVERS = read_by_name(env.str("REJUDGE_MODEL_SERVERS", default=""))
MODEL_KEYS = read_by_name(env.str("REJUDGE_MODEL_KEYS", default=""))
LOG: Style = env.str("REJUDGE_LOG", default="text")
# The mail server, and the sender's address.
MAIL = env.str("REJUDGE_MAIL", default="")
MAIL_FROM = env.str("REJUDGE_MAIL_FROM", default="rejudge@localhost")
NUMBERS = {
    "REJUDGE_PROXIES": env.str("REJUDGE_PROXIES", default="0"),
    "REJUDGE_MAX_UPLOAD": env.str("REJUDGE_MAX_UPLOAD", default=str(4 * 1024**3)),
}

_environment = Given(
    # Other people can reach it: no important setting may be left to a default.
    production=env.bool("REJUDGE_PRODUCTION", default=False),
    debug=DEBUG,
    https=HTTPS,
    secret_key=env.str("REJUDGE_SECRET_KEY", default=""),
    hosts=[name.strip() for name in env.list("REJUDGE_HOSTS", default=[])],
    origins=[origin.strip().rstrip("/") for origin in env.list("REJUDGE_ORIGINS", default=[])],
    database_url=env.str("DATABASE_URL", default=""),
    redis_url=env.str("REDIS_URL", default=""),
    log=LOG,
    bucket=S3_BUCKET,
    beside_bucket=S3,
    mail=MAIL,
    mail_from=MAIL_FROM,
    numbers=NUMBERS,
    issuer=OIDC_ISSUER,
    client=OIDC_CLIENT,
    model_servers=MODEL_SERVERS,
    model_keys=MODEL_KEYS,
)
if _wrong := missing(_environment):
    raise ImproperlyConfigured("\n".join(_wrong))
# Temporary files of uploads and downloads. In the data folder, because /tmp may be in memory and
# too small.
SCRATCH = DATA / "scratch"
make_data_folders(DATA, SCRATCH)

SECRET_KEY = _environment.secret_key or secret_key(DATA)
THIS_MACHINE = ["localhost", "127.0.0.1", "[::1]"]
ALLOWED_HOSTS = _environment.hosts or THIS_MACHINE
CSRF_TRUSTED_ORIGINS = _environment.origins

SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SECURE_SSL_REDIRECT = HTTPS
# Browsers accept a cookie with this prefix only from this very host, over HTTPS.
SESSION_COOKIE_NAME = "__Host-sessionid" if HTTPS else "sessionid"
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if HTTPS else None
SECURE_HSTS_SECONDS = 31_536_000 if HTTPS else 0
# Health probes come from inside the network and use plain HTTP.
SECURE_REDIRECT_EXEMPT = [r"^(healthz|readyz|metrics)$"]
SECURE_REFERRER_POLICY = "same-origin"
SESSION_COOKIE_AGE = 60 * 60 * 24 * 14
X_FRAME_OPTIONS = "DENY"

INSTALLED_APPS = [
    "config",
    "keeping",
    "exporters",
    "audit",
    "annotate",
    "jobs",
    # The Django admin, with every change recorded in the audit log.
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
    # Only if needed: it imports an HTTP client, 5 MB in each process.
    INSTALLED_APPS.append("allauth.socialaccount.providers.openid_connect")

MIDDLEWARE = [
    "django_guid.middleware.guid_middleware",
    "config.metrics.requests",
    "config.request_guard.any_name",
    # The security headers come first, so that every error and file has them.
    "django.middleware.security.SecurityMiddleware",
    # Static files need none of the middleware below, and get none of the pages' headers.
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "config.request_guard.guard",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "config.request_guard.SignInFirst",
    "django.contrib.messages.middleware.MessageMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "base.requests.remember",
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
            # Every template may use these without `{% load %}`.
            "builtins": [
                "django.contrib.humanize.templatetags.humanize",
                "django.templatetags.static",
                "template_partials.templatetags.partials",
                "base.tags.components",
                "base.tags.figures",
                "base.tags.frame",
                "base.tags.grades",
                "base.tags.texts",
                "annotate.collection.document_rendering",
                "annotate.projects.navigation",
                "annotate.judging.tags",
                "annotate.overview.tags",
                "audit.checks.tags",
                "exporters.evaluations.charts",
            ],
        },
    },
]

# Content is text: no code in a document, a table cell or a note can run.
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
    """Return the configuration of SQLite in the data folder, or of DATABASE_URL."""
    url = _environment.database_url
    database: dict[str, Any] = (
        dict(environ.Env.db_url_config(url))
        if url
        else {"ENGINE": "django.db.backends.sqlite3", "NAME": str(DATA / "rejudge.sqlite3")}
    )
    if database["ENGINE"].endswith("sqlite3"):
        # IMMEDIATE: a writer waits at the start of its transaction and never fails in the middle.
        database["OPTIONS"] = {
            "timeout": 20,
            "transaction_mode": "IMMEDIATE",
            "init_command": (
                # FULL: a commit returns once it is on the disk, so that what people were told is
                # saved survives a power failure.
                "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; "
                # In bytes: a larger write-ahead log is cut to this size after a checkpoint.
                "PRAGMA journal_size_limit=67108864; "
                # In KiB. Web processes have a connection in each of many threads, and the system's
                # own cache; loading a file needs memory for its indexes.
                f"PRAGMA cache_size={-4_000 if WEB else -20_000};"
            ),
        }
        if database.get("NAME") != ":memory:":
            # Tests also use a file: threads and a real worker must see the same rows.
            database["TEST"] = {"NAME": os.fspath(DATA / "test.sqlite3")}
    else:
        # PostgreSQL's compiler of statements costs a page more than it saves. What the address says
        # comes after it and wins.
        options = database.setdefault("OPTIONS", {})
        options["options"] = f"-c jit=off {options.get('options', '')}".strip()
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
# The second backend is for user names that differ only by case: Django tells them apart.
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
# An address counts once it is confirmed, but signing in does not wait for the confirmation.
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_CHANGE_EMAIL = True
ACCOUNT_REAUTHENTICATION_REQUIRED = True
ACCOUNT_EMAIL_UNKNOWN_ACCOUNTS = False
ACCOUNT_EMAIL_SUBJECT_PREFIX = "[Rejudge] "
ACCOUNT_SESSION_REMEMBER = True
# A team often shares one IP address, so the limits for addresses are loose. "key" is an account
# together with the client's address or known browser (config.accounts.AccountAdapter).
ACCOUNT_RATE_LIMITS = {"login": "300/m/ip", "login_failed": "60/m/ip,5/5m/key"}
# The number of proxies in front; the client's address is the one that the first proxy reports.
ALLAUTH_TRUSTED_PROXY_COUNT = int(NUMBERS["REJUDGE_PROXIES"])
MFA_ADAPTER = "config.accounts.MFAAdapter"
MFA_FORMS = {
    "authenticate": "config.accounts.AuthenticateForm",
    "reauthenticate": "config.accounts.ReauthenticateByCodeForm",
    "activate_totp": "config.accounts.ActivateTOTPForm",
}
# There is no self-registration, so nobody can claim someone else's address.
MFA_ALLOW_UNVERIFIED_EMAIL = True
MFA_TOTP_ISSUER = "Rejudge"
# Accepts codes from a clock that is half a minute off.
MFA_TOTP_TOLERANCE = 1

SOCIALACCOUNT_ADAPTER = "config.accounts.SocialAccountAdapter"
SOCIALACCOUNT_FORMS = {"signup": "config.accounts.OtherSignupForm"}
SOCIALACCOUNT_EMAIL_VERIFICATION = "none"
# An address that the provider has confirmed signs in to the account with this address.
SOCIALACCOUNT_EMAIL_AUTHENTICATION = True
SOCIALACCOUNT_EMAIL_AUTHENTICATION_AUTO_CONNECT = True
# Whether everyone who signs in with the provider gets an account.
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
    # The sign-in form is sent to us and redirects to the provider; browsers check every redirect.
    CONTENT_SECURITY_POLICY["form-action"] += " " + "/".join(OIDC_ISSUER.split("/")[:3])

# Mail is printed by the web process until a server is set.
vars().update(env.email_url_config(MAIL or "consolemail://"))
EMAIL_TIMEOUT = 10
DEFAULT_FROM_EMAIL = SERVER_EMAIL = MAIL_FROM

# Pages are in English, whatever the browser prefers.
LANGUAGE_CODE = "en"
USE_I18N = False
USE_TZ = True
TIME_ZONE = "UTC"

STATIC_URL = "static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATIC_ROOT = DATA / "static"
WHITENOISE_ALLOW_ALL_ORIGINS = False


def WHITENOISE_ADD_HEADERS_FUNCTION(headers: Any, _path: str, _url: str) -> None:  # noqa: N802
    """Set the header that keeps other sites from using a static file."""
    headers["Cross-Origin-Resource-Policy"] = "same-origin"


# Set in `config.request_guard` with the other headers of pages; static files do not need it.
SECURE_CROSS_ORIGIN_OPENER_POLICY = None
MEDIA_ROOT = DATA / "files"


def _files() -> dict[str, Any]:
    """Return the configuration of file storage: the data folder, or a bucket."""
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
            # Without these two, the machine's own identity is used.
            "access_key": S3["REJUDGE_S3_ACCESS_KEY"] or None,
            "secret_key": S3["REJUDGE_S3_SECRET_KEY"] or None,
            "location": S3["REJUDGE_S3_PREFIX"],
        },
    }


STORAGES: dict[str, dict[str, Any]] = {
    "default": _files(),
    "staticfiles": {"BACKEND": "config.static.StaticStorage"},
}
# Uploaded collections are large: beyond a megabyte they go to disk, not to memory.
FILE_UPLOAD_MAX_MEMORY_SIZE = 1_048_576
FILE_UPLOAD_HANDLERS = [
    "config.request_guard.OnlyWanted",
    "django.core.files.uploadhandler.MemoryFileUploadHandler",
    "django.core.files.uploadhandler.TemporaryFileUploadHandler",
]
# The largest upload, in bytes; larger collections are loaded from the command line.
MAX_UPLOAD = int(NUMBERS["REJUDGE_MAX_UPLOAD"])
FILE_UPLOAD_TEMP_DIR = str(SCRATCH)
DATA_UPLOAD_MAX_MEMORY_SIZE = 2_621_440

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "annotate.people.tokens.TokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
    # OPTIONS would describe a route even to people who may not use it.
    "DEFAULT_METADATA_CLASS": None,
    "DEFAULT_SCHEMA_CLASS": "base.api.schema.ApiSchema",
    "EXCEPTION_HANDLER": "base.api.problems.handler",
    # For each person; counted in the cache.
    "DEFAULT_THROTTLE_RATES": {"reads": "1200/min", "writes": "600/min"},
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Rejudge",
    "DESCRIPTION": "Everything that the pages can do, for programs. See docs/api.md.",
    "VERSION": "1",
    "SCHEMA_PATH_PREFIX": "/api/v1/",
    "SERVE_INCLUDE_SCHEMA": False,
    # Choices are written inline: as components, each would need its own name in every app.
    "POSTPROCESSING_HOOKS": [],
}

# The broker: Redis for teams, otherwise one SQLite file (`config.embedded_broker`).
REDIS_URL = _environment.redis_url
# "default" is for counts that processes share, such as failed sign-ins: in the database, which
# sign-in needs in any case, so that nobody is locked out while Redis is away. "rates" is for the
# rate limits of the API, which each process may count for itself where that is cheaper.
CACHES: dict[str, Any] = {
    "default": {
        "BACKEND": "config.cache.SharedDatabaseCache",
        "LOCATION": "shared_cache",
        # Beyond this number the oldest counts are dropped and start again from zero.
        "OPTIONS": {"MAX_ENTRIES": 100_000},
    },
    "rates": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache", "LOCATION": "rates"},
}
if REDIS_URL:
    CACHES["rates"] = {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        # Celery and Redis's own client have different names for a socket.
        "LOCATION": REDIS_URL.replace("redis+socket://", "unix://"),
    }
BROKER_URL = REDIS_URL or f"embedded://{DATA / 'broker.sqlite3'}"
# How `jobs.queue` publishes; the apps do not import Celery.
JOBS_DELIVER = "config.celery.deliver"

# With this token, /metrics can be read without signing in; if empty, by nobody.
METRICS_TOKEN = env.str("REJUDGE_METRICS_TOKEN", default="")

LOGGING = logging_config(LOG)
# Every request has an id: the proxy's, or a new one. It is in the response and in every log line,
# including those of the jobs that the request started.
DJANGO_GUID = {
    "GUID_HEADER_NAME": "X-Request-ID",
    "VALIDATE_GUID": True,
    "RETURN_HEADER": True,
    "EXPOSE_HEADER": False,
}
