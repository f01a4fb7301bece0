"""Which characters texts and ids may contain, and how a value is named in an error sentence."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

# A text may not contain control characters other than tab, line feed, form feed and carriage
# return. PostgreSQL refuses NUL, terminals obey escape, and a stray one means a binary file.
_CONTROL = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f]")
SURROGATE = re.compile("[\ud800-\udfff]")
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
# Separates columns, also in trec_eval.
_WHITE_SPACE = re.compile("[ \t-\r]")

MAX_ID = 255


class CannotHold(ValueError):
    """Content that a file cannot hold; the message is the part of a sentence that says why."""


def check_text(value: str, what: str) -> str:
    """Return `value`; raise CannotHold if it has control characters or half a surrogate pair."""
    if match := _CONTROL.search(value):
        raise CannotHold(f"{what} contains the control character U+{ord(match[0]):04X}")
    if match := SURROGATE.search(value):
        raise CannotHold(f"{what} contains half of a surrogate pair, U+{ord(match[0]):04X}")
    return value


def check_id(value: object, what: str) -> str:
    """Return `value` if it is an id; raise CannotHold otherwise.

    An id is text of 1 to MAX_ID characters without spaces, tabs, line ends and control characters.
    Non-ASCII white space (a no-break space) is allowed: nothing splits columns at it.
    """
    if not isinstance(value, str):
        raise CannotHold(f"{what} must be text, not {json_name(value)}")
    if not value:
        raise CannotHold(f"{what} is empty")
    if _WHITE_SPACE.search(value):
        raise CannotHold(f"{what} {excerpt(repr(value), 40)} contains white space")
    if len(value) > MAX_ID:
        raise CannotHold(f"{what} {excerpt(repr(value), 40)} is longer than {MAX_ID} characters")
    if _UNPRINTABLE.search(value):
        raise CannotHold(f"{what} {excerpt(repr(value), 40)} contains a control character")
    return value


def excerpt(text: str, length: int = 120) -> str:
    """Return the beginning of `text` for a sentence; escape unprintable characters."""
    short = text if len(text) <= length else text[:length] + "…"
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in short)


def first_repeated(names: Iterable[str]) -> str | None:
    """Return the first name that occurs more than once, or None."""
    return next((name for name, count in Counter(names).items() if count > 1), None)


def printable(name: str) -> str:
    """Return a file name that can be shown and stored: control and stray bytes are escaped."""
    return _UNPRINTABLE.sub(lambda found: repr(found[0])[1:-1], name)


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
