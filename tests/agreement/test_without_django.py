"""The package needs numpy and krippendorff, but nothing from the application."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
# Modules that may be loaded: the package, its two libraries, and their own dependencies.
SCRIPT = """
import sys

class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"django", "celery", "rest_framework", "pandas", "scipy"}:
            raise ImportError(name)

sys.meta_path.insert(0, Refuse())
from agreement import cohen_kappa, plan

print(cohen_kappa([[0, 0], [1, 1], [0, 1], [1, 1]] * 9, categories=[0, 1], interval="bootstrap"))
print(sorted({name.partition(".")[0] for name in sys.modules} & {"annotate", "audit", "config"}))
"""


def test_the_package_works_without_django():
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", SCRIPT],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.stderr == ""
    first, second = done.stdout.splitlines()
    assert first.startswith("Cohen's kappa 0.500 [")
    assert second == "[]"
