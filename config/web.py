"""The web server: `python -m config.web HOST PORT`.

waitress receives a request completely before one of its threads answers it, and sends responses
from memory or a file, so a slow client holds no thread. Only the limit on bodies is our own:
waitress has one for all addresses, here it depends on the address and on the sender.
"""

from __future__ import annotations

import copy
import gc
import signal
import socket
import sys
from collections.abc import Callable
from io import BytesIO
from typing import Any

from django.core.handlers.wsgi import WSGIRequest
from django.db import DatabaseError, close_old_connections
from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser
from waitress.server import TcpWSGIServer
from waitress.utilities import Error

# First: the rest needs Django set up.
from config.wsgi import application  # isort: split

# Loads all pages, so that the first request does not wait for it.
import config.urls  # noqa: F401
from config.request_guard import SMALL_BODY, is_too_large
from jobs.errors import is_full

# How many requests are answered at the same time.
THREADS = 4
# A waiting connection takes an open file, and many systems allow a process 1,024 of them.
MOST_CONNECTIONS = 800
# Bytes of headers, and of a body in memory; the rest of a body is in a file. So all waiting
# connections together take little memory.
IN_MEMORY = 65_536


class _DiskFull(Error):
    """The response to a body that the disk has no space for."""

    code = 507
    reason = "Insufficient Storage"


class Parser(HTTPRequestParser):
    """Reads a request, but no body that its sender may not send."""

    # waitress' settings, and the response if it refuses the request itself.
    adj: Any
    error: Error | None

    def parse_header(self, header_plus: bytes) -> None:
        """Read the headers. If the body is refused, the request is complete without it."""
        super().parse_header(header_plus)
        if self.content_length <= SMALL_BODY:
            return
        self.adj = copy.copy(self.adj)
        self.adj.max_request_body_size = self.content_length + 1
        if self._is_refused():
            # Django refuses it as well, with a page or problem JSON. The bytes that follow on this
            # connection are the body, not another request.
            self.headers["CONNECTION"] = "close"
            self.expect_continue, self.completed = False, True

    def received(self, data: bytes) -> int:
        """Read more of the request, and return how many bytes."""
        try:
            return int(super().received(data))
        except OSError as error:
            if not is_full(error):
                raise
            self.error = _DiskFull("The disk of the server is full. Nothing was saved.")
            self.completed = True
            return len(data)

    def _is_refused(self) -> bool:
        request = WSGIRequest(
            {
                "REQUEST_METHOD": self.command,
                "PATH_INFO": self.path,
                "CONTENT_LENGTH": str(self.content_length),
                "HTTP_COOKIE": self.headers.get("COOKIE", ""),
                "HTTP_AUTHORIZATION": self.headers.get("AUTHORIZATION", ""),
                "wsgi.input": BytesIO(),
            }
        )
        close_old_connections()
        try:
            return is_too_large(request)
        except DatabaseError:
            # Django meets the same error, and explains it.
            return True


class _Channel(HTTPChannel):
    parser_class = Parser


class Server(TcpWSGIServer):
    """waitress' server, with our limit on bodies. Several processes can listen at one port."""

    channel_class = _Channel

    def set_reuse_addr(self) -> None:
        """Let the kernel share connections among all processes that listen at the port."""
        super().set_reuse_addr()
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)


def make_server(application: Callable[..., Any], host: str, port: int) -> Server:
    """Return a server of a WSGI application that listens; `run` serves."""
    return Server(
        application,
        host=host,
        port=port,
        threads=THREADS,
        connection_limit=MOST_CONNECTIONS,
        max_request_header_size=IN_MEMORY,
        inbuf_overflow=IN_MEMORY,
        # Of bodies without a Content-Length; the parser sets it for others.
        max_request_body_size=SMALL_BODY + 1,
        recv_bytes=262_144,
        # Never lets a thread wait until a client has read the response.
        outbuf_high_watermark=sys.maxsize,
        # Django reads these headers, if a proxy is set.
        clear_untrusted_proxy_headers=False,
        # `select` has a limit of 1,024 open files.
        asyncore_use_poll=True,
    )


def main(host: str, port: int) -> None:
    """Serve Django until stopped; then finish the requests that are being answered."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    # What is loaded now stays as long as the process: the garbage collector need not look at it.
    gc.freeze()
    make_server(application, host, port).run()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
