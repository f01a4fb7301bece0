"""The folder in which web processes keep their metrics: files in memory, lost at a reboot."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

PREFIX = "rejudge-metrics-"
# These files are mapped into memory: on a full disk, a write to one would kill the process.
MEMORY = Path("/dev/shm")  # noqa: S108 (folders of a new name are made in it)


def new_folder(parent: Path | None = None) -> Path:
    """Make a folder for the metrics of this process and its children.

    Folders of processes that have ended are deleted.
    """
    if parent is None:
        parent = MEMORY if os.access(MEMORY, os.W_OK) else Path(tempfile.gettempdir())
    for folder in parent.glob(f"{PREFIX}*"):
        owner = folder.name.removeprefix(PREFIX).partition("-")[0]
        if not (owner.isdecimal() and _is_running(int(owner))):
            # Folders of other system accounts cannot be deleted and stay.
            shutil.rmtree(folder, ignore_errors=True)
    return Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-", dir=parent))


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
