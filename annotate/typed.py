"""What a text that someone typed may hold. Pure."""

from __future__ import annotations

import unicodedata

# Stands where something could not be read as a character.
REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


def tidy(text: str) -> str:
    """Return the text with line ends of one kind, and no blanks around it."""
    return text.replace("\r\n", "\n").replace("\r", "\n").strip()


def complaint(text: str, what: str, before: str = "") -> str:
    """Return a sentence that says why `text` cannot be kept, or nothing where it can.

    `what` begins the sentence ("The narrative"). Control characters other than line ends and tabs
    are refused, and what is no character: halves of one, and marks in the place of one. What
    `before` held already, because it came so with a file, may stay, unless no database keeps it.
    """
    for character in sorted(set(text) - {"\n", "\t"}):
        code = ord(character)
        unkeepable = code == 0 or 0xD800 <= code <= 0xDFFF
        strange = character == REPLACEMENT or unicodedata.category(character) == "Cc"
        if not unkeepable and (not strange or character in before):
            continue
        kind = "control character" if code < 0xA0 else "broken character"
        return f"{what} holds a {kind} (U+{code:04X}). Remove it, then save."
    return ""
