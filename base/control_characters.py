"""Which characters a typed text may contain. Pure."""

from __future__ import annotations

import unicodedata

# Decoders put it in place of bytes that are not a character.
REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


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
