"""Where web processes keep what they count: files that are memory, gone with the machine."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

PREFIX = "rejudge-metrics-"
# Such files are written as memory is: on a disk that is full, that would end the process.
MEMORY = Path("/dev/shm")  # noqa: S108 (folders of a new name are made in it)


def new_folder(parent: Path | None = None) -> Path:
    """Make a folder for the counts of this process and its children, and take away those of
    processes that are gone.
    """
    if parent is None:
        parent = MEMORY if os.access(MEMORY, os.W_OK) else Path(tempfile.gettempdir())
    for left in parent.glob(f"{PREFIX}*"):
        owner = left.name.removeprefix(PREFIX).partition("-")[0]
        if not (owner.isdecimal() and _is_there(int(owner))):
            # Of somebody else's it stays.
            shutil.rmtree(left, ignore_errors=True)
    return Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-", dir=parent))


def _is_there(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
