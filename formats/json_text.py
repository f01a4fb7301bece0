"""Parse a JSON text into Python values; errors have a sentence."""

from __future__ import annotations

import json
from typing import Any, NoReturn

from formats.texts import check_text, excerpt, first_repeated


def _refuse_constant(name: str) -> NoReturn:
    raise NotJson(f"not JSON: {name} is not allowed", 1, 1)


class _RepeatedField(ValueError):
    """A field that occurs twice in one object."""


def _build_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    built = dict(pairs)
    if len(built) != len(pairs):
        repeated = excerpt(first_repeated(name for name, _ in pairs) or "", 40)
        raise _RepeatedField(f"the field “{repeated}” occurs twice in one JSON object")
    return built


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant, object_pairs_hook=_build_object)


# The messages of the parser that say too little.
_PLAIN = {"Extra data": "the value ends here, but more text follows"}


def parse_json(text: str) -> Any:
    """Return the JSON value in `text`, its strings checked; raise ValueError with a sentence.

    NaN, a field that occurs twice in one object, escaped control characters and half surrogate
    pairs are refused.
    """
    try:
        value = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        message = _PLAIN.get(error.msg, error.msg)
        raise NotJson(f"not JSON: {message}", error.lineno, error.colno) from None
    except (_RepeatedField, NotJson):
        raise
    except RecursionError:
        raise NotJson("this JSON is nested too deeply", 1, 1) from None
    except ValueError:
        # Python's limit on the digits of a whole number.
        raise ValueError("a whole number in this JSON has thousands of digits") from None
    if "\\" in text:
        _check_strings(value)
    return value


class NotJson(ValueError):
    """Text that is not JSON, with the line and column in it, from 1."""

    def __init__(self, message: str, line: int, column: int) -> None:
        super().__init__(message)
        self.line = line
        self.column = column


def _check_strings(value: object) -> None:
    # The decoder's limit on nesting bounds this recursion.
    if isinstance(value, str):
        check_text(value, "a string")
    elif isinstance(value, list):
        for item in value:
            _check_strings(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            check_text(key, "a key")
            _check_strings(item)
