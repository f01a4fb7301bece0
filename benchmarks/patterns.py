"""Try every regular expression of the product on long runs of each character, and print the worst.

    python -m benchmarks.patterns                 all patterns at 1 MB, the slowest first
    python -m benchmarks.patterns --size 200000   at another size

A pattern over the text of users or files must take time in proportion to the text. Each pattern is
searched through runs of each sign that it names, alone, after each of its own literal words, and in
pairs.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import json
import re
import signal
import time
from collections.abc import Iterator
from itertools import permutations
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = (
    *("agreement", "annotate", "audit", "base", "client", "config", "exporters", "formats"),
    *("jobs", "keeping", "llm", "measures"),
)
# Signs that classes such as \s, \w and \d stand for.
COMMON = [*" \n\t.,;:!?'\"()<>|=-_/&#*aA0é。‘’“”…"]
# What may stand before a run, besides the words of the pattern itself.
BEGINS = ["", "1", "a", ".", "\n", '"', "<td rowspan=", "Version/"]
# The length of a short text, in signs.
SHORT = 2_000
# How many texts that are slow when short are tried at full length.
CANDIDATES = 5
# Names of functions' own variables in patterns.
LOCALS = {"name": "TEXT", "number": 1, "terms": ["a", "aa"]}
METHODS = {"search", "match", "fullmatch", "findall", "finditer", "split", "sub"}


class Case(NamedTuple):
    """A pattern of the product, where it stands, and by which methods its module applies it."""

    place: str
    pattern: re.Pattern[str]
    methods: set[str]


def patterns() -> Iterator[Case]:
    """Yield each pattern of the product."""
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            source = path.read_text("utf-8")
            if "import re\n" not in source:
                continue
            tree = ast.parse(source)
            names = {
                inner: ast.unparse(outer.targets[0])
                for outer in ast.walk(tree)
                if isinstance(outer, ast.Assign)
                for inner in ast.walk(outer)
                if isinstance(inner, ast.Call)
            }
            for node in ast.walk(tree):
                if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
                    continue
                method = node.func.attr
                if ast.unparse(node.func.value) != "re" or method not in METHODS | {"compile"}:
                    continue
                place = path.relative_to(ROOT)
                text = _evaluate(node.args[0], ".".join(place.with_suffix("").parts))
                flags = re.IGNORECASE if "re.I" in ast.unparse(node) else re.NOFLAG
                flags |= re.MULTILINE if "MULTILINE" in ast.unparse(node) else re.NOFLAG
                used = {method}
                if method == "compile":
                    called = rf"\b{re.escape(names.get(node, '?'))}(?:\[\w+\])?\.(\w+)\("
                    used = METHODS & set(re.findall(called, source))
                yield Case(f"{place}:{node.lineno}", re.compile(text, flags), used or {"search"})


def _evaluate(node: ast.expr, module: str) -> str:
    """Return the text of a pattern; what a function puts into it is one of `LOCALS`."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    names = LOCALS | vars(importlib.import_module(module))
    return str(eval(ast.unparse(node), names))  # noqa: S307  # the product's own code


def worst_cases(pattern: re.Pattern[str]) -> Iterator[tuple[str, str]]:
    """Yield the texts to try: the words before the run, and what is repeated."""
    own = list(dict.fromkeys(sign for sign in pattern.pattern if not sign.isalnum()))[:25]
    words = dict.fromkeys([*BEGINS, *re.findall(r"<?/?[A-Za-z]{2,}=?", pattern.pattern)[:12]])
    for word in words:
        for sign in dict.fromkeys([*COMMON, *own]):
            yield word, sign
            if word:
                yield "", word + sign
    for one, other in permutations(dict.fromkeys([*" \n.a1", *own[:10]]), 2):
        yield "", one + other


class TooSlow(Exception):
    """A search took longer than it may."""


def seconds(case: Case, begins: str, repeats: str, size: int, most: float) -> float:
    """Return how long the pattern takes to go through a text; at most `most`.

    The text ends with a sign that no run continues, so that a match of all of it fails.
    """
    text = begins + repeats * (size // len(repeats)) + "\0"

    def stop(*_: Any) -> None:
        raise TooSlow

    # Of the processor, because other work on the machine does not count.
    signal.signal(signal.SIGVTALRM, stop)
    began = time.thread_time()
    try:
        try:
            signal.setitimer(signal.ITIMER_VIRTUAL, most)
            _apply(case, text)
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    # The signal may also come while the timer is stopped.
    except TooSlow:
        return most
    return time.thread_time() - began


def _apply(case: Case, text: str) -> None:
    if "match" in case.methods:
        case.pattern.match(text)
    if "fullmatch" in case.methods:
        case.pattern.fullmatch(text)
    if case.methods - {"match", "fullmatch"}:
        for _ in case.pattern.finditer(text):
            pass


def slowest(case: Case, size: int, most: float, short: int = SHORT) -> dict[str, Any]:
    """Return the worst of the texts for a pattern, with its time at `size` and at half of it.

    Candidates are found by texts of `short` signs, in which what grows with the square already
    shows. There are several, because a collection of garbage can make a harmless text seem slow.
    """
    tried = ((seconds(case, *text, short, most), text) for text in worst_cases(case.pattern))
    slow = [text for _, text in sorted(tried, reverse=True)[:CANDIDATES]]
    half, (begins, repeats) = max((seconds(case, *text, size // 2, most), text) for text in slow)
    whole = seconds(case, begins, repeats, size, most) if half < most else most
    return {
        "seconds": round(whole, 4),
        "half": round(half, 4),
        "begins": begins,
        "repeats": repeats,
    }


def main() -> None:
    """Print every pattern with its worst text, the slowest first."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=1_000_000)
    parser.add_argument("--most", type=float, default=2.0, help="seconds for one search")
    options = parser.parse_args()
    found = [
        {
            "place": case.place,
            "pattern": case.pattern.pattern[:80],
            **slowest(case, options.size, options.most),
        }
        for case in patterns()
    ]
    print(json.dumps(sorted(found, key=lambda one: -one["seconds"]), indent=1))


if __name__ == "__main__":
    main()
