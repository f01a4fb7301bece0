"""Known vulnerabilities of our packages: `python -m tests.services.vulnerabilities`.

Exits with 0 (every package was checked and none is known to be vulnerable), 1 (some are, and are
listed) or 3 (not all could be checked, because the service cannot be reached everywhere). An
unchecked package is never called clean, as pip-audit itself would with a note on each package.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

LOCK = Path(__file__).resolve().parents[2] / "requirements.lock"
CLEAN, KNOWN, NOT_CHECKED = 0, 1, 3
# Time limits in seconds: for one answer, and for all of them together.
PATIENCE = 5
LONGEST = 90


class Audit(NamedTuple):
    """The exit code and the text to print."""

    how: int
    words: str


def audit(lock: Path = LOCK, *options: str, longest: float = LONGEST) -> Audit:
    """Check every package of a lock file; `options` are those of pip-audit."""
    try:
        audit_run = subprocess.run(
            [
                *(sys.executable, "-m", "pip_audit", "--requirement", str(lock)),
                *("--disable-pip", "--require-hashes", "--progress-spinner", "off"),
                *("--timeout", str(PATIENCE), "--format", "json", *options),
            ],
            capture_output=True,
            text=True,
            check=False,
            timeout=longest,
        )
    except subprocess.TimeoutExpired:
        return Audit(NOT_CHECKED, f"NOTHING WAS CHECKED: no answer within {longest:g} s")
    try:
        packages = json.loads(audit_run.stdout)["dependencies"]
    except (ValueError, KeyError):
        output = audit_run.stderr.strip().splitlines()
        return Audit(NOT_CHECKED, f"NOTHING WAS CHECKED: {output[-1] if output else 'no answer'}")
    return read(packages)


def read(packages: list[dict[str, Any]]) -> Audit:
    """Evaluate pip-audit's result for each package."""
    weak = [
        f"{one['name']} {one['version']}: {weakness['id']}, fixed in "
        f"{', '.join(weakness['fix_versions']) or 'no version yet'}"
        for one in packages
        for weakness in one.get("vulns", ())
    ]
    unasked = [one["name"] for one in packages if "skip_reason" in one]
    words = [f"{len(packages) - len(unasked)} of {len(packages)} packages were checked"]
    if len(unasked) == len(packages):
        words = ["NOTHING WAS CHECKED: the vulnerability service cannot be reached here"]
    elif unasked:
        words.append(f"NOT CHECKED: {', '.join(unasked)}")
    if weak:
        return Audit(KNOWN, "\n".join([*weak, *words]))
    return Audit(NOT_CHECKED if unasked or not packages else CLEAN, "\n".join(words))


if __name__ == "__main__":
    ended = audit()
    print(ended.words)
    sys.exit(ended.how)
