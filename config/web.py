"""The web server: `python -m config.web HOST PORT PROCESSES`.

Everything that pages need is loaded once, before the web processes are forked from this one: so
they share most of their memory, and a new one starts at once.
"""

from __future__ import annotations

import gc
import os
import resource
import sys

from config.metric_files import new_folder

# Each web process keeps its metrics in files, so that any of them can answer /metrics for all. Set
# before the first metric is created.
os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(new_folder())

from django.conf import settings
from django.urls import get_resolver
from granian.constants import HTTPModes, Interfaces
from granian.http import HTTP1Settings
from granian.log import LogLevels
from granian.server import Server

# Imports all that the middleware needs, and marks this as a web process.
from config import asgi
from config.parent_process import die_with

# A connection is closed if its next request's headers are not complete within this time. A proxy
# must close idle connections sooner: see proxy/Caddyfile.
HEADER_SECONDS = 10
# The limit for the headers of one request, and for one read from a connection.
HEADER_BYTES = 65_536
# Per process. A waiting connection takes an open file and some memory, but no thread.
MOST_CONNECTIONS = 2_000
# In seconds. When stopping, the server waits this long for responses under way.
PATIENCE = 10


def main(host: str, port: int, processes: int) -> None:
    """Serve until stopped."""
    _read_all()
    _allow_open_files()
    if "REJUDGE_SUPERVISED" in os.environ:
        # A web process must not outlive this one and block the port for the next.
        os.register_at_fork(after_in_child=lambda: die_with(os.getppid()))
    Server(
        f"{asgi.__name__}:application",
        address=host,
        port=port,
        interface=Interfaces.ASGINL,
        workers=processes,
        backpressure=MOST_CONNECTIONS,
        # Browsers and proxies do not use HTTP/2 without TLS, and its streams have no time limits.
        http=HTTPModes.http1,
        http1_settings=HTTP1Settings(
            header_read_timeout=1_000 * HEADER_SECONDS, max_buffer_size=HEADER_BYTES
        ),
        websockets=False,
        workers_kill_timeout=PATIENCE,
        respawn_failed_workers=True,
        log_level=LogLevels.warning,
        log_dictconfig=settings.LOGGING,
    ).serve()


def _allow_open_files() -> None:
    """Raise the limit on open files, so that each connection of a process can have one."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 2 * MOST_CONNECTIONS
    if soft < wanted:
        wanted = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def _read_all() -> None:
    """Load the routes before forking.

    Nothing here may open a connection or start a thread: a forked process must not inherit either.

    Templates are loaded on first use: a process soon has its own copy of everything that it uses,
    and should have no templates that it does not use.
    """
    get_resolver()._populate()
    gc.collect()
    # The garbage collector would write into every memory page it visits, and so end its sharing.
    gc.freeze()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
