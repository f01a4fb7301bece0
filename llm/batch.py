"""Calls as batch files, which providers and `vllm run-batch` answer without a connection to us."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import IO, Any

from formats.json_text import parse_json
from formats.texts import excerpt
from llm.answers import Failure, FailureKind, Reply, reply_of
from llm.request import as_json

URL = "/v1/chat/completions"
MAX_LINE = 16 * 1024 * 1024


class BatchError(Exception):
    """A batch file that cannot be written or read; names the line."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(f"line {line:,}: {message}")


def request_lines(requests: Iterable[tuple[str, dict[str, Any]]]) -> Iterator[str]:
    """Yield a line for each id and body (`llm.request.request_body`), with its line feed.

    Raise BatchError for an id that is empty or occurs twice.
    """
    ids: set[str] = set()
    for line, (custom_id, body) in enumerate(requests, start=1):
        _add_new(custom_id, ids, line)
        request = {"custom_id": custom_id, "method": "POST", "url": URL, "body": body}
        yield f"{as_json(request)}\n"


def read_answers(stream: IO[bytes]) -> Iterator[tuple[str, Reply | Failure]]:
    """Yield the id and the answer of each line, whose order may differ from the requests'.

    Raise BatchError for a line that is no answer, or whose id was answered before.
    """
    ids: set[str] = set()
    number = 0
    while line := stream.readline(MAX_LINE + 1):
        number += 1
        if len(line) > MAX_LINE:
            raise BatchError(f"it has more than {MAX_LINE:,} bytes", number)
        if line.strip():
            custom_id, answer = _read_line(line, number)
            _add_new(custom_id, ids, number)
            yield custom_id, answer


def _read_line(line: bytes, number: int) -> tuple[str, Reply | Failure]:
    try:
        value = parse_json(line.decode("utf-8").strip())
    except ValueError as error:
        raise BatchError(str(error), number) from None
    custom_id = value.get("custom_id") if isinstance(value, dict) else None
    if not isinstance(custom_id, str):
        raise BatchError("it has no custom_id", number)
    try:
        return custom_id, _reply_in(value)
    except Failure as failure:
        return custom_id, failure


def _reply_in(line: dict[str, Any]) -> Reply:
    """Return the reply in a line. Raise Failure if it tells of an error."""
    response = line.get("response")
    status = response.get("status_code") if isinstance(response, dict) else None
    if isinstance(response, dict) and status == 200:
        return reply_of(response.get("body"))
    cause = line.get("error") or (response.get("body") if isinstance(response, dict) else None)
    reason = f"The batch has no answer to this line: {excerpt(as_json(cause), 300)}"
    raise Failure(FailureKind.REFUSED, reason, status if isinstance(status, int) else None)


def _add_new(custom_id: str, ids: set[str], line: int) -> None:
    if not custom_id or custom_id in ids:
        raise BatchError(f"the custom_id “{excerpt(custom_id)}” is empty or occurs twice", line)
    ids.add(custom_id)
