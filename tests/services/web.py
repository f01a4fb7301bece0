"""A real web server on the test's database, which a test can kill and start again."""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path

from django.conf import settings
from django.db import connection

from config.management.commands.serve import web_command
from tests.services.processes import running, short_folder, wait_until


class WebServer:
    """A web server at `url`."""

    def __init__(self, port: int, folder: Path) -> None:
        self.port, self.url = port, f"http://localhost:{port}"
        self._folder = folder
        self._stack = contextlib.ExitStack()

    def start(self) -> None:
        """Start the server, and return when it answers."""
        env = {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "tests.settings",
            "REJUDGE_TEST_DATABASE": str(connection.settings_dict["NAME"]),
        }
        log = self._folder / "log"
        argv = web_command("127.0.0.1", self.port)
        self._process = self._stack.enter_context(
            running(argv, log=log, env=env, cwd=settings.BASE_DIR)
        )
        wait_until(self._answers, "the web server", process=self._process, log=log)

    def kill(self) -> None:
        """Kill the server at once."""
        self._process.kill()
        self._process.wait()
        self._stack.close()
        wait_until(lambda: not self._answers(), "the web server to be gone")

    def stop(self) -> None:
        """Stop the server and wait for it."""
        self._stack.close()

    def _answers(self) -> bool:
        try:
            with contextlib.closing(HTTPConnection("127.0.0.1", self.port, timeout=5)) as server:
                server.request(
                    "GET", "/accounts/login/", headers={"Host": f"localhost:{self.port}"}
                )
                return server.getresponse().status == 200
        except OSError:
            return False


@contextlib.contextmanager
def web_server() -> Iterator[WebServer]:
    """Run a web server on a free port of this machine."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with short_folder("web") as folder:
        server = WebServer(port, folder)
        try:
            server.start()
            yield server
        finally:
            server.stop()
