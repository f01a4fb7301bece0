"""Annotators without a browser, who send the requests of `static/js/journal.js` at full speed.

Each process has many, each in its own thread with a persistent connection, so that the server is
the bottleneck. A judgment that is not saved ends the run with the server's response.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import random
import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

# As in the browser: documents per fetch, and entries per batch.
DOCUMENTS = 20
ENTRIES = 50
TOKEN = "benchmarkbenchmarkbenchmarkbench"  # noqa: S105 (any will do: cookie and header must agree)


class ServerBusy(Exception):
    """Raised if the server is too busy and asks to send the request again."""


class HttpConnection:
    """A minimal, cheap HTTP connection to the server."""

    def __init__(self, port: int, session: str = "") -> None:
        self._port = port
        cookies = f"csrftoken={TOKEN}" + (f"; sessionid={session}" if session else "")
        self._head = f"Host: 127.0.0.1:{port}\r\nCookie: {cookies}\r\nX-CSRFToken: {TOKEN}\r\n"
        self._socket = self._connect()
        self._rest = b""

    def _connect(self) -> socket.socket:
        made = socket.create_connection(("127.0.0.1", self._port), timeout=60)
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return made

    def ask(self, path: str, body: bytes | None = None) -> bytes:
        """GET a path, or POST a JSON body to it, and return the body of a response with status 200.

        Raises Busy for 429 and 503.
        """
        if body is None:
            self._socket.sendall(f"GET {path} HTTP/1.1\r\n{self._head}\r\n".encode())
        else:
            kind = f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
            self._socket.sendall(f"POST {path} HTTP/1.1\r\n{self._head}{kind}\r\n".encode() + body)
        status, found = self._read_response()
        if status in {429, 503}:
            raise ServerBusy(f"{status}: {found[:200]!r}")
        if status != 200:
            raise RuntimeError(f"{path} was answered with {status}: {found[:500]!r}")
        return found

    def _read_response(self) -> tuple[int, bytes]:
        data = self._rest
        while (end := data.find(b"\r\n\r\n")) < 0:
            data += self._receive()
        head = data[:end].decode("latin-1").lower()
        status = int(head[9:12])
        length = next(
            (int(line[15:]) for line in head.split("\r\n") if line.startswith("content-length:")),
            None,
        )
        if length is None:
            raise RuntimeError(f"a response without a length: {head}")
        data = data[end + 4 :]
        while len(data) < length:
            data += self._receive()
        self._rest = data[length:]
        return status, data[:length]

    def _receive(self) -> bytes:
        found = self._socket.recv(262_144)
        if not found:
            raise RuntimeError("the server closed the connection")
        return found

    def close(self) -> None:
        """Close the connection."""
        self._socket.close()


@dataclass
class Timings:
    """Times in seconds that one annotator, or all of them, measured."""

    saving: list[float] = field(default_factory=list)
    fetching: list[float] = field(default_factory=list)
    batches: list[int] = field(default_factory=list)
    # When each of `saving` ended, by the monotonic clock.
    at: list[float] = field(default_factory=list)
    # How often the server was busy and the request was sent again.
    busy: int = 0
    begun: float = 0.0
    ended: float = 0.0
    # Processor time of the annotators' own processes, in seconds.
    processor_seconds: float = 0.0
    failed: str = ""


def judge_one_by_one(
    wire: HttpConnection, annotator: dict[str, Any], seconds: float, _rate: float
) -> Timings:
    """Fetch twenty documents at a time, and judge each in its own request."""
    seen = Timings(begun=time.monotonic())
    for place, (work, candidate) in enumerate(_documents(annotator)):
        if time.monotonic() - seen.begun > seconds:
            break
        if place % DOCUMENTS == 0:
            _fetch(wire, work, candidate, seen)
        body = _body([_entry(annotator, work, candidate)])
        start = time.perf_counter()
        response = wire.ask("/api/v1/journal/", body)
        seen.saving.append(time.perf_counter() - start)
        seen.batches.append(1)
        _check(response)
    seen.ended = time.monotonic()
    return seen


def judge_as_it_piles_up(
    wire: HttpConnection, annotator: dict[str, Any], seconds: float, rate: float
) -> Timings:
    """Press `rate` keys a second whatever the server does; send what has piled up in one request.

    A judgment's time is from its key press to the response that it is saved.
    """
    seen = Timings(begun=time.monotonic())
    presses = _documents(annotator)
    sent = 0
    while True:
        now = time.monotonic()
        due = int((min(now - seen.begun, seconds)) * rate) + 1
        if due <= sent:
            if now - seen.begun > seconds:
                break
            time.sleep(seen.begun + sent / rate - now if seen.begun + sent / rate > now else 0)
            continue
        batch = [press for press, _ in zip(presses, range(min(due - sent, ENTRIES)), strict=False)]
        if not batch:
            break
        if sent % DOCUMENTS == 0 or sent // DOCUMENTS != (sent + len(batch)) // DOCUMENTS:
            _fetch(wire, *batch[-1], seen)
        response = wire.ask(
            "/api/v1/journal/", _body([_entry(annotator, *press) for press in batch])
        )
        saved_at = time.monotonic()
        _check(response)
        seen.saving += [saved_at - (seen.begun + (sent + n) / rate) for n in range(len(batch))]
        seen.batches.append(len(batch))
        sent += len(batch)
    seen.ended = time.monotonic()
    return seen


def judge_at_pace(
    wire: HttpConnection, annotator: dict[str, Any], seconds: float, rate: float
) -> Timings:
    """Press about `rate` keys a second (0: as fast as they are saved) for `seconds` seconds.

    Each judgment has its own request; if the server is too busy, it is sent again. A judgment's
    time is from its key press to the response that it is saved.
    """
    seen = Timings(begun=time.monotonic())
    rng = random.Random(annotator["user"])
    until = seen.begun + seconds
    pressed = seen.begun + (rng.random() / rate if rate else 0.0)
    for place, (work, candidate) in enumerate(_documents(annotator)):
        if pressed > until:
            break
        time.sleep(max(pressed - time.monotonic(), 0.0))
        if place % DOCUMENTS == 0:
            _fetch(wire, work, candidate, seen)
        # No key is pressed while waiting for a response, so that wait counts only once.
        pressed = time.monotonic()
        body = _body([_entry(annotator, work, candidate)])
        while True:
            try:
                _check(wire.ask("/api/v1/journal/", body))
                break
            except ServerBusy:
                seen.busy += 1
                time.sleep(0.2)
        now = time.monotonic()
        seen.saving.append(now - pressed)
        seen.at.append(now)
        pressed = max(now, pressed + rng.uniform(0.5, 1.5) / rate) if rate else now
    seen.ended = time.monotonic()
    return seen


def request_repeatedly(
    path: str,
) -> Callable[[HttpConnection, dict[str, Any], float, float], Timings]:
    """Return a way that requests one page repeatedly, to measure the cost of the server itself."""

    def ask(
        wire: HttpConnection, _annotator: dict[str, Any], seconds: float, _rate: float
    ) -> Timings:
        seen = Timings(begun=time.monotonic())
        while time.monotonic() - seen.begun < seconds:
            start = time.perf_counter()
            wire.ask(path)
            seen.saving.append(time.perf_counter() - start)
        seen.ended = time.monotonic()
        return seen

    return ask


WAYS = {
    "one_by_one": judge_one_by_one,
    "as_it_piles_up": judge_as_it_piles_up,
    "two_a_second": judge_as_it_piles_up,
    "at_leisure": judge_at_pace,
    "sign_in_page": request_repeatedly("/accounts/login/"),
}


def measure(
    way: str, port: int, annotators: list[dict[str, Any]], *, seconds: float, rate: float = 0
) -> Timings:
    """Let all annotators work at once in one of WAYS for `seconds`; return their times.

    `rate`: keys a second of each annotator, if the way has a rate. Raises RuntimeError if anything
    was not saved.
    """
    context = multiprocessing.get_context("spawn")
    processes = min(len(annotators), os.cpu_count() or 1)
    start = context.Barrier(processes, timeout=60)
    found: list[Timings] = []
    results = []
    for one in range(processes):
        receiver, sender = context.Pipe(duplex=False)
        share = annotators[one::processes]
        context.Process(
            target=_run_annotators,
            args=(way, port, share, seconds, rate, start, sender),
            daemon=True,
        ).start()
        # Only the process keeps its end open, so that reading fails once the process ends.
        sender.close()
        results.append(receiver)
    for receiver in results:
        try:
            found += receiver.recv()
        except EOFError as error:
            raise RuntimeError("a process of annotators ended without a result") from error
    if failed := [seen.failed for seen in found if seen.failed]:
        raise RuntimeError(f"{len(failed)} of {len(found)} annotators failed: {failed[0]}")
    return Timings(
        saving=[one for seen in found for one in seen.saving],
        fetching=[one for seen in found for one in seen.fetching],
        batches=[one for seen in found for one in seen.batches],
        at=[one for seen in found for one in seen.at],
        busy=sum(seen.busy for seen in found),
        begun=min(seen.begun for seen in found),
        ended=max(seen.ended for seen in found),
        processor_seconds=sum(seen.processor_seconds for seen in found),
    )


def _run_annotators(
    way: str,
    port: int,
    annotators: list[dict[str, Any]],
    seconds: float,
    rate: float,
    start: Any,
    results: Any,
) -> None:
    """Run one process with its share of the annotators."""
    found: list[Timings] = []

    def work(annotator: dict[str, Any]) -> None:
        try:
            wire = HttpConnection(port, annotator.get("session", ""))
            found.append(WAYS[way](wire, annotator, seconds, rate))
            wire.close()
        except (OSError, RuntimeError, ValueError, ServerBusy) as error:
            found.append(Timings(failed=repr(error)))

    threads = [threading.Thread(target=work, args=(annotator,)) for annotator in annotators]
    start.wait()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found[0].processor_seconds = time.process_time()
    results.send(found)


def _documents(annotator: dict[str, Any]) -> Iterator[tuple[dict[str, Any], int]]:
    for work in annotator["work"]:
        for candidate in work["candidates"]:
            yield work, candidate


def _fetch(wire: HttpConnection, work: dict[str, Any], candidate: int, seen: Timings) -> None:
    """Fetch the next documents ahead."""
    first = work["candidates"].index(candidate) // DOCUMENTS * DOCUMENTS
    candidates = work["candidates"][first : first + DOCUMENTS]
    query = "&".join(f"candidate={one}" for one in candidates)
    start = time.perf_counter()
    found = wire.ask(f"/pairs/{work['pair']}/documents/?{query}")
    seen.fetching.append(time.perf_counter() - start)
    if found.count(b'class="judge__document-view"') != len(candidates):
        raise RuntimeError(f"not all of {len(candidates)} documents arrived: {found[:500]!r}")


def _entry(annotator: dict[str, Any], work: dict[str, Any], candidate: int) -> dict[str, Any]:
    return journal_entry(annotator["user"], work["pair"], work["narrative"], candidate)


def journal_entry(user: int, pair: int, narrative: int, candidate: int) -> dict[str, Any]:
    """Return a judgment as the journal sends it."""
    return {
        "uuid": str(uuid4()),
        "kind": "judgment",
        "user": user,
        "pair": pair,
        "narrative": narrative,
        "candidate": candidate,
        "made_at": datetime.now(UTC).isoformat(),
        "relevance": candidate % 3,
        "note": "",
        "evidence": [],
        "clauses": [],
        "verdicts": {},
        "active_ms": 1200,
        "pressed": "key",
        "instead_of": None,
    }


def _body(entries: list[dict[str, Any]]) -> bytes:
    return json.dumps({"entries": entries}).encode()


def _check(response: bytes) -> None:
    for answer in json.loads(response)["answers"]:
        if answer["state"] != "saved" or answer["sentence"]:
            raise RuntimeError(f"not saved as expected: {answer}")
