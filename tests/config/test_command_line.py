"""`manage.py` ends quietly when the reader of its output wants no more."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

MANAGE = Path(__file__).parents[2] / "manage.py"


def test_a_command_whose_reader_has_gone_ends_without_a_traceback():
    reader, writer = os.pipe()
    os.close(reader)

    ended = subprocess.run(
        [sys.executable, MANAGE, "help"], stdout=writer, stderr=subprocess.PIPE, check=False
    )

    os.close(writer)
    assert (ended.returncode, ended.stderr) == (1, b"")
