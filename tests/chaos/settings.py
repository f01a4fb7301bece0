"""The real settings, with a clock that the test can set wrong.

Every process reads the offset of its clock from a file: web processes from one, all others from
another, as on two machines with different clocks.
"""

from __future__ import annotations

import contextlib
import os
from datetime import datetime, timedelta
from pathlib import Path

from django.utils import timezone

from config.settings import *  # noqa: F403 (all of them)
from config.settings import DATABASES, STATIC_ROOT, STORAGES, WEB

_right = timezone.now
_off_by = Path(os.environ["REJUDGE_TEST_CLOCKS"]) / ("web" if WEB else "worker")


def now() -> datetime:
    """Return the time of this process's clock."""
    # The file is replaced, never half written; it does not exist before the first jump.
    with contextlib.suppress(FileNotFoundError):
        return _right() + timedelta(seconds=float(_off_by.read_text()))
    return _right()


# Before any model is imported, because fields keep the function that is their default.
timezone.now = now

STORAGES["staticfiles"] = {
    "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage",
}
# Nobody looks at the pages, so static files are not collected.
WHITENOISE_USE_FINDERS = True
STATIC_ROOT.mkdir(exist_ok=True)
if DATABASES["default"]["ENGINE"].endswith("postgresql"):
    # Notice soon if the server is down.
    DATABASES["default"].setdefault("OPTIONS", {})["connect_timeout"] = 5
