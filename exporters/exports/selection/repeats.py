"""Records of repeats: a person's answer to a document shown again, and the first answer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import IO

from annotate.judgments.models import Repeat
from annotate.projects.models import Project
from exporters.exports.selection import ordered_rows
from formats.fields import to_json
from formats.reading import write_lines
from formats.records import RepeatRecord


def repeats(project: Project) -> Iterator[RepeatRecord]:
    """Yield every current answer to a repeat, in the order of judgments."""
    rows = Repeat.objects.current().filter(annotator__project=project)
    for row in ordered_rows.stream_rows(
        rows.order_by(
            ordered_rows.bytewise("candidate__query__query_id"),
            ordered_rows.bytewise("candidate__document__doc_id"),
            ordered_rows.bytewise("narrative__pair__pair_id"),
            ordered_rows.bytewise("narrative__side"),
            "narrative__version",
            ordered_rows.bytewise("annotator__name"),
        ),
        *ordered_rows.statement_columns(RepeatRecord),
    ):
        yield RepeatRecord._make(row)


def write(records: Iterable[RepeatRecord], stream: IO[bytes]) -> int:
    """Write one answer per line; return the number of lines."""
    return write_lines(map(to_json, records), stream)
