"""Errors in files, and fields of files that are not kept."""

from __future__ import annotations

from formats.texts import excerpt

MAX_PROBLEMS = 1_000


class FormatError(Exception):
    """A file cannot be read as the given format; names the file and the line.

    `line` counts from 1 and is None if the error concerns the file as a whole.
    """

    def __init__(
        self, message: str, *, file: str = "", line: int | None = None, text: str | None = None
    ) -> None:
        super().__init__(message, file, line, text)
        self.message = message
        self.file = file
        self.line = line
        self.text = text

    def __str__(self) -> str:
        place = self.file if self.line is None else f"{self.file}, line {self.line}"
        sentence = f"{place}: {self.message}" if place else self.message
        return sentence if not self.text else f"{sentence}: {excerpt(self.text)}"


class Problems:
    """The problems of one input: the first `limit` are kept, all are counted."""

    def __init__(self, *, collect: bool, limit: int = MAX_PROBLEMS) -> None:
        self.collect = collect
        self.limit = limit
        self.first: list[FormatError] = []
        self.count = 0

    def report(self, error: FormatError) -> None:
        """Raise `error`, or keep it and continue if problems are collected."""
        self.count += 1
        if len(self.first) < self.limit:
            self.first.append(error)
        if not self.collect:
            raise error


class LeftOutFields:
    """Counts of the records that have fields which the format does not keep, by field.

    The first MOST field names are counted separately, any further ones together.
    """

    MOST = 100

    def __init__(self) -> None:
        self._counts: dict[tuple[str, str], int] = {}
        # The line of each field's first record, if it is known.
        self._lines: dict[tuple[str, str], int | None] = {}

    def add(self, part: str, field: str, line: int | None = None) -> None:
        """Count one record whose field is not kept; `part` is the file of a folder, or empty."""
        key = (part, excerpt(field, 60))
        if key not in self._counts and len(self._counts) >= self.MOST:
            key = ("", "(others)")
        self._counts[key] = self._counts.get(key, 0) + 1
        self._lines.setdefault(key, line)

    def sentences(self) -> list[str]:
        """Return what is not kept: one sentence for fields with the same count of records."""
        fields_by_records: dict[str, list[str]] = {}
        for key, count in self._counts.items():
            records = _describe_records(key[0], count, self._lines[key])
            fields_by_records.setdefault(records, []).append(f"“{key[1]}”")
        return [_describe_left_out(*its) for its in fields_by_records.items()]


def _describe_records(part: str, count: int, line: int | None) -> str:
    """Return the number of records in words; a single one has its line."""
    records = f"{count:,} record{'' if count == 1 else 's'}" + (f" of {part}" if part else "")
    return f"{records} (line {line:,})" if count == 1 and line is not None else records


def _describe_left_out(records: str, fields: list[str]) -> str:
    if len(fields) == 1:
        return f"the field {fields[0]} of {records} is not kept"
    return f"the fields {', '.join(fields[:-1])} and {fields[-1]} of {records} are not kept"
