"""Ending a process when its parent ends."""

from __future__ import annotations

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1
# Loaded once, before any fork: a forked child should call as little as it can.
_libc = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


def die_with(parent: int) -> None:
    """Ask the kernel to kill this process when its parent process, `parent`, ends.

    On Linux only: elsewhere, the children of a killed supervisor have to be stopped by hand.
    """
    if _libc is None:
        return
    if _libc.prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_PDEATHSIG)")
    if os.getppid() != parent:
        # The parent ended before the call to the kernel.
        os.kill(os.getpid(), signal.SIGKILL)
