"""What is computed from texts takes time in proportion to them, whatever they are made of."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from typing import Any

import pytest

from annotate.collection.table_windows import lay_out
from annotate.pairs.clauses import clauses, split_diff
from base.tags.figures import browser_of
from base.word_diff import Op, diff
from formats.passages import excerpts
from formats.registry import lookup
from formats.source import Source
from formats.tables import parse_table
from llm.documents import cut, delimit, find_quote, passages

SIZE = 40_000
# Other work on the machine may slow a computation down, but not each time that it is measured.
MEASUREMENTS = 10
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


def cut_in_half(text: str) -> object:
    return cut(text, len(text) // 2)


def divide(text: str) -> object:
    return passages(text, 1_000)


def seek_quote(text: str) -> object:
    # All of it occurs but the end.
    return find_quote(text[: len(text) // 2] + "b", text)


def grows_in_proportion(compute: Callable[[Any], object], once: Any, twice: Any) -> bool:
    """Return whether twice the size took at most three times the processor time, measured often."""
    return any(seconds(compute, twice) <= 3 * seconds(compute, once) for _ in range(MEASUREMENTS))


def seconds(compute: Callable[[Any], object], size: Any) -> float:
    # The collector would visit all objects of all tests so far, and more often for more text.
    gc.disable()
    try:
        began = time.process_time()
        compute(size)
        return time.process_time() - began
    finally:
        gc.enable()


@pytest.mark.parametrize("signs", SIGNS.values(), ids=SIGNS)
@pytest.mark.parametrize(
    "compute", [mark_clauses, draw_table, compare, cut_in_half, divide, delimit, seek_quote]
)
def test_twice_the_text_takes_at_most_three_times_the_time(compute: Any, signs: str):
    text = signs * (SIZE // len(signs))

    assert grows_in_proportion(compute, text, text * 2)


def test_texts_of_few_different_words_are_compared_within_a_bound():
    assert diff("a " * 700, "a b " * 350) == [
        (Op.REMOVED, "a " * 700),
        (Op.ADDED, "a b " * 350),
    ]


def draw_short_rows(size: int) -> object:
    table = f"|{'a|' * size}\n|{'-|' * size}\n" + "|a\n" * size
    return lay_out(parse_table(table, "markdown"))


def draw_rows_under_tall_cells(size: int) -> object:
    row = f"<td rowspan=0>{'<td>' * size}"
    return lay_out(parse_table(f"<table><tr>{row}{'<tr>' * size}</table>", "html"))


def compare_few_different_sentences(size: int) -> object:
    one, other = ("".join(f"{number * step % 150}. " for number in range(size)) for step in (1, 7))
    return diff(one, other)


def compare_every_second_sentence(size: int) -> object:
    one, other = ("".join(f"{number}. {word}. " for number in range(size)) for word in "xy")
    return diff(one, other)


def cut_excerpts(size: int) -> object:
    # Only the last span has room to grow.
    spans = [(at * 2, at * 2 + 1) for at in range(size // 20)]
    return excerpts("a " * size, spans, share=50)


def read_header_without_names(size: int) -> object:
    return list(lookup("judgments-csv").read(Source(b"\t" * size, collect=True)))


def read_header_of_many_names(size: int) -> object:
    header = "query_id\tmachine\tdecision" + "\t" * size
    return list(lookup("filter-csv").read(Source(header.encode(), collect=True)))


def read_object_with_a_repeated_field(size: int) -> object:
    fields = ",".join(f'"{number}":1' for number in [*range(size), size - 1])
    return list(lookup("judgments-jsonl").read(Source(f"{{{fields}}}".encode(), collect=True)))


def name_browser(size: int) -> object:
    return browser_of(f"Version/{'1' * size}")


@pytest.mark.parametrize(
    ("compute", "size"),
    [
        (draw_short_rows, 2_000),
        (draw_rows_under_tall_cells, 2_000),
        (compare_few_different_sentences, 4_000),
        (compare_every_second_sentence, 4_000),
        (cut_excerpts, 20_000),
        (name_browser, 20_000),
        (read_header_without_names, 10_000),
        (read_header_of_many_names, 10_000),
        (read_object_with_a_repeated_field, 10_000),
    ],
)
def test_twice_the_size_takes_at_most_three_times_the_time(compute: Any, size: int):
    assert grows_in_proportion(compute, size, size * 2)


def test_a_computation_whose_time_grows_faster_is_noticed():
    def compare_all_triples(size: int) -> int:
        things = range(size)
        return sum(one == two == three for one in things for two in things for three in things)

    assert not grows_in_proportion(compare_all_triples, 60, 120)


def test_the_ends_of_texts_too_long_to_compare_are_kept():
    one, other = ("".join(f"{number * step % 150}. " for number in range(4_000)) for step in (1, 7))

    pieces = diff(f"First. {one}Last.", f"First. {other}Last.")

    assert [op for op, _ in pieces] == [Op.KEPT, Op.REMOVED, Op.ADDED, Op.KEPT]
    assert (pieces[0].text, pieces[-1].text) == ("First. 0. ", "Last.")
