"""What is computed from texts takes time in proportion to them, whatever they are made of."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from annotate.collection.table_windows import lay_out
from annotate.pairs.clauses import clauses, split_diff
from base.word_diff import Op, diff
from formats.tables import parse_table

SIZE = 40_000
# Below this a measurement says nothing.
NOTICEABLE = 0.05
SIGNS = {
    "dots": ".",
    "line breaks": "\n",
    "blanks": " ",
    "sentences": "a. ",
    "abbreviations": "e.g. ",
    "commas": "a, ",
    "lists": "\n- ",
    "paragraphs": "\n \n",
    "digits": "1 ",
    "quotes": '."',
    "full-width stops": "。",
    "one word": "a",
    "combining marks": "e\u0301",
    "right-to-left": "\u0627\u060c ",
}


def mark_clauses(text: str) -> object:
    return split_diff([(Op.KEPT, text)], clauses(text))


def draw_table(text: str) -> object:
    return lay_out(parse_table(f"<table><tr><td rowspan={text}>{text}x</td></tr></table>", "html"))


def compare(text: str) -> object:
    return diff(text, text[: len(text) // 2] + text[1:])


def seconds(compute: Callable[[str], object], text: str) -> float:
    """Return the least processor time of three runs."""
    times: list[float] = []
    for _ in range(3):
        began = time.process_time()
        compute(text)
        times.append(time.process_time() - began)
    return min(times)


@pytest.mark.parametrize("signs", SIGNS.values(), ids=SIGNS)
@pytest.mark.parametrize("compute", [mark_clauses, draw_table, compare])
def test_twice_the_text_takes_at_most_three_times_the_time(compute: Any, signs: str):
    text = signs * (SIZE // len(signs))

    once, twice = seconds(compute, text), seconds(compute, text * 2)

    assert twice < NOTICEABLE or twice <= 3 * once


def test_texts_of_few_different_words_are_compared_within_a_bound():
    assert diff("a " * 700, "a b " * 350) == [
        (Op.REMOVED, "a " * 700),
        (Op.ADDED, "a b " * 350),
    ]
