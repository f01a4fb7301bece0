"""The web server: `python -m config.web HOST PORT PROCESSES`.

Everything the pages need is read once, before the web processes come into being as copies of this
one: so they share most of their memory, and a new one is there at once.
"""

from __future__ import annotations

import gc
import importlib
import os
import sys

import django
from granian.constants import Interfaces
from granian.log import LogLevels
from granian.server import Server

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
# Connections to the database are kept open: in the web processes, and nowhere else.
os.environ["REJUDGE_WEB_PROCESS"] = "1"

THREADS = 4
# A page that is being answered is waited for, not longer than a person would.
PATIENCE = 10


def main(host: str, port: int, processes: int) -> None:
    """Serve until told to stop."""
    _read_all()
    Server(
        "config.wsgi:application",
        address=host,
        port=port,
        interface=Interfaces.WSGI,
        workers=processes,
        blocking_threads=THREADS,
        websockets=False,
        workers_kill_timeout=PATIENCE,
        respawn_failed_workers=True,
        log_level=LogLevels.warning,
    ).serve()


def _read_all() -> None:
    """Import what answers requests. Nothing here may connect to anything or start a thread: no copy
    of a process has either.
    """
    django.setup()
    from django.conf import settings
    from django.template import engines
    from django.urls import get_resolver

    importlib.import_module(settings.ROOT_URLCONF)
    get_resolver()._populate()
    list(engines.all())
    for name in settings.MIDDLEWARE:
        importlib.import_module(name.rpartition(".")[0])
    importlib.import_module("django.core.handlers.wsgi")
    gc.collect()
    # The collector would write into every page it looks at, and so make it a process's own.
    gc.freeze()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
