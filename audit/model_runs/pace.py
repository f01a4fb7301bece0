"""How soon the next request may be sent, by the limits of a minute. Pure."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable

MINUTE = 60.0


class Pace:
    """Requests and tokens of the last minute; a limit that is None holds nothing back."""

    def __init__(
        self,
        requests: int | None,
        tokens: int | None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._requests = requests
        self._tokens = tokens
        self._clock = clock
        # When each request was sent, and its tokens.
        self._sent: deque[tuple[float, int]] = deque()

    def wait(self, tokens: int) -> float:
        """Return for how many seconds a request of so many tokens has to wait.

        A request with more tokens than a minute allows waits until no other is in that minute.
        """
        now = self._clock()
        while self._sent and self._sent[0][0] <= now - MINUTE:
            self._sent.popleft()
        requests, used = len(self._sent), sum(earlier for _, earlier in self._sent)
        seconds = 0.0
        for at, earlier in self._sent:
            if self._allow(requests + 1, used + tokens):
                break
            seconds = at + MINUTE - now
            requests, used = requests - 1, used - earlier
        return seconds

    def _allow(self, requests: int, tokens: int) -> bool:
        within_requests = self._requests is None or requests <= self._requests
        return within_requests and (self._tokens is None or tokens <= self._tokens)

    def sent(self, tokens: int) -> None:
        """Count a request that is sent now."""
        self._sent.append((self._clock(), tokens))
