"""Shared by readers and writers: guessing formats, columns, finding repeated keys, grades, text."""

from __future__ import annotations

import html.entities
import json
import re
from collections.abc import Callable, Iterable, Iterator
from functools import wraps
from itertools import pairwise
from typing import IO, Any, TypeVar

from formats.folders import Folder
from formats.source import HEAD, FormatHint, Source
from formats.texts import check_id, excerpt, json_name

MAX_RECORD = 64 * 1024 * 1024
"""Maximum characters of one record that spans many lines (a document, a topic)."""

WINDOW = 200_000
"""How many keys `SeenKeys` remembers: about 30 MB, regardless of the length of the file."""

_In = TypeVar("_In", bound=Source | Folder)
_Out = TypeVar("_Out")


# Every reader before decoration, by the name of its format.
_READERS: dict[str, Callable[[Any], Iterator[Any]]] = {}


def reader(
    name: str, what: str
) -> Callable[[Callable[[_In], Iterator[_Out]]], Callable[[_In], Iterator[_Out]]]:
    """Return a decorator for the reader of the format `name`; its records are called `what`.

    A file in which the reader finds nothing is refused. If the first line does not fit and the file
    looks like another format, the refusal names that format.
    """

    def decorate(read: Callable[[_In], Iterator[_Out]]) -> Callable[[_In], Iterator[_Out]]:
        _READERS[name] = read

        @wraps(read)
        def read_checked(source: _In) -> Iterator[_Out]:
            if isinstance(source, Source):
                source.find_hint = lambda head: hint_at_format(head, name)
            records = read(source)
            for first in records:
                if isinstance(source, Source):
                    source.find_hint = None
                yield first
                yield from records
                return
            if not source.refused:
                source.refuse_all(f"no {what} found in it")

        return read_checked

    return decorate


def hint_at_format(head: str, name: str) -> FormatHint | None:
    """Return a hint if a file that begins with `head` is clearly not of the format `name`.

    Another format is named only if its reader accepts the head and keeps every field in it.
    """
    likely = guess_format(head)
    if likely is None or likely == name:
        return None
    if likely == "beir" and name in ("docs-jsonl", "topics-json"):
        # One file of the folder may be loaded alone.
        return None
    if likely in ("followtable", "beir", "infosearch"):
        sentence = f"the file looks like a part of {likely}: load its folder as {likely}"
        return FormatHint(sentence, None)
    if not _accepts(likely, head):
        return None
    return FormatHint(f"the file looks like {likely}: load it as {likely}", likely)


def _accepts(name: str, head: str) -> bool:
    """Return whether the reader of a format accepts the head of a file and keeps all of it."""
    cut = len(head) >= HEAD
    source = Source((_complete_part(head) if cut else head).encode(), collect=True)
    accepted = sum(1 for _ in _READERS[name](source))
    # If the head is cut off, its last record may be refused for that reason.
    return accepted > 0 and source.refused <= int(cut) and not source.left_out.sentences()


def _complete_part(head: str) -> str:
    """Return a head that was cut off, without its incomplete last record."""
    opening = re.match(r'\s*(?:\[|\{\s*"(?:[^"\\]|\\.)*"\s*:(?=\s*\{))\s*', head)
    if opening is None:
        return head.rpartition("\n")[0]
    try:
        _, end = json.JSONDecoder().raw_decode(head, opening.end())
    except (ValueError, RecursionError):
        return ""
    return head[:end] + ("]" if head.lstrip().startswith("[") else "}")


def guess_format(head: str) -> str | None:
    """Return the name of the format that text beginning with `head` clearly has, or None."""
    head = head.lstrip()
    if head.startswith("<"):
        if re.match(r"<\?xml|<!DOCTYPE", head) or re.search(r"<topic\b[^<>]*\bnumber\s*=", head):
            return "trec-topics-xml"
        if re.search(r"<top\b[^<>]*>", head, re.IGNORECASE):
            return "trec-topics"
        return "trec-docs" if re.search(r"<doc(?:no)?>", head, re.IGNORECASE) else None
    if head.startswith("["):
        return _guess_list(head)
    if head.startswith("{"):
        return _guess_json(head.partition("\n")[0], head)
    if re.match(r"\.I\s+\S+\s*\n", head):
        return "smart-docs" if re.search(r"^\.[TAB]\s*$", head, re.MULTILINE) else "smart-queries"
    return _guess_columns(head)


