"""Questions that a lower package asks and a higher one answers, without the lower knowing it.

The lower package defines a `Provider` and calls it. The higher one registers the answer when its
app starts. A call without an answer raises, so that nothing is shown because an answer is missing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, ParamSpec, TypeVar

Parameters = ParamSpec("Parameters")
Answer = TypeVar("Answer")


class NotRegistered(RuntimeError):
    """No app has registered an answer."""


class Provider(Generic[Parameters, Answer]):
    """One question with one answer: a function that a higher package registers."""

    def __init__(self, question: str) -> None:
        self.question = question
        self._answer: Callable[Parameters, Answer] | None = None

    def register(self, answer: Callable[Parameters, Answer]) -> None:
        """Answer the question by this function; called once, when an app starts."""
        if self._answer not in (None, answer):
            raise RuntimeError(f"This question has an answer already: {self.question}")
        self._answer = answer

    @property
    def is_registered(self) -> bool:
        """Whether a package answers."""
        return self._answer is not None

    def __call__(self, *args: Parameters.args, **kwargs: Parameters.kwargs) -> Answer:
        """Return the answer, or raise NotRegistered."""
        if self._answer is None:
            raise NotRegistered(f"No app has registered an answer to: {self.question}")
        return self._answer(*args, **kwargs)
