"""Ask a model server one question. Needs the extra `llm`.

The HTTP transport under openai's client adds the key, and limits how large an answer is.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass
from typing import Any

import httpx2
from jsonschema import Draft202012Validator
from openai import APIConnectionError, APIStatusError, APITimeoutError, OpenAI, OpenAIError

from formats.json_text import parse_json
from formats.texts import excerpt
from llm.answers import Failure, FailureKind, Reply, read_reply, read_value
from llm.endpoint import Endpoint, ResponseFormat
from llm.request import Message, Schema, as_json, request_body

# With these, servers refuse a response format that they do not know.
_REFUSED_FORMAT = (400, 422)
# Of an unreadable answer, this much is shown to the model when it is asked again.
_SHOWN_AGAIN = 2_000
_AGAIN = (
    "{reason}\nAnswer the question again, with one JSON object that matches this schema, and with "
    "nothing else:\n{schema}"
)

_SENT_HEADERS = ("accept", "content-length", "content-type", "host")
_KEPT_HEADERS = ("content-type", "retry-after")
# A shorter key could be an ordinary word of an answer.
_SHORTEST_KEY = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What came of one question: a value that matches the schema, or a failure with a reason."""

    value: Any = None
    failure: Failure | None = None
    # All that the model said, which is paid: two replies if it was asked again.
    replies: tuple[Reply, ...] = ()
    # The last one that was tried.
    response_format: ResponseFormat = ResponseFormat.JSON_SCHEMA
    # Requests that were sent: again after an error, in another format, for a readable answer.
    requests: int = 0
    # Of these, not completely answered: they may have to be paid.
    in_doubt: int = 0
    seconds: float = 0.0

    @property
    def model(self) -> str:
        """Return the model as the server names it, which may be another than was asked."""
        return self.replies[-1].model if self.replies else ""

    @property
    def prompt_tokens(self) -> int | None:
        """Return the tokens of all requests; None if the server did not count them."""
        return _sum_if_known([reply.prompt_tokens for reply in self.replies])

    @property
    def completion_tokens(self) -> int | None:
        """Return the tokens of all replies; None if the server did not count them."""
        return _sum_if_known([reply.completion_tokens for reply in self.replies])


def complete(
    endpoint: Endpoint,
    messages: Sequence[Message],
    schema: Schema,
    *,
    pool: httpx2.BaseTransport | None = None,
) -> Answer:
    """Ask a model for a JSON object that matches `schema`; whatever a server does is an Answer.

    Temporary errors are retried, after as long as the server's Retry-After says, up to two minutes.
    A server that refuses the request with the schema is asked with the next weaker response format.
    An answer that cannot be read is asked for once more, with the error. `pool` keeps connections
    open from call to call (`open_pool`).

    Raise ValueError without messages, and jsonschema's SchemaError for an invalid schema.
    """
    Draft202012Validator.check_schema(schema)
    if not messages:
        raise ValueError("A question has at least one message.")
    began = time.monotonic()
    value, failure = None, None
    with closing(open_pool()) if pool is None else nullcontext(pool) as connections:
        conversation = _Conversation(endpoint, schema, connections)
        try:
            value = conversation.ask(messages)
        except Failure as error:
            failure = error
    return Answer(
        value=value,
        failure=failure,
        replies=tuple(conversation.replies),
        response_format=conversation.response_format,
        requests=conversation.transport.requests,
        in_doubt=conversation.transport.in_doubt,
        seconds=time.monotonic() - began,
    )