def _guess_list(head: str) -> str:
    if '"query_positive"' in head:
        return "followtable"
    return _guess_records(set(re.findall(r'"(\w+)"\s*:', head))) or "topics-json"


def _guess_records(keys: set[str]) -> str | None:
    """Return the format whose records have lists in objects, each over many lines, or None."""
    if {"candidates", "docid"} <= keys:
        return "umbrela-json" if "judgment" in keys else "infosearch-results"
    return "multi-infosearch-docs" if {"query_id", "documents"} <= keys else None


_PAIR_WITHOUT_TEXTS = {
    *("type", "pair_id", "query_id", "title", "description", "category", "origin", "model"),
    *("domain", "restates", "core", "source_fields"),
}


def _guess_json(line: str, head: str) -> str | None:
    try:
        keys = set(json.loads(line))
    except (ValueError, RecursionError):
        # Cut off, or an object over many lines: only its keys can be found.
        keys = set(re.findall(r'"(\w+)"\s*:', line if len(line) > 1 else head))
    if records := _guess_records(keys | set(re.findall(r'"(docid|judgment)"\s*:', head))):
        return records
    if {"positive_doc", "hard_negative_doc"} <= keys:
        return "multi-infosearch"
    if keys & {"instruction_changed", "instruction_reversed"}:
        return "infosearch"
    if "query_id" in keys and keys & {"narratives", "altered", "original"}:
        return "pairs-jsonl"
    # Pairs whose instructions are not written yet.
    if {"pair_id", "query_id"} <= keys <= _PAIR_WITHOUT_TEXTS:
        return "pairs-jsonl"
    if re.search(r'"type"\s*:\s*"(?:claim|generated)"', line):
        return "pairs-jsonl"
    if re.search(r'"type"\s*:\s*"(?:query|instruction|candidate)"', line):
        return "collection-jsonl"
    reviewed = "pair_id" in keys and re.search(r'"type"\s*:\s*"(?:review|decision)"', line)
    if {"query_id", "doc_id"} <= keys or reviewed:
        return "judgments-jsonl"
    if keys & {"text", "contents", "body", "segment"} and keys & {
        *("doc_id", "docno", "docid", "title", "id"),
    }:
        return "docs-jsonl"
    if keys & {"Query", "Guidelines", "query_id", "tid"} or {"id", "title"} <= keys:
        return "topics-json"
    if {"topic_id", "topics"} <= keys:
        return "topics-json"
    if {"_id", "text"} <= keys:
        return "beir"
    return None


def _guess_columns(head: str) -> str | None:
    lines = [line for line in head.split("\n") if line.strip() and not line.startswith("#")]
    if not lines:
        return None
    line = lines[0]
    if re.match(r"query-id\tcorpus-id\tscore\s*$", line):
        return "beir"
    if re.search(r"\b(?:relevance|label)\b", line) and "query_id" in line and "doc_id" in line:
        return "judgments-csv"
    if re.match(r"\"?Query1\b", line) and "Positive" in line:
        return "multiconir"
    if re.match(r"topic_id\b.*\bdoc_id\b.*\bprob_", line):
        return "lara-csv"
    fields = split_columns(line)
    if len(fields) == 4 and re.fullmatch(r"-?\d{1,3}", fields[3]):
        return "trec-qrels"
    if len(fields) >= 6:
        whole = lines if head.endswith("\n") or len(lines) == 1 else lines[:-1]
        return _guess_six_columns([split_columns(line) for line in whole])
    if len(fields) == 3 and all(re.fullmatch(r"-?\d+", field) for field in fields):
        return "smart-qrels"
    return None


