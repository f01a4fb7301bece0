"""The package `rejudge` of an installed distribution: a wheel has this file as its `__init__.py`.

The folders of a checkout lie below it as they are, so that an installation and a checkout run the
same code from the same places.
"""

from __future__ import annotations

import sys
from pathlib import Path


def main() -> None:
    """Run one command of `manage.py`: `rejudge demo`, `rejudge load`."""
    sys.path.insert(0, str(Path(__file__).resolve().parent))
    from manage import main as run_command

    run_command()
