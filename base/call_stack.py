"""Room for deep calls, so that Python does not ask the system for memory again and again.

CPython keeps the frames of calls in chunks of 16 KB. A loop that calls functions at the end of a
chunk maps the next one and unmaps it again at each call. A page of Django is two chunks deep or
more, and paid for it with a sixth of its processor time.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from typing import ParamSpec, TypeVar

Given = ParamSpec("Given")
Answer = TypeVar("Answer")

# In places of 8 bytes. Chunks are powers of two: more than half of 1 MB makes one of 1 MB, and the
# rest of it is the room for the calls below.
SLOTS = 70_000


def roomy(function: Callable[Given, Answer]) -> Callable[Given, Answer]:
    """Return the function; whatever it calls finds its frames in one large chunk."""

    def call(*args: Given.args, **kwargs: Given.kwargs) -> Answer:
        return function(*args, **kwargs)

    call.__code__ = call.__code__.replace(co_stacksize=SLOTS)
    return update_wrapper(call, function)
