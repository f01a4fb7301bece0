"""The web server: `python -m config.web HOST PORT PROCESSES`.

Everything the pages need is read once, before the web processes come into being as copies of this
one: so they share most of their memory, and a new one is there at once.
"""

from __future__ import annotations

import gc
import os
import sys
from pathlib import Path

from config.counts import new_folder

# What each web process counts lies in files, where any of them finds it for /metrics. Named before
# anything is counted.
os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(new_folder())

from django.conf import settings
from django.template import engines
from django.urls import get_resolver
from django.utils import translation
from granian.constants import Interfaces
from granian.log import LogLevels
from granian.server import Server

# Reads all that the middleware needs, and says that this is a web process.
from config import wsgi
from config.lifeline import die_with

THREADS = 4
# A page that is being answered is waited for, not longer than a person would.
PATIENCE = 10


def main(host: str, port: int, processes: int) -> None:
    """Serve until told to stop."""
    _read_all()
    if "REJUDGE_SUPERVISED" in os.environ:
        # A web process must not outlive this one, and keep the port from the next.
        os.register_at_fork(after_in_child=lambda: die_with(os.getppid()))
    Server(
        f"{wsgi.__name__}:application",
        address=host,
        port=port,
        interface=Interfaces.WSGI,
        workers=processes,
        blocking_threads=THREADS,
        websockets=False,
        workers_kill_timeout=PATIENCE,
        respawn_failed_workers=True,
        log_level=LogLevels.warning,
        log_dictconfig=settings.LOGGING,
    ).serve()


def _read_all() -> None:
    """Read what answers requests: routes, words, templates. Nothing here may connect to anything or
    start a thread: a copy of a process has neither.
    """
    get_resolver()._populate()
    with translation.override(settings.LANGUAGE_CODE):
        translation.gettext("")
    for folder in map(Path, settings.TEMPLATES[0]["DIRS"]):
        for template in folder.rglob("*.html"):
            engines["django"].get_template(str(template.relative_to(folder)))
    gc.collect()
    # The collector would write into every page it looks at, and so make it a process's own.
    gc.freeze()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
