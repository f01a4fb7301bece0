"""The ASGI application: reads each request's body, then lets Django answer in a thread.

No thread waits for a client. The event loop reads the body (in memory up to `IN_MEMORY` bytes, in a
file beyond) and gives up if it arrives too slowly. A thread starts once the body is complete. The
response is in memory or in a file before it is sent, so a client that reads slowly holds no thread.
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import itertools
import tempfile
from collections.abc import Awaitable, Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from http import HTTPStatus
from typing import IO, Any, NamedTuple
from urllib.parse import unquote_to_bytes

from django.conf import settings

# First: the rest needs Django set up.
from config.wsgi import application as django  # isort: split

from config.request_bodies import LITTLE, REFUSED, is_refused, seconds_for
from jobs.unavailable import is_full

Message = dict[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Environ = dict[str, Any]

# How many requests one process answers at the same time.
THREADS = 3
# How many threads of one process read and write files for bodies and responses.
FILE_THREADS = 2
# Bytes of one body that are held in memory.
IN_MEMORY = 65_536
# Bytes that are read from and written to a file at once.
PIECE = 262_144

_answering = ThreadPoolExecutor(THREADS, thread_name_prefix="answering")
_filing = ThreadPoolExecutor(FILE_THREADS, thread_name_prefix="filing")


class Answer(NamedTuple):
    """A response: status, headers and first bytes; `rest` is a file with the remaining bytes."""

    status: int
    headers: list[tuple[bytes, bytes]]
    beginning: bytes
    rest: IO[bytes] | None


class _Disconnected(Exception):
    """Raised if the client disconnects before its whole body has arrived."""


class _File:
    """A file that Django returns as the response (PEP 3333's `wsgi.file_wrapper`)."""

    def __init__(self, file: IO[bytes], block_size: int) -> None:
        self.file = file


async def application(scope: dict[str, Any], receive: Receive, send: Send) -> None:
    """Answer one request (ASGI)."""
    loop = asyncio.get_running_loop()
    environ = environ_of(scope)
    with _body_file(environ) as body:
        if "CONTENT_LENGTH" in environ or "HTTP_TRANSFER_ENCODING" in environ:
            try:
                environ[REFUSED] = await _refusal(environ, receive, body)
            except _Disconnected:
                return
        environ["wsgi.input"] = body
        answer = await loop.run_in_executor(_answering, _answered, environ)
    await _send(answer, receive, send)


def _body_file(environ: Environ) -> IO[bytes]:
    """Return a buffer for the request's body: in memory, moved to a file once it is large."""
    if len(environ.get("CONTENT_LENGTH", "")) < len(str(IN_MEMORY)):
        return io.BytesIO()
    return tempfile.SpooledTemporaryFile(IN_MEMORY, dir=str(settings.SCRATCH))


async def _refusal(environ: Environ, receive: Receive, body: IO[bytes]) -> HTTPStatus | None:
    """Read the body into `body`. Return the status to refuse the request with, or None."""
    length = environ.get("CONTENT_LENGTH", "")
    if not (length.isascii() and length.isdecimal()):
        return HTTPStatus.LENGTH_REQUIRED
    expected = int(length)
    if expected > LITTLE:
        loop = asyncio.get_running_loop()
        if await loop.run_in_executor(_answering, is_refused, environ):
            return HTTPStatus.REQUEST_ENTITY_TOO_LARGE
    try:
        async with asyncio.timeout(None) as limit:
            await _read(expected, receive, body, limit)
    except TimeoutError:
        return HTTPStatus.REQUEST_TIMEOUT
    except OSError as error:
        if not is_full(error):
            raise
        return HTTPStatus.INSUFFICIENT_STORAGE
    return None


async def _read(expected: int, receive: Receive, body: IO[bytes], limit: asyncio.Timeout) -> None:
    """Read a body of `expected` bytes, extending `limit` as bytes arrive."""
    loop = asyncio.get_running_loop()
    began = loop.time()
    read, pieces, size = 0, [], 0
    while read < expected:
        limit.reschedule(began + seconds_for(read, expected))
        message = await receive()
        if message["type"] != "http.request":
            raise _Disconnected
        chunk = message.get("body", b"")
        if not chunk and not message.get("more_body"):
            raise _Disconnected
        pieces.append(chunk)
        read, size = read + len(chunk), size + len(chunk)
        if size > PIECE:
            await loop.run_in_executor(_filing, body.writelines, pieces)
            pieces, size = [], 0
    if expected <= IN_MEMORY:
        body.writelines(pieces)
    else:
        await loop.run_in_executor(_filing, body.writelines, pieces)
    limit.reschedule(None)
    body.seek(0)


def environ_of(scope: dict[str, Any]) -> Environ:
    """Return the WSGI environ (PEP 3333) of a request, without its body."""
    server, client = scope.get("server") or ("", None), scope.get("client") or ("", 0)
    environ: Environ = {
        "REQUEST_METHOD": scope["method"],
        "SCRIPT_NAME": "",
        "PATH_INFO": unquote_to_bytes(scope["raw_path"]).decode("latin-1"),
        "QUERY_STRING": scope["query_string"].decode("latin-1"),
        "SERVER_NAME": server[0],
        "SERVER_PORT": str(server[1] or ""),
        "SERVER_PROTOCOL": f"HTTP/{scope['http_version']}",
        "REMOTE_ADDR": client[0],
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": scope["scheme"],
        "wsgi.errors": None,
        "wsgi.multithread": True,
        "wsgi.multiprocess": True,
        "wsgi.run_once": False,
        "wsgi.file_wrapper": _File,
    }
    for name, value in scope["headers"]:
        if b"_" in name:
            # It would be mistaken for the header with a hyphen, which a proxy may have set.
            continue
        key = name.decode("latin-1").upper().replace("-", "_")
        if key not in {"CONTENT_TYPE", "CONTENT_LENGTH"}:
            key = f"HTTP_{key}"
        text = value.decode("latin-1")
        if key in environ:
            text = f"{environ[key]}{'; ' if key == 'HTTP_COOKIE' else ','}{text}"
        environ[key] = text
    return environ


def _answered(environ: Environ) -> Answer:
    """Let Django answer in this thread; return once the response is in memory or in a file."""
    began: list[Any] = []
    result = django(environ, lambda status, headers, _=None: began.extend((status, headers)))
    file: IO[bytes] | None
    if isinstance(result, _File):
        file = result.file
    else:
        try:
            beginning, file = _gathered(result)
        finally:
            if close := getattr(result, "close", None):
                close()
    if file is not None:
        beginning = file.read(PIECE)
        if len(beginning) < PIECE:
            file.close()
            file = None
    headers = [
        (name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in began[1]
    ]
    return Answer(int(began[0][:3]), headers, beginning, file)


def _gathered(parts: Iterable[bytes]) -> tuple[bytes, IO[bytes] | None]:
    """Return a response as bytes or, if it is long, as a file.

    It is collected here because its parts may read the database, which must happen in the thread
    that started the request.
    """
    remaining = iter(parts)
    held, size = [], 0
    for part in remaining:
        held.append(part)
        size += len(part)
        if size > PIECE:
            break
    else:
        return b"".join(held), None
    following = next(remaining, None)
    if following is None:
        return b"".join(held), None
    file = tempfile.TemporaryFile(dir=settings.SCRATCH)  # noqa: SIM115 (closed once it is sent)
    try:
        file.writelines(itertools.chain(held, (following,), remaining))
        file.seek(0)
    except BaseException:
        file.close()
        raise
    return b"", file


async def _send(answer: Answer, receive: Receive, send: Send) -> None:
    """Send a response as fast as the client reads it."""
    await send({"type": "http.response.start", "status": answer.status, "headers": answer.headers})
    if answer.rest is None:
        await send({"type": "http.response.body", "body": answer.beginning})
        return
    loop = asyncio.get_running_loop()
    gone = asyncio.ensure_future(_disconnected(receive))
    try:
        piece = answer.beginning
        while piece and not gone.done():
            await send({"type": "http.response.body", "body": piece, "more_body": True})
            piece = await loop.run_in_executor(_filing, answer.rest.read, PIECE)
        await send({"type": "http.response.body", "body": b""})
    finally:
        gone.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await gone
        await loop.run_in_executor(_filing, answer.rest.close)


async def _disconnected(receive: Receive) -> None:
    """Return when the client has disconnected."""
    while (await receive())["type"] != "http.disconnect":
        pass
