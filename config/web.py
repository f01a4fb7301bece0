"""The web server: `python -m config.web HOST PORT PROCESSES`.

Everything the pages need is read once, before the web processes come into being as copies of this
one: so they share most of their memory, and a new one is there at once.
"""

from __future__ import annotations

import gc
import os
import resource
import sys

from config.metric_files import new_folder

# What each web process counts lies in files, where any of them finds it for /metrics. Named before
# anything is counted.
os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(new_folder())

from django.conf import settings
from django.urls import get_resolver
from granian.constants import HTTPModes, Interfaces
from granian.http import HTTP1Settings
from granian.log import LogLevels
from granian.server import Server

# Reads all that the middleware needs, and says that this is a web process.
from config import asgi
from config.parent_process import die_with

# A connection whose next request does not come, or not whole, within this time is closed. A proxy
# must close idle ones sooner: see proxy/Caddyfile.
HEADER_SECONDS = 10
# The most that the headers of one request may have, and that is read from a connection at once.
HEADER_BYTES = 65_536
# Of one process. A connection that waits takes an open file and some memory, and no thread.
MOST_CONNECTIONS = 2_000
# A page that is being answered is waited for, not longer than a person would.
PATIENCE = 10


def main(host: str, port: int, processes: int) -> None:
    """Serve until told to stop."""
    _read_all()
    _allow_open_files()
    if "REJUDGE_SUPERVISED" in os.environ:
        # A web process must not outlive this one, and keep the port from the next.
        os.register_at_fork(after_in_child=lambda: die_with(os.getppid()))
    Server(
        f"{asgi.__name__}:application",
        address=host,
        port=port,
        interface=Interfaces.ASGINL,
        workers=processes,
        backpressure=MOST_CONNECTIONS,
        # Neither browsers nor proxies speak HTTP/2 without TLS; its streams have no time limits.
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
    """Let each process have a file open for each of its connections."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 2 * MOST_CONNECTIONS
    if soft < wanted:
        wanted = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def _read_all() -> None:
    """Read what answers requests. Nothing here may connect to anything or start a thread: a copy of
    a process has neither.

    Templates are left to whoever draws them first: a process soon has a copy of its own of all that
    it uses, and of what it does not use there should be none.
    """
    get_resolver()._populate()
    gc.collect()
    # The collector would write into every page it looks at, and so make it a process's own.
    gc.freeze()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
