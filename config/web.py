"""The web server: `python -m config.web HOST PORT PROCESSES`.

Everything that pages need is loaded once, before the web processes are forked from this one: so
they share most of their memory, and a new one starts at once.
"""

from __future__ import annotations

import gc
import json
import os
import resource
import signal
import sys
from collections.abc import Sequence
from typing import Any

from config.metric_files import new_folder

# Each web process keeps its metrics in files, so that any of them can answer /metrics for all. Set
# before the first metric is created.
if "--leaving" not in sys.argv:
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(new_folder())

from django.conf import settings
from django.urls import get_resolver
from granian.constants import HTTPModes, Interfaces
from granian.http import HTTP1Settings
from granian.log import LogLevels
from granian.server.mp import MPServer

# Imports all that the middleware needs, and marks this as a web process.
from config import asgi, web_watch
from config.parent_process import die_with

# A connection is closed if its next request's headers are not complete within this time. A proxy
# must close idle connections sooner: see proxy/Caddyfile.
HEADER_SECONDS = 10
# The limit for the headers of one request, and for one read from a connection.
HEADER_BYTES = 65_536
# Per process. A waiting connection takes an open file and some memory, but no thread.
MOST_CONNECTIONS = 2_000


class _Server(MPServer):
    """granian's server, whose main process gives its memory back once the web processes run."""

    leaving: Sequence[int] = ()

    def _serve_loop(self, spawn_target: Any, target_loader: Any) -> None:
        """Become `config.web_watch`, which waits in place of this loop. On Linux alone: elsewhere
        a process cannot wait for signals that way.
        """
        if sys.platform != "linux":
            super()._serve_loop(spawn_target, target_loader)
        again = [sys.executable, "-m", "config.web", *sys.argv[1:4]]
        serving = [worker.inner.pid for worker in self.wrks]
        facts = map(json.dumps, (again, serving, list(self.leaving)))
        os.execv(sys.executable, [sys.executable, "-S", "-m", web_watch.__name__, *facts])


def main(host: str, port: int, processes: int, leaving: Sequence[int]) -> None:
    """Serve until stopped. `leaving`: web processes that serve until these new ones do."""
    _read_all()
    _allow_open_files()
    os.register_at_fork(after_in_child=_begin_web_process)
    if sys.platform == "linux":
        # `config.web_watch` waits for them; none may come too early.
        signal.pthread_sigmask(signal.SIG_BLOCK, web_watch.SIGNALS)
    server = _Server(
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
        workers_kill_timeout=web_watch.PATIENCE,
        respawn_failed_workers=True,
        log_level=LogLevels.warning,
        log_dictconfig=settings.LOGGING,
    )
    server.leaving = leaving
    server.serve()


def _begin_web_process() -> None:
    if sys.platform == "linux":
        signal.pthread_sigmask(signal.SIG_UNBLOCK, web_watch.SIGNALS)
    # A web process must not outlive its parent and block the port for the next.
    die_with(os.getppid())


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
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), [int(pid) for pid in sys.argv[5:]])
