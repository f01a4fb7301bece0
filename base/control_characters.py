"""What a text that someone typed may hold. Pure."""

from __future__ import annotations

import unicodedata

# Stands where something could not be read as a character.
REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


def tidy(text: str) -> str:
    """Return the text with line ends of one kind, and no blanks around it."""
    return text.replace("\r\n", "\n").replace("\r", "\n").strip()


def strange(text: str, before: str = "") -> str:
    """Return the first character of a text that cannot be kept; nothing where all can.

    Those are control characters other than line ends and tabs, halves of a character, and marks
    that stand for what could not be read. What `before` held already, because it came so with a
    file, may stay, unless no database keeps it.
    """
    for character in sorted(set(text) - {"\n", "\t"}):
        code = ord(character)
        unkeepable = code == 0 or 0xD800 <= code <= 0xDFFF
        odd = character == REPLACEMENT or unicodedata.category(character) == "Cc"
        if unkeepable or (odd and character not in before):
            return character
    return ""
