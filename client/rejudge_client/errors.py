"""What can go wrong between a program and Rejudge: one kind of exception for each answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class RejudgeError(Exception):
    """Something did not work; the message is a sentence."""


class Unreachable(RejudgeError):
    """No answer came, however often it was asked. What was sent may be sent again."""


class Failed(RejudgeError):
    """A job that was waited for failed, was called off, or did not end in time."""


class Damaged(RejudgeError):
    """A file that was fetched is not the one that was announced."""


class Problem(RejudgeError):
    """Rejudge said no. `problem` is the answer as it came (RFC 9457), `status` its HTTP status."""

    def __init__(self, status: int, problem: Mapping[str, Any]) -> None:
        self.status = status
        self.problem = dict(problem)
        said = self.problem.get("detail") or self.problem.get("title") or f"HTTP {status}"
        super().__init__(str(said))


class NotSignedIn(Problem):
    """401: no token, or one that is expired, ended or not known."""


class Forbidden(Problem):
    """403: the token has no scope for this, or the person no right."""


class NotFound(Problem):
    """404: it is not there, or not for this person."""


class Conflict(Problem):
    """409: what was acted on has changed in the meantime. Look again, then decide."""


class Refused(Problem):
    """400, 413 or 422: it cannot be done so; the sentence says why, and nothing has changed."""


_KINDS: dict[int, type[Problem]] = {
    400: Refused,
    401: NotSignedIn,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    413: Refused,
    422: Refused,
}


def problem_of(status: int, problem: Mapping[str, Any]) -> Problem:
    """Return the exception for an answer that says no."""
    return _KINDS.get(status, Problem)(status, problem)
