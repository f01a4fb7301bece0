"""The real settings, with a clock that can be made to jump.

Every process reads how far its clock is off from a file: web processes from one, all others from
another, as on two machines that do not agree.
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
    """Return the moment that this process takes it to be."""
    # The file is replaced, never half written; until the first jump there is none.
    with contextlib.suppress(FileNotFoundError):
        return _right() + timedelta(seconds=float(_off_by.read_text()))
    return _right()


# Before any model is read, for fields keep the function that they have for a default.
timezone.now = now

STORAGES["staticfiles"] = {
    "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage",
}
# Nobody looks at the pages, so their files need no collecting.
WHITENOISE_USE_FINDERS = True
STATIC_ROOT.mkdir(exist_ok=True)
if DATABASES["default"]["ENGINE"].endswith("postgresql"):
    # A server that is gone is noticed soon.
    DATABASES["default"].setdefault("OPTIONS", {})["connect_timeout"] = 5
