"""A real HTTP server on loopback that speaks the chat interface, well or badly, as it is told.

    with model_server() as server:
        server.will(refuse(429, retry_after="0.01"), say('{"grade": 2}'))

Each request takes the next thing that the server will do; afterwards `server.rule` answers, which a
test sets to a function from the body of a request to a text.
"""

from __future__ import annotations

import contextlib
import json
import threading
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

MODEL = "imitation-1"
PIECE = b"word " * 2_000

Behaviour = Callable[["Connection"], None]


@dataclass(frozen=True)
class Received:
    """One request that the server has received; header names are in lower case.

    `port` is the client's, the same for all requests of one connection.
    """

    port: int
    path: str
    headers: dict[str, str]
    content: bytes

    @property
    def body(self) -> dict[str, Any]:
        """Return the content, which is a JSON object."""
        value: dict[str, Any] = json.loads(self.content)
        return value


@dataclass
class ModelServer:
    """What a server has received, and what it will do."""

    base_url: str
    received: list[Received] = field(default_factory=list)
    # The bytes of each whole body that was sent.
    sent: list[int] = field(default_factory=list)
    rule: Callable[[dict[str, Any]], str] | None = None
    # Ends what would wait for ever.
    stopping: threading.Event = field(default_factory=threading.Event)
    _next: deque[Behaviour] = field(default_factory=deque)

    def will(self, *behaviours: Behaviour) -> None:
        """Do these, one for each of the next requests."""
        self._next.extend(behaviours)

    def answer(self, connection: Connection) -> None:
        """Do the next thing."""
        if self._next:
            self._next.popleft()(connection)
        elif self.rule is not None:
            say(self.rule(connection.received.body))(connection)
        else:
            refuse(500, "the test expects no further request")(connection)


class Connection(BaseHTTPRequestHandler):
    """Reads requests, and answers as the server was told."""

    protocol_version = "HTTP/1.1"
    # Otherwise the body waits for the client to acknowledge the headers.
    disable_nagle_algorithm = True
    models: ModelServer
    received: Received

    def do_POST(self) -> None:
        """Remember the request, and answer it."""
        content = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.received = Received(self.client_address[1], self.path, headers, content)
        self.models.received.append(self.received)
        # A client that gave up has closed the connection.
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self.models.answer(self)

    def send(self, status: int, content: bytes, **headers: str) -> None:
        """Send a whole response."""
        self.models.sent.append(len(content))
        self.begin(status, len(content), **headers)
        self.wfile.write(content)

    def begin(self, status: int, length: int, **headers: str) -> None:
        """Send the status and the headers of a response."""
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(length))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()

    def log_message(self, *arguments: object) -> None:
        """Print nothing."""


def completion(
    text: str | None,
    *,
    model: str = MODEL,
    finish_reason: str = "stop",
    refusal: str | None = None,
    tokens: tuple[int, int] | None = (20, 5),
) -> dict[str, Any]:
    """Return a chat completion; `tokens` are those of the prompt and of the answer."""
    message = {"role": "assistant", "content": text, "refusal": refusal}
    choice = {"index": 0, "message": message, "finish_reason": finish_reason}
    body: dict[str, Any] = {"object": "chat.completion", "model": model, "choices": [choice]}
    if tokens is not None:
        body["usage"] = {"prompt_tokens": tokens[0], "completion_tokens": tokens[1]}
    return body


def say(text: str | None, **details: Any) -> Behaviour:
    """Answer with a text; details are those of `completion`."""
    return send_body(json.dumps(completion(text, **details)).encode())


def send_body(content: bytes) -> Behaviour:
    """Answer with these bytes, whatever they are."""
    return lambda connection: connection.send(200, content)


def refuse(status: int, message: str = "no", *, retry_after: str | None = None) -> Behaviour:
    """Answer with an error, as providers form it."""
    content = json.dumps({"error": {"message": message, "type": "error"}}).encode()
    headers = {} if retry_after is None else {"Retry_After": retry_after}
    return lambda connection: connection.send(status, content, **headers)


def repeat_the_key() -> Behaviour:
    """Refuse the key, and repeat it, as some servers do."""

    def behave(connection: Connection) -> None:
        refuse(401, f"wrong key: {connection.received.headers['authorization']}")(connection)

    return behave


def redirect(address: str) -> Behaviour:
    """Answer with a redirect."""
    return lambda connection: connection.send(307, b"", Location=address)


def cut_connection() -> Behaviour:
    """Close the connection in the middle of the answer."""

    def behave(connection: Connection) -> None:
        connection.begin(200, 1_000)
        connection.wfile.write(b'{"choices": [')
        connection.close_connection = True

    return behave


def never_answer() -> Behaviour:
    """Wait until the test is over."""

    def behave(connection: Connection) -> None:
        connection.models.stopping.wait()
        connection.close_connection = True

    return behave


def never_end(status: int) -> Behaviour:
    """Send words for as long as the other side reads."""

    def behave(connection: Connection) -> None:
        connection.begin(status, 10**12)
        while not connection.models.stopping.is_set():
            connection.wfile.write(PIECE)

    return behave


def dribble(seconds: float) -> Behaviour:
    """Send a hundred bytes one by one, which takes at least so long."""

    def behave(connection: Connection) -> None:
        connection.begin(200, 100)
        for _ in range(100):
            connection.models.stopping.wait(seconds / 100)
            connection.wfile.write(b" ")

    return behave


@contextlib.contextmanager
def model_server() -> Iterator[ModelServer]:
    """Run a server on a free port of this machine."""

    class Handler(Connection):
        pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        server = ModelServer(base_url=f"http://127.0.0.1:{http.server_address[1]}/v1")
        Handler.models = server
        thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.stopping.set()
            http.shutdown()
            thread.join()
