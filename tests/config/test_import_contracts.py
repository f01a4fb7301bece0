from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from django.conf import settings


def test_no_import_breaks_a_contract():
    contracts = subprocess.run(
        [sys.executable, "-c", "from importlinter.cli import lint_imports_command as run; run()"],
        cwd=Path(settings.BASE_DIR),
        capture_output=True,
        text=True,
    )

    assert contracts.returncode == 0, contracts.stdout
