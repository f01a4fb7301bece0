"""The connection to Rejudge: one token, errors as exceptions, pages as iterators.

Requests are retried until they are answered, and take effect once.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import IO, Any, Self, cast
from uuid import uuid4

import httpx2
from tqdm import tqdm

from rejudge_client.errors import Damaged, RejudgeError, Unreachable, error_for

API = "/api/v1/"
# Temporary errors: too many requests, or a server that is restarting.
_RETRY_STATUSES = {429, 502, 503, 504}
_LONGEST_PAUSE = 30.0
_LOOPBACK = {"localhost", "127.0.0.1", "::1"}


class Connection:
    """One person's connection to one installation.

    `url` is the installation's address; `token` comes from "Your settings". Over plain HTTP others
    could read the token, so it is refused except for this machine itself or with `plain_http`.
    `attempts` is how often a request is tried; `transport` and `sleep` are for tests.
    """

    def __init__(
        self,
        url: str,
        token: str,
        *,
        attempts: int = 6,
        timeout: float = 60.0,
        progress: bool | None = None,
        plain_http: bool = False,
        transport: httpx2.BaseTransport | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        base = httpx2.URL(url)
        if base.scheme not in {"http", "https"} or not base.host:
            raise ValueError(f"{url!r} is not the address of a site: write https://…")
        if base.scheme == "http" and base.host not in _LOOPBACK and not plain_http:
            raise ValueError(f"{url} is not encrypted, and others could read the token: use https.")
        if not token.strip():
            raise ValueError("The token is empty: make one under Your settings, Tokens.")
        if attempts < 1:
            raise ValueError("attempts must be at least 1.")
        self._http = httpx2.Client(
            base_url=base.join(API),
            # A token that was read from a file may end with a line end.
            headers={"Authorization": f"Bearer {token.strip()}", "Accept": "application/json"},
            timeout=timeout,
            # A redirect could send the token to another site.
            follow_redirects=False,
            transport=transport,
        )
        self._attempts = attempts
        self._progress = progress
        self.sleep = sleep

    def close(self) -> None:
        """Close the HTTP client."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def bar(self, total: int | None, words: str, unit: str, *, scaled: bool = False) -> tqdm[Any]:
        """Return a progress bar, by default shown on terminals only.

        `scaled` writes 1.5M for 1,500,000.
        """
        silent = None if self._progress is None else not self._progress
        return tqdm(total=total, desc=words, unit=unit, unit_scale=scaled, disable=silent)

    def get(self, path: str, params: Mapping[str, Any] | None = None) -> Any:
        """Return the JSON at `path`. Raise Problem if the request fails."""
        return self._send("GET", path, params=_without_none(params) or None).json()

    def pages(self, path: str, params: Mapping[str, Any] | None = None) -> Iterator[dict[str, Any]]:
        """Yield every row of a list, fetching the pages one by one."""
        page = self.get(path, params)
        while True:
            yield from page["results"]
            if not page["next"]:
                return
            page = self.get(self._checked_address(page["next"]))

    def post(
        self,
        path: str,
        body: Mapping[str, Any] | None = None,
        *,
        key: str | None = None,
    ) -> Any:
        """Send a POST request that takes effect once, however often it is retried; return its JSON.

        `key` identifies the request, so that a program that was killed can send it again.
        """
        answer = self._send("POST", path, json=_without_none(body), key=key or str(uuid4()))
        return answer.json() if answer.content else None

    def put(self, path: str, body: Mapping[str, Any]) -> Any:
        """Send a PUT request and return its JSON."""
        answer = self._send("PUT", path, json=_without_none(body), key=str(uuid4()))
        return answer.json() if answer.content else None

    def delete(self, path: str) -> None:
        """Send a DELETE request."""
        self._send("DELETE", path, key=str(uuid4()))

    def upload(
        self, path: str, file: Path, fields: Mapping[str, Any], *, key: str | None = None
    ) -> Any:
        """Send a file with some fields as a form, with a progress bar."""
        key = key or str(uuid4())
        data = {name: str(value) for name, value in _without_none(fields).items()}
        size = file.stat().st_size

        def send() -> httpx2.Response:
            with ExitStack() as open_things:
                bar = open_things.enter_context(self.bar(size, file.name, "B", scaled=True))
                stream = open_things.enter_context(file.open("rb"))
                counted = cast(IO[bytes], _CountedFile(stream, bar))
                return self._http.post(
                    path,
                    data=data,
                    files={"file": (file.name, counted, "application/octet-stream")},
                    headers={"Idempotency-Key": key},
                )

        return self._send_until_answered(send).json()

    def download(
        self,
        path: str,
        target: Path,
        *,
        size: int | None = None,
        sha256: str | None = None,
    ) -> Path:
        """Download a file to `target` with a progress bar, and return `target`.

        The file gets its name only once it is complete. Raises Damaged if it does not match `size`
        or `sha256`.
        """
        target.parent.mkdir(parents=True, exist_ok=True)
        part = target.with_name(f".{target.name}.{uuid4().hex}.part")
        try:
            self._send_until_answered(lambda: self._fetch(path, part, size, sha256))
            part.replace(target)
        finally:
            part.unlink(missing_ok=True)
        return target

    def _fetch(
        self, path: str, part: Path, size: int | None, sha256: str | None
    ) -> httpx2.Response:
        digest, length = hashlib.sha256(), 0
        with self._http.stream("GET", path) as answer:
            if answer.is_error or answer.is_redirect:
                answer.read()
                return answer
            name = path.rstrip("/").rpartition("/")[2]
            with part.open("wb") as file, self.bar(size, name, "B", scaled=True) as bar:
                for piece in answer.iter_bytes():
                    file.write(piece)
                    digest.update(piece)
                    length += len(piece)
                    bar.update(len(piece))
                file.flush()
                os.fsync(file.fileno())
        if size is not None and length != size:
            raise Damaged(f"{path} has {length:,} bytes instead of {size:,}.")
        if sha256 is not None and digest.hexdigest() != sha256:
            raise Damaged(f"{path} is damaged: its SHA-256 differs.")
        return answer

    def _send(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, Any] | None = None,
        json: Mapping[str, Any] | None = None,
        key: str | None = None,
    ) -> httpx2.Response:
        headers = {"Idempotency-Key": key} if key else {}
        return self._send_until_answered(
            lambda: self._http.request(method, path, params=params, json=json, headers=headers)
        )

    def _send_until_answered(self, send: Callable[[], httpx2.Response]) -> httpx2.Response:
        """Send until there is an answer that a retry would not change."""
        for attempt in range(self._attempts):
            last = attempt == self._attempts - 1
            pause = min(2.0**attempt / 2, _LONGEST_PAUSE)
            try:
                answer = send()
            except httpx2.TransportError as error:
                if last:
                    raise Unreachable(
                        f"No answer from {self._http.base_url.host}: {error}"
                    ) from error
            else:
                if answer.status_code not in _RETRY_STATUSES or last:
                    return self._check_status(answer)
                with suppress(ValueError):
                    pause = min(float(answer.headers.get("Retry-After", pause)), _LONGEST_PAUSE)
            self.sleep(pause)
        raise AssertionError("the last attempt has returned or raised")

    def _check_status(self, answer: httpx2.Response) -> httpx2.Response:
        if answer.is_success:
            return answer
        if answer.is_redirect:
            raise RejudgeError(
                f"{answer.request.url} redirects: give the address of the site itself."
            )
        problem: Any = None
        with suppress(ValueError):
            problem = answer.json()
        raise error_for(answer.status_code, problem if isinstance(problem, dict) else {})

    def _checked_address(self, address: str) -> str:
        """Return the address of a next page, which must be on the same site."""
        base, next_url = self._http.base_url, self._http.base_url.join(address)
        if (next_url.scheme, next_url.host, next_url.port) != (
            base.scheme,
            base.host,
            base.port,
        ):
            raise RejudgeError(f"The next page is on another site, {next_url.host}: not followed.")
        return str(next_url)


class _CountedFile:
    """A file that advances a progress bar as it is read."""

    def __init__(self, stream: Any, bar: tqdm[Any]) -> None:
        self._stream, self._bar = stream, bar

    def read(self, size: int = -1) -> bytes:
        piece: bytes = self._stream.read(size)
        self._bar.update(len(piece))
        return piece

    def seek(self, offset: int, whence: int = 0) -> int:
        return int(self._stream.seek(offset, whence))

    def tell(self) -> int:
        return int(self._stream.tell())

    def fileno(self) -> int:
        return int(self._stream.fileno())

    def __iter__(self) -> Iterator[bytes]:
        while piece := self.read(65_536):
            yield piece


def _without_none(fields: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the fields that are not None."""
    return {name: value for name, value in (fields or {}).items() if value is not None}
