"""The HTTP transport under openai's client: it adds the key, and limits how large an answer is.

Needs the extra `llm`.
"""

from __future__ import annotations

import time

import httpx2
from openai import OpenAIError

from llm.endpoint import Endpoint

_SENT_HEADERS = ("accept", "content-length", "content-type", "host")
_KEPT_HEADERS = ("content-type", "retry-after")
# A shorter key could be an ordinary word of an answer.
_SHORTEST_KEY = 8


class AnswerTooLarge(OpenAIError):
    """An answer has more bytes than allowed. As an error of openai's, it is not retried."""


def open_pool() -> httpx2.HTTPTransport:
    """Return connections that many calls, also of several threads, may share; the caller closes it.

    Proxies that environment variables name are not used.
    """
    return httpx2.HTTPTransport()


class CallTransport(httpx2.BaseTransport):
    """Sends the requests of one call over a pool of connections.

    The key is added here, so no object, error or log line of openai's client contains it. Headers
    that this client takes from the environment, or that describe the machine, are not sent.

    Attributes:
        in_doubt: Requests that were sent and not completely answered: they may have to be paid.
    """

    def __init__(self, endpoint: Endpoint, pool: httpx2.BaseTransport) -> None:
        self._endpoint = endpoint
        self._pool = pool
        self.in_doubt = 0

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request, and return its response with the whole body.

        Raise AnswerTooLarge, or one of httpx2's errors.
        """
        deadline = time.monotonic() + self._endpoint.timeout
        self.in_doubt += 1
        try:
            response = self._pool.handle_request(self._with_key(request))
        except (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout):
            self.in_doubt -= 1  # nothing was sent
            raise
        try:
            content = self._read(response, deadline)
        finally:
            response.close()
        self.in_doubt -= 1
        return httpx2.Response(
            response.status_code,
            headers=_only(response.headers, _KEPT_HEADERS),
            content=self._without_key(content),
        )

    def _with_key(self, request: httpx2.Request) -> httpx2.Request:
        headers = _only(request.headers, _SENT_HEADERS)
        # A compressed answer could grow beyond the limit after it was counted.
        headers |= {"Accept-Encoding": "identity", "User-Agent": "rejudge"}
        if self._endpoint.key:
            headers["Authorization"] = f"Bearer {self._endpoint.key}"
        return httpx2.Request(
            request.method,
            request.url,
            headers=headers,
            stream=request.stream,
            extensions=request.extensions,
        )

    def _read(self, response: httpx2.Response, deadline: float) -> bytes:
        content = bytearray()
        assert isinstance(response.stream, httpx2.SyncByteStream)
        for piece in response.stream:
            content += piece
            if len(content) > self._endpoint.max_answer_bytes:
                raise AnswerTooLarge
            if time.monotonic() > deadline:
                raise httpx2.ReadTimeout("the answer is not complete in time")
        return bytes(content)

    def _without_key(self, content: bytes) -> bytes:
        """Return what a server answers without the key, which some repeat in their errors."""
        key = self._endpoint.key.encode()
        return content if len(key) < _SHORTEST_KEY else content.replace(key, b"[key]")


def _only(headers: httpx2.Headers, names: tuple[str, ...]) -> dict[str, str]:
    return {name: headers[name] for name in names if name in headers}
