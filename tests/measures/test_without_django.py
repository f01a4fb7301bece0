"""The package needs numpy and the bootstrap of agreement, but nothing from the application."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
SCRIPT = """
import sys

class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"django", "celery", "rest_framework", "pandas", "scipy"}:
            raise ImportError(name)

sys.meta_path.insert(0, Refuse())
from measures import p_mrr

print(p_mrr(
    original={"q": {"a": 2.0, "b": 1.0}, "r": {"a": 2.0, "b": 1.0}},
    changed={"q": {"a": 1.0, "b": 2.0}, "r": {"a": 2.0, "b": 1.0}},
    qrels_original={"q": {"a": 1}, "r": {"a": 1}},
    qrels_changed={"q": {"a": 0}, "r": {"a": 0}},
))
print(sorted({name.partition(".")[0] for name in sys.modules} & {"annotate", "audit", "formats"}))
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
    assert first == "p-MRR 0.2500 [0.0000, 0.5000] (2 queries)"
    assert second == "[]"
