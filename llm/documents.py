"""Documents in prompts: between delimiters, cut or divided by length, and quoted in answers."""

from __future__ import annotations

import hashlib
import math
import re
from bisect import bisect_right
from dataclasses import dataclass
from itertools import pairwise

# The end of a sentence or of a line. The classes share no character, so the search stays linear.
_SENTENCE_END = re.compile(r"[.!?…][\"'”’»)\]]*(?=\s)|[。！？]|\n")
_WORD = re.compile(r"\S+")

# A text that speaks to its reader as a model: English only, and only the common forms.
_ORDER = re.compile(
    r"\b(?:ignore|disregard|forget) (?:all |any |the |your |these |previous |prior |above ){1,3}"
    r"(?:instructions?|rubric|prompt|rules|criteria|guidelines)\b"
    r"|\b(?:answer|respond|reply|grade|rate|score) (?:this|it|with|only|me) ?(?:document |as )?"
    r"(?:relevant|excellent|perfect|highest|the highest|\d)\b"
    r"|\byou are (?:a|an|the) (?:language model|assistant|judge|grader)\b",
    re.IGNORECASE,
)


def find_order(text: str) -> str:
    """Return the first words with which a text gives a model orders; "" if there are none.

    It finds the common English forms, so that a grade that may follow them is looked at.
    """
    words = " ".join(_WORD.findall(text))
    order = _ORDER.search(words)
    return order[0] if order else ""


def delimit(text: str, name: str = "document") -> str:
    """Return a text between delimiters that it cannot contain.

    The delimiters have a mark made of the text's hash, so a text that contains a delimiter has
    another one. The same text always gets the same mark, so that its answer can be cached.
    """
    digest = hashlib.sha256(text.encode()).hexdigest()
    while (mark := digest[:16]) in text:
        digest = hashlib.sha256(digest.encode()).hexdigest()
    return f"<{name} {mark}>\n{text}\n</{name} {mark}>"


@dataclass(frozen=True, slots=True)
class Cut:
    """The beginning of a text; `note` says how much it is, "" if it is all of it."""

    text: str
    note: str


def cut(text: str, max_characters: int) -> Cut:
    """Return as many whole sentences of a text as have at most `max_characters`, and say so.

    If that would be less than half of what is allowed, it ends after a word, or in the middle of
    one that is longer. Raise ValueError if nothing is allowed.
    """
    if max_characters < 1:
        raise ValueError("A text cannot be cut to less than 1 character.")
    if len(text) <= max_characters:
        return Cut(text, "")
    end, where = _end_of_cut(text, max_characters // 2, max_characters)
    kept = text[:end].rstrip() or text[:end]
    note = f"Only the first {len(kept):,} of {len(text):,} characters, cut {where}."
    return Cut(kept, note)


def passages(text: str, max_characters: int) -> list[str]:
    """Divide a text into passages of about the same length, of at most `max_characters` each.

    Joined they are the text. Each ends with a sentence, or after a word if no sentence ends where
    it has to. Raise ValueError if nothing is allowed.
    """
    if max_characters < 1:
        raise ValueError("A passage has at least 1 character.")
    if len(text) <= max_characters:
        return [text]
    # How much shorter than the others a passage may be, so that it ends with a sentence.
    room = max_characters // 4
    number = math.ceil(len(text) / (max_characters - room))
    limits = [len(text) * n // number for n in range(1, number)]
    ends = [_end_of_cut(text, limit - room, limit)[0] for limit in limits]
    return [text[start:end] for start, end in pairwise([0, *ends, len(text)])]


def _end_of_cut(text: str, least: int, limit: int) -> tuple[int, str]:
    """Return where to cut a text, after `least` and at most at `limit`, and what ends there."""
    ends = [match.end() for match in _SENTENCE_END.finditer(text, least, limit + 1)]
    if fitting := [end for end in ends if end <= limit]:
        return fitting[-1], "at the end of a sentence"
    for position in range(limit, least, -1):
        if text[position].isspace():
            return position, "after a word"
    return limit, "inside a word"


def find_quote(quote: str, text: str) -> tuple[int, int] | None:
    """Return where a quote begins and ends in a text, or None if it does not occur.

    White space counts as one space, and not at all around the quote. The time is linear.
    """
    wanted = " ".join(_WORD.findall(quote))
    if not wanted:
        return None
    words = list(_WORD.finditer(text))
    start = " ".join(word[0] for word in words).find(wanted)
    if start < 0:
        return None
    # Where each word begins among the words that one space separates.
    begins, length = [], 0
    for word in words:
        begins.append(length)
        length += len(word[0]) + 1

    def place(position: int) -> int:
        number = bisect_right(begins, position) - 1
        return words[number].start() + position - begins[number]

    return place(start), place(start + len(wanted) - 1) + 1
