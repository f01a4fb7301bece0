"""Open files and folders by their paths; every failure is a FormatError with a sentence."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import IO

from formats.problems import FormatError
from formats.texts import SURROGATE, printable


def checked_path(path: str | Path) -> Path:
    """Return `path` as a Path; raise FormatError if its name is not UTF-8."""
    file = Path(path)
    if SURROGATE.search(str(file)):
        raise FormatError("the file's name is not UTF-8; rename it", file=printable(str(file)))
    return file


def is_dir(path: Path) -> bool:
    """Return whether there is a folder at `path`."""
    try:
        return path.is_dir()
    except OSError:
        # Opening it reports the error.
        return False


def open_file(path: Path) -> IO[bytes]:
    """Open a file to read its bytes, or raise FormatError."""
    name = printable(str(path))
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise FormatError("this is not an ordinary file", file=name)
        return path.open("rb")
    except FileNotFoundError as error:
        raise FormatError("there is no such file", file=name) from error
    except PermissionError as error:
        raise FormatError("this file cannot be read (permission denied)", file=name) from error
    except (OSError, ValueError) as error:
        reason = (
            error.strerror if isinstance(error, OSError) else "its name contains a null character"
        )
        raise FormatError(f"this file cannot be read: {reason}", file=name) from error
