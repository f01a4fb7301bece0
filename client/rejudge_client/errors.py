"""The exceptions of the client: one class for each kind of error."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class RejudgeError(Exception):
    """Base class of all errors; the message is a sentence."""


class Unreachable(RejudgeError):
    """No attempt got an answer. The request may be sent again."""


class Failed(RejudgeError):
    """A job failed, was cancelled, or did not end in time."""


class Damaged(RejudgeError):
    """A downloaded file does not match its announced size, digest or name."""


class Problem(RejudgeError):
    """An error response. `problem` is its body (RFC 9457), `status` its HTTP status.

    The message is its sentence, and each invalid field with its own.
    """

    def __init__(self, status: int, problem: Mapping[str, Any]) -> None:
        self.status = status
        self.problem = dict(problem)
        message = self.problem.get("detail") or self.problem.get("title") or f"HTTP {status}"
        errors = self.problem.get("errors") or ()
        places = [f"{error['pointer']}: {error['detail']}" for error in errors]
        super().__init__(" ".join(map(str, [message, *places])))


class NotSignedIn(Problem):
    """401: the token is missing, expired, revoked or unknown."""


class Forbidden(Problem):
    """403: the token's scope or the person's role does not allow this."""


class NotFound(Problem):
    """404: it does not exist, or this person may not see it."""


class Conflict(Problem):
    """409: the object has changed in the meantime. Read it again, then decide."""


class Refused(Problem):
    """400, 413 or 422: the request is not valid. The sentence says why; nothing has changed."""


_ERRORS: dict[int, type[Problem]] = {
    400: Refused,
    401: NotSignedIn,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    413: Refused,
    422: Refused,
}


def error_for(status: int, problem: Mapping[str, Any]) -> Problem:
    """Return the exception for an error response."""
    return _ERRORS.get(status, Problem)(status, problem)
