"""Limits of an instruction pair in a file: lengths, number of conditions, empty texts."""

from __future__ import annotations

from annotate.pairs import condition_lines
from annotate.pairs.intake.shared import MAX_NAME
from formats.records import PairRecord

MAX_CATEGORY = 60
MAX_MODEL = 120
MAX_NOTE = 500
MAX_CORE = 255
MAX_SOURCE_FIELDS = 20_000
MAX_DOMAIN = 120


def fault_of(record: PairRecord) -> str | None:
    """Return an error message if this pair cannot be loaded, else None."""
    for value, most, what in (
        (record.category, MAX_CATEGORY, "category"),
        (record.model, MAX_MODEL, "model"),
        (record.core, MAX_CORE, "id of the core query"),
        (record.source_fields, MAX_SOURCE_FIELDS, "stored part of the source's other fields"),
        (record.domain, MAX_DOMAIN, "domain"),
    ):
        if len(value) > most:
            return f"the {what} is longer than {most:,} characters"
    if record.restates == record.pair_id:
        return f"instruction pair {record.pair_id} restates itself"
    for narrative in record.narratives:
        if narrative.side != "original" and not narrative.text.strip():
            return f"version {narrative.version} of the {narrative.side} narrative has no words"
        if (narrative.withdrawn_by is None) != (narrative.withdrawn_at is None):
            return "a withdrawn narrative needs both withdrawn_by and withdrawn_at"
        if len(narrative.withdrawn_by or "") > MAX_NAME:
            return f"a name has at most {MAX_NAME} characters"
        if len(narrative.model) > MAX_MODEL:
            return f"the model of a narrative is longer than {MAX_MODEL} characters"
        if len(narrative.note) > MAX_NOTE:
            return f"the note of a narrative is longer than {MAX_NOTE} characters"
        if len(narrative.conditions) > condition_lines.MAX_LINES:
            return (
                f"version {narrative.version} of the {narrative.side} narrative has "
                f"{len(narrative.conditions):,} conditions; "
                f"at most {condition_lines.MAX_LINES} are allowed"
            )
        for number, condition in enumerate(narrative.conditions, 1):
            if not condition.text.strip():
                return f"condition {number} of the {narrative.side} narrative has no words"
            if len(condition.text) > condition_lines.MAX_TEXT:
                return (
                    f"condition {number} of the {narrative.side} narrative is longer than "
                    f"{condition_lines.MAX_TEXT:,} characters"
                )
            if len(condition.name) > condition_lines.MAX_NAME:
                return (
                    f"the name of condition {number} of the {narrative.side} narrative is "
                    f"longer than {condition_lines.MAX_NAME} characters"
                )
        if narrative.author is not None and not 0 < len(narrative.author) <= MAX_NAME:
            return f"an author's name has 1 to {MAX_NAME} characters"
    return None
