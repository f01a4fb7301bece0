"""Limits on input, and the checks of ids and texts that every format shares."""

from __future__ import annotations

import re

MAX_LINE = 16 * 1024 * 1024
MAX_WHOLE = 256 * 1024 * 1024
MAX_PROBLEMS = 1_000
MAX_ID = 255
MAX_BLANK = 100_000
"""Allowed blank lines of a file, besides ten for each line that is not blank."""

# A text may not contain control characters other than tab, line feed, form feed and carriage
# return. PostgreSQL refuses NUL, terminals obey escape, and a stray one means a binary file.
_CONTROL = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f]")
SURROGATE = re.compile("[\ud800-\udfff]")
# Separates columns, also in trec_eval.
_WHITE_SPACE = re.compile("[ \t-\r]")
_CONTROL_IN_ID = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


def excerpt(text: str, length: int = 120) -> str:
    """Return the beginning of `text` for a sentence; escape unprintable characters."""
    short = text if len(text) <= length else text[:length] + "…"
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in short)


def check_id(value: object, what: str) -> str:
    """Return `value` if it is an id; raise ValueError with a sentence otherwise.

    An id is text of 1 to MAX_ID characters without spaces, tabs, line ends and control characters.
    Non-ASCII white space (a no-break space) is allowed: nothing splits columns at it.
    """
    if not isinstance(value, str):
        raise ValueError(f"{what} must be text, not {json_name(value)}")
    if not value:
        raise ValueError(f"{what} is empty")
    if _WHITE_SPACE.search(value):
        raise ValueError(f"{what} {excerpt(repr(value), 40)} contains white space")
    if len(value) > MAX_ID:
        raise ValueError(f"{what} {excerpt(repr(value), 40)} is longer than {MAX_ID} characters")
    if _CONTROL_IN_ID.search(value):
        raise ValueError(f"{what} {excerpt(repr(value), 40)} contains a control character")
    return value


def check_text(value: str, what: str) -> str:
    """Return `value`; raise ValueError if it has control characters or half a surrogate pair."""
    if match := _CONTROL.search(value):
        raise ValueError(f"{what} contains the control character U+{ord(match[0]):04X}")
    if match := SURROGATE.search(value):
        raise ValueError(f"{what} contains half of a surrogate pair, U+{ord(match[0]):04X}")
    return value


def json_name(value: object) -> str:
    """Return JSON's name for a value of this type, for a sentence."""
    names = {
        type(None): "null",
        bool: "true or false",
        int: "a number",
        float: "a number",
        str: "text",
        list: "a list",
    }
    return names.get(type(value), "an object")


def printable(name: str) -> str:
    """Return a file name that can be shown and stored: control and stray bytes are escaped."""
    return _CONTROL_IN_ID.sub(lambda found: repr(found[0])[1:-1], name)
