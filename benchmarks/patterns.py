"""Try every regular expression of the product on long runs of each character, and print the worst.

    python -m benchmarks.patterns                 all patterns at 1 MB, the slowest first
    python -m benchmarks.patterns --size 200000   at another size

A pattern over the text of users or files must take time in proportion to the text. Each pattern is
used as the product uses it (searched for, or matched at the beginning) on runs of each sign that it
names, alone and after each of its own literal words.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import signal
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = (
    *("agreement", "annotate", "audit", "base", "client", "config", "exporters", "formats"),
    *("jobs", "keeping", "measures"),
)
# Signs that classes such as \s, \w and \d stand for.
COMMON = [*" \n\t.,;:!?'\"()<>|=-_/&#*aA0é。‘’“”…"]
# A search that is linear goes through so many signs in less than so many seconds.
SHORT, LINEAR = 6_000, 0.002
FUNCTIONS = {"compile", "search", "match", "fullmatch", "findall", "finditer", "split", "sub"}


def patterns() -> Iterator[tuple[str, re.Pattern[str], bool]]:
    """Yield each pattern that is written in the product as constants, where it stands, and whether
    it is only matched at the beginning of a text.
    """
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            source = path.read_text("utf-8")
            tree = ast.parse(source)
            constants: dict[str, Any] = {}
            for node in ast.walk(tree):
                if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                    constants[node.targets[0].id] = node.value
                if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
                    continue
                if ast.unparse(node.func.value) != "re" or node.func.attr not in FUNCTIONS:
                    continue
                text = _constant(node.args[0], constants)
                if text is None:
                    continue
                flags = re.IGNORECASE if "IGNORECASE" in ast.unparse(node) else re.NOFLAG
                flags |= re.MULTILINE if "MULTILINE" in ast.unparse(node) else re.NOFLAG
                names = [name for name, value in constants.items() if value is node]
                uses = {node.func.attr} - {"compile"}
                for name in names:
                    uses.update(re.findall(rf"\b{name}\.(\w+)\(", source))
                at_start = bool(uses) and uses <= {"match", "fullmatch"}
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    place = f"{path.relative_to(ROOT)}:{node.lineno}"
                    yield place, re.compile(text, flags), at_start


def _constant(node: ast.expr, constants: dict[str, Any]) -> str | None:
    """Return the text of an expression of constants, or None if it is made of anything else."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.Name) and node.id in constants:
        return _constant(constants[node.id], constants)
    if isinstance(node, ast.JoinedStr):
        parts = [
            _constant(part.value if isinstance(part, ast.FormattedValue) else part, constants)
            for part in node.values
        ]
        return None if None in parts else "".join(part for part in parts if part is not None)
    return None


def worst_cases(pattern: re.Pattern[str]) -> Iterator[tuple[str, str]]:
    """Yield the texts to try: the words before the run, and the sign that is repeated."""
    signs = dict.fromkeys([*COMMON, *(sign for sign in pattern.pattern if not sign.isalnum())])
    words = dict.fromkeys(["", *re.findall(r"<?/?[A-Za-z]{2,}(?:\\b|=)?", pattern.pattern)[:12]])
    for word in words:
        for sign in signs:
            yield word.replace("\\b", ""), sign


class TooSlow(Exception):
    """A search took longer than it may."""


def seconds(pattern: re.Pattern[str], text: str, most: float, *, at_start: bool) -> float:
    """Return how long it takes to go through all matches of a pattern; at most `most`."""

    def stop(*_: Any) -> None:
        raise TooSlow

    signal.signal(signal.SIGALRM, stop)
    began = time.perf_counter()
    try:
        signal.setitimer(signal.ITIMER_REAL, most)
        if at_start:
            pattern.match(text)
            pattern.fullmatch(text + "\a")
        else:
            for _ in pattern.finditer(text):
                pass
        signal.setitimer(signal.ITIMER_REAL, 0)
    except TooSlow:
        return most
    return time.perf_counter() - began


def slowest(pattern: re.Pattern[str], size: int, most: float, *, at_start: bool) -> dict[str, Any]:
    """Return the worst of the texts for a pattern at this size, and its time."""
    worst: dict[str, Any] = {"seconds": 0.0}
    for word, sign in worst_cases(pattern):
        # A short try first: what grows with the square of the length already shows in it.
        if seconds(pattern, word + sign * SHORT, most, at_start=at_start) < LINEAR:
            continue
        spent = seconds(pattern, word + sign * size, most, at_start=at_start)
        if spent > worst["seconds"]:
            worst = {"seconds": round(spent, 4), "begins": word, "repeats": sign}
        if spent >= most:
            break
    return worst


def main() -> None:
    """Print every pattern with its worst text, the slowest first."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=1_000_000)
    parser.add_argument("--most", type=float, default=2.0, help="seconds for one search")
    options = parser.parse_args()
    found = [
        {
            "place": place,
            "pattern": pattern.pattern[:80],
            **slowest(pattern, options.size, options.most, at_start=at_start),
        }
        for place, pattern, at_start in patterns()
    ]
    print(json.dumps(sorted(found, key=lambda one: -one["seconds"]), indent=1))


if __name__ == "__main__":
    main()
