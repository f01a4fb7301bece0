"""The package needs nothing from the application, and openai only to call a server."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = """
import sys

class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {refused}:
            raise ImportError(name)

sys.meta_path.insert(0, Refuse())
for name in {modules}:
    __import__("llm." + name)
print(sorted({{name.partition(".")[0] for name in sys.modules}} & {{"annotate", "audit", "base"}}))
"""
DJANGO = {"django", "celery", "rest_framework"}
CALLING = {"completion", "judge", "transport"}
ALL = {path.stem for path in (ROOT / "llm").glob("[a-z]*.py")}


@pytest.mark.parametrize(
    ("refused", "modules"),
    [(DJANGO, ALL), (DJANGO | {"openai", "httpx2"}, ALL - CALLING)],
)
def test_the_modules_are_imported_without(refused, modules):
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", SCRIPT.format(refused=refused, modules=modules)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.stderr, done.stdout) == ("", "[]\n")
