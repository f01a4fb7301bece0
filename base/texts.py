"""Texts: characters that cannot be stored, names with numbers in order, numbers with nouns."""

from __future__ import annotations

import re
import unicodedata

# Decoders put it in place of bytes that are not a character.
REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
# The last two code points of each plane are never characters.
_LAST = (0xFFFE, 0xFFFF)
# Never in a name: control characters and separators of lines, marks that turn the direction of a
# text (a name would read as another), byte order marks, and code points that are not characters.
_NOT_IN_NAMES = re.compile(
    "[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff"
    "\ufdd0-\ufdef\ufeff\ufff9-\ufffb\ufffd-\uffff"
    + "".join(chr(plane + last) for plane in range(0x10000, 0x110000, 0x10000) for last in _LAST)
    + "]"
)


def tidy(text: str) -> str:
    """Return the text with line feeds as line ends and without surrounding white space."""
    return text.replace("\r\n", "\n").replace("\r", "\n").strip()


def first_invalid_character(text: str, before: str = "") -> str:
    """Return the first character of a text that cannot be stored, or "" if all can.

    These are control characters other than line feeds and tabs, surrogates, and replacement
    characters. Those already in `before`, the text as a file brought it, are allowed, unless no
    database can store them.
    """
    for character in sorted(set(text) - {"\n", "\t"}):
        code = ord(character)
        unkeepable = code == 0 or 0xD800 <= code <= 0xDFFF
        odd = character == REPLACEMENT or unicodedata.category(character) == "Cc"
        if unkeepable or (odd and character not in before):
            return character
    return ""


def code_not_in_names(name: str) -> str:
    """Return the code of the first character that no name may contain (U+202E), or ""."""
    match = _NOT_IN_NAMES.search(name)
    return f"U+{ord(match[0]):04X}" if match else ""


_DIGITS = re.compile(r"([0-9]+)")


def natural(text: str) -> tuple[list[str], list[int], str]:
    """Return a key to sort by: words first, then the numbers between them, by their value."""
    parts = _DIGITS.split(text)
    return parts[::2], [int(number) for number in parts[1::2]], text


_ENDINGS = re.compile(r"\[(?:(\w*)\|)?(\w*)\]")


def agree(words: str, n: int) -> str:
    """Return the form of a description that agrees with its number.

    Endings are in brackets, that of one first if it has any.

    >>> agree("document[s] in pools", 1), agree("quer[y|ies]", 1), agree("quer[y|ies]", 0)
    ('document in pools', 'query', 'queries')
    """
    place = 1 if n == 1 else 2
    return _ENDINGS.sub(lambda endings: endings[place] or "", words)


def amount(n: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun, by default with an s in the plural.

    >>> amount(1, "query", "queries"), amount(2_000, "pair")
    ('1 query', '2,000 pairs')
    """
    return f"{n:,} {noun if n == 1 else plural or noun + 's'}"
