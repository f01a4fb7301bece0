"""Locks on files, which the system frees when the process that holds one ends."""

from __future__ import annotations

import fcntl


def try_lock(file: int) -> bool:
    """Lock an open file, unless another process has: return whether this one has it now."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