_SCORE = re.compile(r"-?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]{1,3})?")
_WHOLE = re.compile(r"-?[0-9]{1,9}")


def _guess_six_columns(lines: list[list[str]]) -> str | None:
    """Return trec-run or trec-labels if the lines clearly are one of them, or None.

    In both, columns 4 and 5 are numbers. In a run they are ranks, each once per query, and scores
    that follow them. Qrels with several judgments per line have numbers in column 6, too.
    """
    if not all(len(line) >= 6 and _SCORE.fullmatch(line[4]) for line in lines):
        return None
    if not all(_WHOLE.fullmatch(line[3]) for line in lines):
        return "trec-run"
    if all(_WHOLE.fullmatch(line[5]) for line in lines):
        return None
    rows = sorted((line[0], int(line[3]), -float(line[4])) for line in lines)
    lowest: dict[str, int] = {}
    for query, rank, _ in rows:
        lowest.setdefault(query, rank)
    neighbours = [(row, next_row) for row, next_row in pairwise(rows) if row[0] == next_row[0]]
    is_ranking = all(
        (row[1] < next_row[1] and row[2] <= next_row[2]) or row[1:] == next_row[1:]
        for row, next_row in neighbours
    )
    is_numbered = all(rank in (0, 1) for rank in lowest.values()) and all(
        next_row[1] == row[1] + 1 for row, next_row in neighbours
    )
    scores = {-score for *_, score in rows}
    may_be_labels = all(-9 <= grade <= 9 and 0 <= -score <= 1 for _, grade, score in rows)
    if may_be_labels and not (is_ranking and is_numbered):
        return "trec-labels"
    is_undecided = may_be_labels and not neighbours
    are_equal_grades = len(scores) == 1 and scores <= set(range(-9, 10))
    return "trec-run" if is_ranking and not is_undecided and not are_equal_grades else None


LAYOUT = " \t\n\r\f"
"""White space that may surround an id in a text and is not part of it."""

_COLUMN = re.compile(r"[^ \t]+")


def split_columns(line: str) -> list[str]:
    """Return the columns of a line, separated only by runs of spaces and tabs."""
    return _splitter(line)(line)


def column_splitter(lines: list[str]) -> Callable[[str], list[str]]:
    """Return a function for these lines that is faster than `split_columns`."""
    return _splitter("".join(lines))


def _splitter(text: str) -> Callable[[str], list[str]]:
    # `str.split` also splits at other white space. In ASCII text that a source lets pass, the only
    # other white space is the form feed.
    return str.split if text.isascii() and "\f" not in text else _COLUMN.findall


class SeenKeys:
    """The lines on which keys first occurred, in bounded memory.

    Files are usually grouped, so the last WINDOW keys are enough to name both lines of a
    repetition. The unique constraint catches repetitions further apart when the rows are written.
    """

    def __init__(self, window: int = WINDOW) -> None:
        self.window = window
        self._lines: dict[str, int] = {}

    def first_line(self, key: str, line: int) -> int | None:
        """Return the line on which `key` occurred before; if it is new, None, and remember it."""
        if len(self._lines) >= self.window:
            self._lines.clear()
        first = self._lines.setdefault(key, line)
        return None if first == line else first

    def is_repeated(self, key: str) -> bool:
        """Return whether `key` occurred before, for input in which line numbers do not matter."""
        return self.first_line(key, len(self._lines) + 1) is not None


class SeenPairs:
    """Query-document pairs in the last WINDOW lines and the value noted for each, by topic.

    For loops over millions of lines: call `of_topic(query_id)` when the topic changes and use its
    dict; call `forget_if_many` now and then, and call `of_topic` again if it returned True.
    """

    def __init__(self, window: int = WINDOW) -> None:
        self.window = window
        self._topics: dict[str, dict[str, tuple[int, int]]] = {}

    def of_topic(self, query_id: str) -> dict[str, tuple[int, int]]:
        """Return {document id: (noted value, line)} for one topic."""
        return self._topics.setdefault(query_id, {})

    def forget_if_many(self) -> bool:
        """Forget everything if there are more pairs than the window; return whether it did."""
        if sum(map(len, self._topics.values())) <= self.window:
            return False
        self._topics.clear()
        return True