class _Conversation:
    """One question to a model, with what was said so far."""

    def __init__(self, endpoint: Endpoint, schema: Schema, pool: httpx2.BaseTransport) -> None:
        self._endpoint = endpoint
        self._schema = schema
        self.transport = CallTransport(endpoint, pool)
        self._client = OpenAI(
            base_url=endpoint.base_url,
            api_key="the transport adds it",
            max_retries=endpoint.retries,
            timeout=endpoint.timeout,
            # A redirect could send the documents to another site.
            http_client=httpx2.Client(transport=self.transport, follow_redirects=False),
        )
        self.response_format = endpoint.response_format
        self.replies: list[Reply] = []

    def ask(self, messages: Sequence[Message]) -> Any:
        """Return the value of the answer; if it cannot be read, ask once more. Raise Failure."""
        reply = self._request(messages)
        try:
            return read_value(reply, self._schema)
        except Failure as failure:
            if failure.kind != FailureKind.UNREADABLE:
                raise
            reason = failure.reason
        again = _AGAIN.format(reason=reason, schema=as_json(self._schema))
        shown = reply.text[:_SHOWN_AGAIN] or "(nothing)"
        said: Message = {"role": "assistant", "content": shown}
        reply = self._request([*messages, said, {"role": "user", "content": again}])
        return read_value(reply, self._schema)

    def _request(self, messages: Sequence[Message]) -> Reply:
        """Return the model's reply, in the first response format that the server accepts."""
        formats = list(ResponseFormat)
        for response_format in formats[formats.index(self.response_format) :]:
            self.response_format = response_format
            body = request_body(self._endpoint, messages, self._schema, response_format)
            try:
                content = self._send(body)
            except Failure as failure:
                if failure.status not in _REFUSED_FORMAT or response_format == formats[-1]:
                    raise
                continue
            reply = read_reply(content)
            self.replies.append(reply)
            return reply
        raise AssertionError("the last format has returned or raised")

    def _send(self, body: dict[str, Any]) -> bytes:
        """Return the body of the server's answer. Raise Failure for every other outcome."""
        try:
            response = self._client.post(
                "/chat/completions", cast_to=httpx2.Response, content=as_json(body).encode()
            )
        except APITimeoutError:
            reason = f"The server did not answer within {self._endpoint.timeout:g} seconds."
            raise Failure(FailureKind.TIMEOUT, reason) from None
        except APIConnectionError as error:
            reason = f"The connection to the server failed: {excerpt(str(error.__cause__))}"
            raise Failure(FailureKind.UNREACHABLE, reason) from None
        except AnswerTooLarge:
            most = self._endpoint.max_answer_bytes
            reason = f"The server's answer has more than {most:,} bytes."
            raise Failure(FailureKind.TOO_LARGE, reason) from None
        except APIStatusError as error:
            raise _refusal(error.status_code, error.response.content) from None
        return response.content


def _refusal(status: int, content: bytes) -> Failure:
    """Return the failure behind a status that is not a success."""
    if 300 <= status < 400:
        reason = f"The server redirects ({status}), which is not followed: give its own address."
        return Failure(FailureKind.REDIRECT, reason, status)
    words = _words_of_error(content)
    if status == 429:
        return Failure(FailureKind.BUSY, f"The server asks to wait ({status}): {words}", status)
    if status >= 500:
        return Failure(FailureKind.SERVER_ERROR, f"The server failed ({status}): {words}", status)
    return Failure(FailureKind.REFUSED, f"The server refuses ({status}): {words}", status)


def _words_of_error(content: bytes) -> str:
    """Return the message of an error, which servers send in several forms."""
    text = content.decode("utf-8", "replace")
    try:
        value = parse_json(text)
    except ValueError:
        return excerpt(text.strip(), 300) or "without a reason"
    for name in ("error", "detail", "message"):
        if isinstance(value, dict) and value.get(name):
            value = value[name]
    return excerpt(value if isinstance(value, str) else as_json(value), 300)


def _sum_if_known(counts: list[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == len(counts) else None


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
    `requests` counts those that were sent, `in_doubt` those of them not completely answered.
    """

    def __init__(self, endpoint: Endpoint, pool: httpx2.BaseTransport) -> None:
        self._endpoint = endpoint
        self._pool = pool
        self.requests = self.in_doubt = 0

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request, and return its response with the whole body.

        Raise AnswerTooLarge, or one of httpx2's errors.
        """
        deadline = time.monotonic() + self._endpoint.timeout
        self.requests += 1
        self.in_doubt += 1
        try:
            response = self._pool.handle_request(self._with_key(request))
        except (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout):
            self.requests -= 1  # nothing was sent
            self.in_doubt -= 1
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
