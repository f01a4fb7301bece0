"""Rubrics as JSON: the criteria and levels for rating instructions. See docs/rubric.md."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import IO, Any

from formats.fields import to_json
from formats.json_text import NotJson, parse_json
from formats.reading import SeenKeys, reader, write_lines
from formats.records import CriterionRecord, LevelRecord, RubricRecord
from formats.source import Source
from formats.texts import check_text, excerpt, json_name

# A rubric is about a page; a longer file is not a rubric.
MAX_LENGTH = 200_000
# Each level has a digit key.
MOST_LEVELS = 9
MOST_CRITERIA = 30

_VALUE = re.compile(r"[a-z0-9][a-z0-9_-]{0,19}")
_KEY = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")
_KEY_CHARACTERS = "small letters, digits, hyphens and underscores, beginning with a letter or digit"
# The fields of each part and their maximum lengths; those in _NEEDED are required.
_RUBRIC = {"name": 60, "title": 120}
_LEVEL = {"value": 20, "name": 40, "sentence": 300}
_CRITERION = {
    "key": 40,
    "name": 80,
    "asks": 500,
    "poor_when": 500,
    "good_example": 1_000,
    "poor_example": 1_000,
}
_REQUIRED = {"name", "title", "value", "key", "asks"}


class RubricFaults(ValueError):
    """The faults of a rubric: a sentence for each, which begins with its place in the file."""

    def __init__(self, faults: Sequence[str]) -> None:
        super().__init__("; ".join(faults))
        self.faults = tuple(faults)


@reader("rubric-json", "rubric")
def read_rubrics(source: Source) -> Iterator[RubricRecord]:
    """Yield one rubric from a JSON object over any number of lines, or one from each line.

    The last one in a file becomes the current rubric.
    """
    seen = SeenKeys()
    lines = list(_bounded_lines(source))
    if source.refused:
        return
    for number, text in _split_rubrics(lines):
        source.line, source.text = number, None
        try:
            rubric = parse_rubric(text)
        except NotJson as error:
            source.refuse(str(error), line=number + error.line - 1)
            continue
        except RubricFaults as error:
            for fault in error.faults:
                source.refuse(fault)
            continue
        if seen.is_repeated(rubric.name):
            source.refuse(f"the rubric {rubric.name} occurs twice")
            continue
        yield rubric


def _bounded_lines(source: Source) -> Iterator[str]:
    length = 0
    for line in source.lines():
        length += len(line) + 1
        if length > MAX_LENGTH:
            source.refuse_all(f"the file is longer than {MAX_LENGTH:,} characters")
            return
        yield line


def _split_rubrics(lines: list[str]) -> Iterator[tuple[int, str]]:
    """Yield the line and text of each rubric: one per line, or else the file as a whole."""
    filled = [(number, line) for number, line in enumerate(lines, 1) if line.strip()]
    if filled and all(_is_object(line) for _, line in filled):
        yield from filled
    elif filled:
        first = filled[0][0]
        yield first, "\n".join(lines[first - 1 :])


def _is_object(line: str) -> bool:
    try:
        return isinstance(parse_json(line), dict)
    except ValueError:
        return False


def parse_rubric(text: str) -> RubricRecord:
    """Parse one rubric; raise NotJson if it is not JSON, RubricFaults with all other faults."""
    if len(text) > MAX_LENGTH:
        raise RubricFaults([f"a rubric has at most {MAX_LENGTH:,} characters"])
    try:
        value = parse_json(text)
    except NotJson:
        raise
    except ValueError as error:
        raise RubricFaults([str(error)]) from None
    faults = _Faults()
    if not isinstance(value, dict):
        raise RubricFaults([f"a rubric must be a JSON object, not {json_name(value)}"])
    fields = faults.texts("", value, _RUBRIC, also=("levels", "criteria"))
    if not fields["name"].isprintable():
        faults.add("name", "contains a line break or an invisible character")
    levels = _parse_levels(faults, value.get("levels"))
    criteria = _parse_criteria(faults, value.get("criteria"))
    if faults.found:
        raise RubricFaults(faults.found)
    return RubricRecord(fields["name"], fields["title"], tuple(levels), tuple(criteria))


class _Faults:
    """Collects faults, each with its place."""

    def __init__(self) -> None:
        self.found: list[str] = []

    def add(self, place: str, sentence: str) -> None:
        self.found.append(f"{place}: {sentence}" if place else sentence)

    def entries(self, name: str, value: object, if_empty: str, most: int) -> list[dict[str, Any]]:
        """Return the objects of a list; an empty list if the value is anything else."""
        if not isinstance(value, list):
            missing = "is missing" if value is None else f"must be a list, not {json_name(value)}"
            self.add(name, missing)
            return []
        if len(value) > most:
            self.add(name, f"there are {len(value)}; at most {most} are allowed")
            return []
        if not value:
            self.add(name, if_empty)
        for number, entry in enumerate(value, 1):
            if not isinstance(entry, dict):
                self.add(f"{name} {number}", f"must be an object, not {json_name(entry)}")
        return value if all(isinstance(entry, dict) for entry in value) else []

    def texts(
        self,
        place: str,
        values: dict[str, Any],
        lengths: dict[str, int],
        also: tuple[str, ...] = (),
    ) -> dict[str, str]:
        """Return the texts of one object by name, "" if missing; other fields are faults."""
        texts = {}
        for name in values:
            if name not in lengths and name not in also:
                names = ", ".join([*lengths, *also])
                self.add(place, f"there is no field “{excerpt(name, 40)}”; the fields are {names}")
        for name, length in lengths.items():
            texts[name] = self._text(f"{place}, {name}" if place else name, values, name, length)
        return texts

    def _text(self, place: str, values: dict[str, Any], name: str, length: int) -> str:
        value = values.get(name)
        if value is None and name not in _REQUIRED:
            return ""
        if not isinstance(value, str):
            self.add(
                place, "is missing" if value is None else f"must be text, not {json_name(value)}"
            )
            return ""
        text = value.strip()
        if len(text) > length:
            self.add(place, f"has {len(text):,} characters; at most {length:,} are allowed")
        try:
            check_text(text, "it")
        except ValueError as error:
            self.add(place, str(error))
        if not text and name in _REQUIRED:
            self.add(place, "is empty")
        return text


def _parse_levels(faults: _Faults, value: object) -> list[LevelRecord]:
    if_empty = "there are none; a rubric needs at least two levels, one of which rejects"
    levels = []
    before = len(faults.found)
    for number, entry in enumerate(faults.entries("levels", value, if_empty, MOST_LEVELS), 1):
        place = f"levels {number}"
        fields = faults.texts(place, entry, _LEVEL, also=("rejects",))
        if fields["value"] and not _VALUE.fullmatch(fields["value"]):
            faults.add(f"{place}, value", f"must be {_KEY_CHARACTERS}, at most 20 characters")
        rejects = entry.get("rejects", False)
        if not isinstance(rejects, bool):
            faults.add(f"{place}, rejects", f"must be true or false, not {json_name(rejects)}")
        levels.append(
            LevelRecord(fields["value"], fields["name"], fields["sentence"], rejects is True)
        )
    _refuse_repeated(faults, "levels", "value", [level.value for level in levels])
    _refuse_repeated(faults, "levels", "name", [level.name.casefold() for level in levels])
    if not levels or len(faults.found) > before:
        return levels
    rejecting = [level.rejects for level in levels]
    if len(levels) == 1:
        faults.add("levels", "there is one; with one level every answer is the same")
    elif not any(rejecting):
        faults.add("levels", "none rejects; at least one must have “rejects”: true")
    elif all(rejecting):
        faults.add("levels", "all of them reject; the best must not")
    elif rejecting != sorted(rejecting):
        number = next(at for at in range(1, len(levels)) if rejecting[at - 1] > rejecting[at])
        faults.add(
            f"levels {number + 1}",
            f"is below one that rejects ({levels[number - 1].value}) but does not reject itself;"
            " the best comes first",
        )
    return levels


def _parse_criteria(faults: _Faults, value: object) -> list[CriterionRecord]:
    if_empty = "there are none; a rubric asks at least one question"
    criteria = []
    for number, entry in enumerate(faults.entries("criteria", value, if_empty, MOST_CRITERIA), 1):
        place = f"criteria {number}"
        fields = faults.texts(place, entry, _CRITERION)
        if fields["key"] and not _KEY.fullmatch(fields["key"]):
            faults.add(f"{place}, key", f"must be {_KEY_CHARACTERS}, at most 40 characters")
        criteria.append(CriterionRecord(**fields))
    _refuse_repeated(faults, "criteria", "key", [criterion.key for criterion in criteria])
    return criteria


def _refuse_repeated(faults: _Faults, part: str, name: str, values: list[str]) -> None:
    first: dict[str, int] = {}
    for number, value in enumerate(values, 1):
        if value and value in first:
            faults.add(
                f"{part} {number}, {name}", f"“{value}” is already used by {part} {first[value]}"
            )
        first.setdefault(value, number)


def rubric_object(rubric: RubricRecord) -> dict[str, Any]:
    """Return a rubric as the JSON object in a file."""
    return {
        **rubric._asdict(),
        "levels": [level._asdict() for level in rubric.levels],
        "criteria": [criterion._asdict() for criterion in rubric.criteria],
    }


def format_rubric(rubric: RubricRecord) -> str:
    """Return a rubric as indented JSON, for people to edit."""
    return json.dumps(rubric_object(rubric), ensure_ascii=False, indent=2) + "\n"


def write_rubrics(records: Iterable[RubricRecord], stream: IO[bytes]) -> int:
    """Write one rubric per line."""
    return write_lines((to_json(rubric_object(rubric)) for rubric in records), stream)
