"""Settings of one test run: its own data folder, cheap password hashes, the app `errands`."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from pathlib import Path

# Several runs, and the processes of one run, must never share a database file.
_run = os.environ.get("REJUDGE_TEST_RUN")
if _run is None:
    _run = os.environ["REJUDGE_TEST_RUN"] = tempfile.mkdtemp(prefix="rejudge-")
    atexit.register(shutil.rmtree, _run, ignore_errors=True)
_data = Path(_run) / os.environ.get("PYTEST_XDIST_WORKER", "main")
_data.mkdir(mode=0o700, exist_ok=True)

# The settings of an installation on this machine must not change the outcome of a test.
_ours = ("REJUDGE_TEST_", "REJUDGE_SHARED_DATA")
for _name in list(os.environ):
    if _name == "REDIS_URL" or (_name.startswith("REJUDGE_") and not _name.startswith(_ours)):
        del os.environ[_name]
os.environ["REJUDGE_DATA"] = str(_data)

from config.settings import *  # noqa: E402, F403 (the real settings read what stands above)

# The tests of OpenID Connect configure a provider themselves.
INSTALLED_APPS += [  # noqa: F405
    "allauth.socialaccount.providers.openid_connect",
    "tests.errands",
]
# A worker process beside the test gets the test's broker and database.
BROKER_URL = os.environ.get("REJUDGE_TEST_BROKER", BROKER_URL)  # noqa: F405
if "REJUDGE_TEST_DATABASE" in os.environ:
    DATABASES["default"]["NAME"] = os.environ["REJUDGE_TEST_DATABASE"]  # noqa: F405
    # A web server beside the test serves static files from where they are.
    WHITENOISE_USE_FINDERS = True
if DATABASES["default"]["ENGINE"].endswith("sqlite3"):  # noqa: F405
    # Tests kill processes, never the machine, so writes need not wait for the disk.
    DATABASES["default"]["OPTIONS"]["init_command"] += " PRAGMA synchronous=OFF;"  # noqa: F405
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
STORAGES["staticfiles"] = {  # noqa: F405 (no collectstatic before every run)
    "BACKEND": "tests.services.static.RememberedAddresses",
}
# The same whether this checkout has made its documentation or not.
HELP = _data / "help"
EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
STATIC_ROOT.mkdir(exist_ok=True)  # noqa: F405 (whitenoise warns of a folder that is not there)
# Many tests send requests of one person within a minute; tests of rate limits set their own rates.
REST_FRAMEWORK["DEFAULT_THROTTLE_RATES"] = dict.fromkeys(("reads", "writes"))  # type: ignore[assignment]  # noqa: F405
