"""Values out of JSON objects (and CSV rows), each checked, with a sentence where one is wrong."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, NoReturn

from formats.reading import parse_relevance
from formats.source import Source, check_id, check_text, excerpt, json_name


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


_DECODER = json.JSONDecoder(parse_constant=_no_constant)


def parse_json(text: str) -> Any:
    """The JSON value in `text`, its strings checked; ValueError with a sentence.

    NaN, control characters behind a backslash and half surrogate pairs are refused.
    """
    try:
        value = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise NotJson(f"not JSON: {error.msg}", error.lineno, error.colno) from None
    except RecursionError:
        raise NotJson("not JSON that can be read: nested too deeply", 1, 1) from None
    except ValueError as error:
        raise NotJson(f"not JSON: {error}", 1, 1) from None
    if "\\" in text:
        _check_strings(value)
    return value


class NotJson(ValueError):
    """Text that is not JSON, with line and column counted from 1 inside that text."""

    def __init__(self, message: str, line: int, column: int) -> None:
        super().__init__(message)
        self.line = line
        self.column = column


def _check_strings(value: object) -> None:
    # Bounded by the decoder's own limit on nesting.
    if isinstance(value, str):
        check_text(value, "a string")
    elif isinstance(value, list):
        for item in value:
            _check_strings(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            check_text(key, "a key")
            _check_strings(item)


def objects(source: Source) -> Iterator[Fields]:
    """The objects of a JSONL file, one a line; blank lines are passed over."""
    for line in source.lines():
        if not line or line.isspace():
            continue
        try:
            value = parse_json(line)
        except NotJson as error:
            source.refuse(f"{error} at column {error.column}")
            continue
        except ValueError as error:
            source.refuse(str(error))
            continue
        if isinstance(value, dict):
            yield Fields(value)
        else:
            source.refuse(f"a line holds one JSON object, this holds {json_name(value)}")


class Fields:
    """The fields of one object. Each method takes names to try in order; ValueError says what."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self.values = values

    def _get(self, names: tuple[str, ...]) -> tuple[str, Any]:
        for name in names:
            value = self.values.get(name)
            if value is not None:
                return name, value
        return names[0], None

    def id(self, *names: str) -> str:
        """An id that must be there. A whole number stands for its digits."""
        name, value = self._get(names)
        if value is None:
            raise ValueError(f"{name} is missing")
        if isinstance(value, int) and not isinstance(value, bool):
            value = str(value)
        return check_id(value, name)

    def optional_id(self, *names: str) -> str | None:
        """An id, or None where the field is missing or null."""
        return None if self._get(names)[1] is None else self.id(*names)

    def optional_text(self, *names: str) -> str | None:
        """A text, or None where the field is missing or null."""
        name, value = self._get(names)
        if value is not None and not isinstance(value, str):
            raise ValueError(f"{name} must be text, not {json_name(value)}")
        return value

    def text(self, *names: str, default: str = "") -> str:
        """A text, or the default where the field is missing or null."""
        value = self.optional_text(*names)
        return default if value is None else value

    def required_text(self, *names: str) -> str:
        """A text that must be there and hold more than white space."""
        value = self.optional_text(*names)
        if value is None or not value.strip():
            raise ValueError(f"{names[0]} is {'missing' if value is None else 'empty'}")
        return value

    def one_of(self, choices: tuple[str, ...], *names: str, default: str | None = None) -> str:
        """One of a few words."""
        value = self.text(*names) or default
        if value not in choices:
            shown = "missing" if not value else excerpt(repr(value), 40)
            raise ValueError(f"{names[0]} is {shown}; it is one of {', '.join(choices)}")
        return value

    def optional_one_of(self, choices: tuple[str, ...], *names: str) -> str | None:
        """One of a few words, or None where the field is missing, null or empty."""
        return self.one_of(choices, *names) if self.text(*names) else None

    def relevance(self, *names: str) -> int:
        """A whole number that must be there; a fraction is refused."""
        name, value = self._get(names)
        if value is None:
            raise ValueError(f"{name} is missing")
        return parse_relevance(value)

    def optional_whole(self, *names: str, least: int = 0) -> int | None:
        """A whole number of at least `least`, or None where the field is missing or null."""
        name, value = self._get(names)
        if value is None:
            return None
        if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 19:
            value = int(value)
        if not isinstance(value, int) or isinstance(value, bool):
            raise ValueError(f"{name} must be a whole number")
        if not least <= value < 2**31:
            raise ValueError(f"{name} is {value}; it is a whole number of at least {least}")
        return value

    def truth(self, *names: str) -> bool:
        """True or false; false where the field is missing or null."""
        name, value = self._get(names)
        if value is None:
            return False
        if not isinstance(value, bool):
            raise ValueError(f"{name} must be true or false, not {json_name(value)}")
        return value

    def moment(self, *names: str) -> datetime | None:
        """A moment in ISO 8601 as UTC, or None. Without offset it is taken as UTC."""
        name, value = self._get(names)
        if value is None or value == "":
            return None
        try:
            moment = datetime.fromisoformat(value)
            return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
        except (TypeError, ValueError, OverflowError):
            raise ValueError(
                f"{name} {excerpt(repr(value), 40)} is no date and time like 2026-03-01T09:30:00Z"
            ) from None

    def uuid(self, *names: str) -> str | None:
        """A UUID in its usual form, or None where the field is missing or null."""
        name, value = self._get(names)
        if value is None or value == "":
            return None
        try:
            return str(uuid.UUID(value))
        except (TypeError, ValueError, AttributeError):
            raise ValueError(f"{name} {excerpt(repr(value), 60)} is no UUID") from None

    def each(self, name: str) -> Iterator[Fields]:
        """The objects of a list; none where the field is missing or null."""
        value = self.values.get(name)
        if value is None:
            return
        if not isinstance(value, list):
            raise ValueError(f"{name} must be a list, not {json_name(value)}")
        for item in value:
            if not isinstance(item, dict):
                raise ValueError(f"{name} must hold objects, not {json_name(item)}")
            yield Fields(item)


_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False)
_AS_IT_IS = frozenset({str, int, float, bool, type(None)})


def to_json(value: object) -> str:
    """One line of JSON in the order of the fields, the same bytes for the same values."""
    plain = _plain(value)
    line = _ENCODER.encode(plain)
    # Every character that `check_text` refuses shows in the line as one of these; so may others.
    if not line.isprintable() or "\\u00" in line or "\\b" in line:
        _check_texts(plain)
    return line


def _plain(value: object) -> object:
    """Records as objects, tuples as lists, moments as text in UTC."""
    if type(value) in _AS_IT_IS:
        return value
    if isinstance(value, datetime):
        if value.tzinfo is None:
            raise ValueError(f"the moment {value} has no time zone")
        return value.astimezone(UTC).isoformat()
    if isinstance(value, dict):
        return {
            key: item if type(item) in _AS_IT_IS else _plain(item) for key, item in value.items()
        }
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return _plain(value._asdict())
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    return value


def _check_texts(value: object) -> None:
    """Refuse control characters and half surrogate pairs, wherever in `value` they stand."""
    if isinstance(value, str):
        check_text(value, "a text")
    elif isinstance(value, dict):
        for item in value.values():
            _check_texts(item)
    elif isinstance(value, list):
        for item in value:
            _check_texts(item)
