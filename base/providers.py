"""Dependency inversion: a lower package calls functions that a higher package registers.

The lower package defines a `Provider` and calls it. The higher package registers a function when
its app starts. A call without a registered function raises, so that a missing one cannot reveal
anything.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, ParamSpec, TypeVar

Parameters = ParamSpec("Parameters")
Answer = TypeVar("Answer")


class NotRegistered(RuntimeError):
    """No app has registered a function for this provider."""


class Provider(Generic[Parameters, Answer]):
    """One question, answered by a function that a higher package registers."""

    def __init__(self, question: str) -> None:
        self.question = question
        self._answer: Callable[Parameters, Answer] | None = None

    def register(self, answer: Callable[Parameters, Answer]) -> None:
        """Register the function that answers; called once, when an app starts."""
        if self._answer not in (None, answer):
            raise RuntimeError(f"This question already has an answer: {self.question}")
        self._answer = answer

    @property
    def is_registered(self) -> bool:
        """Return whether a function is registered."""
        return self._answer is not None

    def __call__(self, *args: Parameters.args, **kwargs: Parameters.kwargs) -> Answer:
        """Call the registered function, or raise NotRegistered."""
        if self._answer is None:
            raise NotRegistered(f"No app has registered an answer to: {self.question}")
        return self._answer(*args, **kwargs)