def parse_relevance(value: object) -> int:
    """Return a relevance from a file as int; raise ValueError with a sentence if it is not one.

    Only whole numbers: `2`, `-1`, also `2.0` (a float column). A fraction is refused, because
    rounding it would make a judgment that nobody gave. The range is that of a database's small
    integer.
    """
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError(f"the relevance must be a whole number, not {json_name(value)}")
    text = value.strip(" \t") if isinstance(value, str) else str(value)
    quoted = excerpt(text, 40)
    if not text:
        raise ValueError("the relevance is empty; leave the line out if nobody judged")
    match = re.fullmatch(r"([-+]?[0-9]+)(?:\.([0-9]+))?", text)
    if match is None:
        raise ValueError(f"the relevance {quoted!r} is not a whole number")
    if (match[2] or "").strip("0"):
        raise ValueError(f"the relevance {quoted} is a fraction; relevance is a whole number")
    # The length is checked first: Python refuses to convert numbers with thousands of digits.
    if len(match[1]) > 20 or not -32768 <= int(match[1]) <= 32767:
        raise ValueError(f"the relevance {quoted} is out of range (-32768 to 32767)")
    return int(match[1])


def strip_lines(text: str) -> str:
    """Return `text` with each line stripped and without blank lines at either end."""
    return "\n".join(line.strip() for line in text.split("\n")).strip()


def normalize_line_ends(text: str) -> str:
    """Return `text` with every kind of line end (browsers send CR LF) as a line feed."""
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def one_line(text: str) -> str:
    """Return `text` with every run of white space as one space."""
    return " ".join(text.split())


# Entities of TREC's disks that HTML lacks, or that have another meaning in HTML.
_TREC_ENTITIES = {"hyph": "-", "blank": " "}


def unescape(text: str) -> str:
    """Resolve character references that end in `;`; leave everything else unchanged.

    Stricter than `html.unescape`, which would read a part of `?a=1&copy=2` as a reference.
    """
    return text if "&" not in text else _REFERENCE.sub(_resolve_reference, text)


_REFERENCE = re.compile(r"&(?:#([0-9]{1,7})|#[xX]([0-9a-fA-F]{1,6})|([A-Za-z][A-Za-z0-9]{1,31}));")


def _resolve_reference(match: re.Match[str]) -> str:
    decimal, hexadecimal, name = match.groups()
    if name is not None:
        return _TREC_ENTITIES.get(name) or html.entities.html5.get(name + ";", match[0])
    code = int(decimal) if decimal else int(hexadecimal, 16)
    if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF or (code < 0x20 and code not in (9, 10)):
        return match[0]
    return chr(code)


def write_lines(lines: Iterable[str], stream: IO[bytes]) -> int:
    """Write each line with a line feed as UTF-8; return how many there were."""
    count = 0
    batch: list[str] = []
    for line in lines:
        batch.append(line)
        count += 1
        if len(batch) == 1_000:
            batch.append("")
            stream.write("\n".join(batch).encode("utf-8"))
            batch.clear()
    if batch:
        batch.append("")
        stream.write("\n".join(batch).encode("utf-8"))
    return count


def id_problem(value: str, what: str) -> str | None:
    """Return why this cannot be an id in a column, or None if it can."""
    try:
        check_id(value, what)
    except ValueError as error:
        return str(error)
    return None


def count_columns(fields: list[str]) -> str:
    """Return how many columns a line has, in words."""
    return "1 column" if len(fields) == 1 else f"{len(fields)} columns"


def has_valid_ids(source: Source, number: int, line: str, query_id: str, doc_id: str) -> bool:
    """Return whether both ids of a line are valid; refuse the line otherwise."""
    for value, what in ((query_id, "query_id"), (doc_id, "doc_id")):
        if problem := id_problem(value, what):
            source.refuse(problem, line=number, text=line)
            return False
    return True
