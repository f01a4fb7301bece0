"""Checked values from JSON objects and CSV rows; ValueErrors have a sentence."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from itertools import chain
from typing import Any, TypeVar

from formats.json_text import NotJson, parse_json
from formats.reading import parse_relevance
from formats.source import MAX_WHOLE, Source
from formats.texts import check_id, check_text, excerpt, json_name

_Parsed = TypeVar("_Parsed")


def read_jsonl(source: Source) -> Iterator[Fields]:
    """Yield the objects of a JSONL file, one per line; skip blank lines."""
    return _parse_lines(source, source.lines(), "a line must be one JSON object")


def _parse_lines(source: Source, lines: Iterable[str], rule: str) -> Iterator[Fields]:
    filled = (line for line in lines if line and not line.isspace())
    for count, line in enumerate(filled):
        try:
            value = parse_json(line)
        except NotJson as error:
            hint = "" if count else _hint_at_many_lines(line)
            source.refuse(f"{error} at column {error.column}{hint}")
            continue
        except ValueError as error:
            source.refuse(str(error))
            continue
        if isinstance(value, dict):
            yield Fields(value)
        else:
            source.refuse(f"{rule}, not {json_name(value)}")


def _hint_at_many_lines(line: str) -> str:
    """Return a hint if this line begins a list or an object that continues on further lines."""
    if line.strip() != "{" and not line.startswith("["):
        return ""
    return (
        "; this format has one whole object on each line (`jq -c .` or `jq -c '.[]'` write it so)"
    )


def read_json(source: Source, *, what: str = "an entry") -> Iterator[Fields]:
    """Yield the objects of a JSON file: one per line, a list of them, or one over many lines.

    If the first line is not a whole object, the file is read into memory at once. A refusal calls
    an object `what`.
    """
    rule = f"{what} must be a JSON object"
    lines = source.lines()
    first = next((line for line in lines if line and not line.isspace()), None)
    if first is None:
        return
    start = source.line or 1
    if _is_object(first):
        yield from _parse_lines(source, chain([first], lines), rule)
        return
    parts = [first]
    length = len(first)
    for line in lines:
        parts.append(line)
        length += len(line) + 1
        if length > MAX_WHOLE:
            source.refuse_all(f"the file is longer than {MAX_WHOLE:,} characters")
    if source.refused:
        return
    text = "\n".join(parts)
    try:
        parsed = parse_json(text)
    except NotJson as error:
        source.refuse(str(error), line=start + error.line - 1, text=parts[error.line - 1])
        return
    except ValueError as error:
        source.refuse(str(error), line=start)
        return
    for number, value in (
        items_with_lines(text, parsed) if isinstance(parsed, list) else [(1, parsed)]
    ):
        source.line, source.text = start + number - 1, None
        if isinstance(value, dict):
            yield Fields(value)
        else:
            source.refuse(f"{rule}, not {json_name(value)}")


def _is_object(line: str) -> bool:
    try:
        return isinstance(parse_json(line), dict)
    except ValueError:
        return False


def items_with_lines(text: str, values: list[Any]) -> Iterator[tuple[int, Any]]:
    """Yield (line, value) for each item of `values`, the JSON list in `text`."""
    # The first decoding finds errors; this second one, item by item, finds line numbers.
    decoder = json.JSONDecoder()
    at = text.index("[") + 1
    line = text.count("\n", 0, at) + 1
    for item in values:
        start = at
        while text[start] in ", \t\n\r":
            start += 1
        line += text.count("\n", at, start)
        _, at = decoder.raw_decode(text, start)
        yield line, item
        line += text.count("\n", start, at)


EARLIEST_TIME = datetime(1970, 1, 1, tzinfo=UTC)
"""Earlier times of judgments are refused."""

MOST_AHEAD = timedelta(days=1)
"""How far the clock of another machine may be ahead of ours."""


def time_problem(time: datetime) -> str | None:
    """Return why this cannot be the time of a judgment, or None if it can."""
    if time < EARLIEST_TIME:
        return "is before 1970"
    if time > datetime.now(UTC) + MOST_AHEAD:
        return "is in the future"
    return None


class Fields:
    """The fields of one object. Methods take names to try in order; errors are ValueErrors.

    It remembers which names were asked for and which gave their value. The remaining fields are
    refused (`refuse_unread`), or counted as left out in formats of other tools (`report_unread`).
    """

    def __init__(self, values: Mapping[str, Any]) -> None:
        self.values = values
        self._requested: list[tuple[str, ...]] = []
        self._read: set[str] = set()
        self._parts: list[tuple[str, Fields]] = []

    def _get(self, names: tuple[str, ...]) -> tuple[str, Any]:
        self._requested.append(names)
        for name in names:
            value = self.values.get(name)
            if value is not None:
                self._read.add(name)
                return name, value
        return names[0], None

    def value(self, name: str) -> Any:
        """Return the unchecked value; None if the field is missing."""
        return self._get((name,))[1]

    def part(self, name: str) -> Fields:
        """Return the fields of an object inside this one; empty if the value is not an object."""
        value = self.values.get(name)
        if isinstance(value, dict):
            self.value(name)
        part = Fields(value if isinstance(value, dict) else {})
        self._parts.append((name, part))
        return part

    def refuse_unread(self) -> None:
        """Raise ValueError if there is a field that was not read."""
        requested = dict.fromkeys(name for names in self._requested for name in names)
        for name, value in self.values.items():
            if name not in requested:
                raise ValueError(
                    f"there is no field “{excerpt(name, 40)}”; "
                    f"the fields are {', '.join(requested)}"
                )
            if name not in self._read and value is not None:
                names = next(names for names in self._requested if name in names)
                used = next(other for other in names if other in self._read)
                raise ValueError(f"{used} and {name} are the same field; keep one of them")
        for name, part in self._parts:
            try:
                part.refuse_unread()
            except ValueError as error:
                raise ValueError(f"{name}: {error}") from None

    def report_unread(self, source: Source) -> None:
        """Count each unread field that is not empty as left out, once per record."""
        if len(self._read) == len(self.values) and not self._parts:
            return
        for name in dict.fromkeys(self._unread()):
            source.leave_out(name)

    def _unread(self) -> Iterator[str]:
        for name, value in self.values.items():
            if name not in self._read and value not in (None, "", [], {}):
                yield name
        for name, part in self._parts:
            yield from (f"{name}.{name_inside}" for name_inside in part._unread())

    def id(self, *names: str) -> str:
        """Return a required id. A whole number is converted to text."""
        name, value = self._get(names)
        if value is None:
            others = f" (other accepted names: {', '.join(names[1:])})" if names[1:] else ""
            raise ValueError(f"{name} is missing{others}")
        if isinstance(value, int) and not isinstance(value, bool):
            value = str(value)
        return check_id(value, name)

    def optional_id(self, *names: str) -> str | None:
        """Return an id, or None if the field is missing or null."""
        return None if self._get(names)[1] is None else self.id(*names)

    def optional_text(self, *names: str) -> str | None:
        """Return a text, or None if the field is missing or null."""
        name, value = self._get(names)
        if value is not None and not isinstance(value, str):
            raise ValueError(f"{name} must be text, not {json_name(value)}")
        return value

    def text(self, *names: str, default: str = "") -> str:
        """Return a text, or the default if the field is missing or null."""
        value = self.optional_text(*names)
        return default if value is None else value

    def required_text(self, *names: str) -> str:
        """Return a required text that is more than white space."""
        value = self.optional_text(*names)
        if value is None or not value.strip():
            raise ValueError(f"{names[0]} is {'missing' if value is None else 'empty'}")
        return value

    def one_of(self, choices: tuple[str, ...], *names: str, default: str | None = None) -> str:
        """Return a text that is one of `choices`."""
        value = self.text(*names) or default
        if value not in choices:
            shown = "missing" if not value else excerpt(repr(value), 40)
            raise ValueError(f"{names[0]} is {shown}; it is one of {', '.join(choices)}")
        return value

    def optional_one_of(self, choices: tuple[str, ...], *names: str) -> str | None:
        """Return one of `choices`, or None if the field is missing, null or empty."""
        return self.one_of(choices, *names) if self.text(*names) else None

    def relevance(self, *names: str) -> int:
        """Return a required whole number; refuse fractions."""
        name, value = self._get(names)
        if value is None:
            raise ValueError(f"{name} is missing")
        return parse_relevance(value)

    def optional_integer(self, *names: str, least: int = 0) -> int | None:
        """Return a whole number of at least `least`, or None if the field is missing or null."""
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

    def boolean(self, *names: str) -> bool:
        """Return true or false; false if the field is missing or null."""
        name, value = self._get(names)
        if value is None:
            return False
        if not isinstance(value, bool):
            raise ValueError(f"{name} must be true or false, not {json_name(value)}")
        return value

    def time(self, *names: str) -> datetime | None:
        """Return an ISO 8601 time in UTC, or None. A time without offset is taken as UTC."""
        name, value = self._get(names)
        if value is None or value == "":
            return None
        try:
            time = datetime.fromisoformat(value)
            time = (time if time.tzinfo else time.replace(tzinfo=UTC)).astimezone(UTC)
        except (TypeError, ValueError, OverflowError):
            raise ValueError(
                f"{name} {excerpt(repr(value), 40)} is not a date and time "
                "like 2026-03-01T09:30:00Z"
            ) from None
        if problem := time_problem(time):
            raise ValueError(f"{name} {excerpt(repr(value), 40)} {problem}")
        return time

    def uuid(self, *names: str) -> str | None:
        """Return a UUID in its usual form, or None if the field is missing, null or empty."""
        name, value = self._get(names)
        if value is None or value == "":
            return None
        try:
            return str(uuid.UUID(value))
        except (TypeError, ValueError, AttributeError):
            raise ValueError(f"{name} {excerpt(repr(value), 60)} is not a UUID") from None

    def each(self, name: str) -> Iterator[Fields]:
        """Yield the objects of a list; none if the field is missing or null."""
        value = self.value(name)
        if value is None:
            return
        if not isinstance(value, list):
            raise ValueError(f"{name} must be a list, not {json_name(value)}")
        for item in value:
            if not isinstance(item, dict):
                raise ValueError(f"{name} must hold objects, not {json_name(item)}")
            part = Fields(item)
            self._parts.append((name, part))
            yield part


def parse_each(
    source: Source, objects: Iterable[Fields], parse: Callable[[Fields], _Parsed]
) -> Iterator[_Parsed]:
    """Yield what `parse` returns for each object; refuse those for which it raises ValueError.

    Fields that it does not read are counted as left out. A format that refuses them instead calls
    `refuse_unread` in `parse`.
    """
    for fields in objects:
        try:
            parsed = parse(fields)
        except ValueError as error:
            source.refuse(str(error))
            continue
        fields.report_unread(source)
        yield parsed


_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False)
_PLAIN_TYPES = frozenset({str, int, float, bool, type(None)})


def to_json(value: object) -> str:
    """Return one line of JSON in the order of the fields; the same values give the same bytes."""
    plain = _to_plain(value)
    line = _ENCODER.encode(plain)
    # Every character that `check_text` refuses fails this quick test; so do some it allows.
    if not line.isprintable() or "\\u00" in line or "\\b" in line:
        _check_texts(plain)
    return line


def _to_plain(value: object) -> object:
    """Convert records to objects, tuples to lists, and times to text in UTC."""
    if type(value) in _PLAIN_TYPES:
        return value
    if isinstance(value, datetime):
        if value.tzinfo is None:
            raise ValueError(f"the time {value} has no time zone")
        return value.astimezone(UTC).isoformat()
    if isinstance(value, dict):
        return {
            key: item if type(item) in _PLAIN_TYPES else _to_plain(item)
            for key, item in value.items()
        }
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return _to_plain(value._asdict())
    if isinstance(value, tuple | list):
        return [_to_plain(item) for item in value]
    return value


def _check_texts(value: object) -> None:
    """Refuse control characters and half surrogate pairs anywhere in `value`."""
    if isinstance(value, str):
        check_text(value, "a text")
    elif isinstance(value, dict):
        for item in value.values():
            _check_texts(item)
    elif isinstance(value, list):
        for item in value:
            _check_texts(item)
