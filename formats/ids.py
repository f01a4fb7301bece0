"""Ids of queries, documents and instructions: which texts are ids in every format."""

from __future__ import annotations

import re

from formats.texts import CannotHold, excerpt, json_name

MAX_ID = 255

# Separates columns, also in trec_eval.
_WHITE_SPACE = re.compile("[ \t-\r]")
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


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
    if _CONTROL.search(value):
        raise CannotHold(f"{what} {excerpt(repr(value), 40)} contains a control character")
    return value
