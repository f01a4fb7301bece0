"""Reserve stack space for deep calls, so that Python does not map and unmap memory repeatedly.

CPython stores call frames in chunks of 16 KB. A loop that calls functions at the end of a chunk
maps the next chunk and unmaps it again at every call. Rendering a Django page needs two chunks or
more and spent a sixth of its CPU time on this.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from typing import ParamSpec, TypeVar

Given = ParamSpec("Given")
Answer = TypeVar("Answer")

# In slots of 8 bytes. Chunk sizes are powers of two: a frame of more than 512 KB gets a chunk of
# 1 MB, and the calls below use the rest of it.
SLOTS = 70_000


def with_large_stack(function: Callable[Given, Answer]) -> Callable[Given, Answer]:
    """Wrap the function so that the frames of all calls below it fit in one large chunk."""

    def call(*args: Given.args, **kwargs: Given.kwargs) -> Answer:
        return function(*args, **kwargs)

    call.__code__ = call.__code__.replace(co_stacksize=SLOTS)
    return update_wrapper(call, function)
