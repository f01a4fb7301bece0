"""The settings of one test run: a data folder of its own, cheap passwords, no broker."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from pathlib import Path

# Several runs, and the processes of one run, must never meet in the same database file.
_run = os.environ.get("REJUDGE_TEST_RUN")
if _run is None:
    _run = os.environ["REJUDGE_TEST_RUN"] = tempfile.mkdtemp(prefix="rejudge-")
    atexit.register(shutil.rmtree, _run, ignore_errors=True)
_data = Path(_run) / os.environ.get("PYTEST_XDIST_WORKER", "main")
_data.mkdir(mode=0o700, exist_ok=True)

for _name in [name for name in os.environ if name.startswith("REJUDGE_") or name == "REDIS_URL"]:
    # What this machine's own installation is set to must not decide how a test ends.
    if _name not in {"REJUDGE_TEST_RUN", "REJUDGE_SHARED_DATA"}:
        del os.environ[_name]
os.environ["REJUDGE_DATA"] = str(_data)

from config.settings import *  # noqa: E402, F403 (the real settings read what stands above)

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
STORAGES["staticfiles"] = {  # noqa: F405 (no collectstatic before every run)
    "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage",
}
EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
STATIC_ROOT.mkdir(exist_ok=True)  # noqa: F405 (whitenoise warns of a folder that is not there)
