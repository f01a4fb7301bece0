"""What pages, programs and the browser's journal send: a grade or a flag about one document.

`SentJudgment` and `SentFlag` validate it for all three. The forms of the judge page work without
JavaScript; `posted_fields` reads them.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from datetime import datetime
from typing import Any, ClassVar
from uuid import UUID

from django import forms
from django.http import QueryDict
from django.utils import timezone
from rest_framework import serializers

from annotate.collection.text_versions import MAX_TEXT_VERSION
from annotate.judgments.models import Flag, Judgment, Verdict
from base.api.resource import KeyField, RequestBody
from formats.fields import time_problem

VERDICT_PREFIX = "verdict-"

# The largest offset in a text.
MAX_OFFSET = 2**31 - 1
# More spans than anybody marks in one document.
MAX_SENT_SPANS = 500
# A day in milliseconds: nobody looks at one document for longer.
MAX_ACTIVE_MS = 86_400_000


# --- what is sent ---------------------------------------------------------------------------------


def _out_of_range(sentence: str) -> dict[str, Any]:
    return {"min_value": sentence, "max_value": sentence}


class StatementUuidField(serializers.UUIDField):
    """The UUID of a statement, made by its sender."""

    def to_internal_value(self, data: Any) -> UUID:
        """Refuse a number, and the UUID of zeros."""
        uuid = super().to_internal_value(data if isinstance(data, str) else "")
        if not uuid.int:
            self.fail("invalid", value=data)
        return uuid


class MadeAtField(serializers.DateTimeField):
    """When a statement was made, by the sender's clock."""

    default_error_messages: ClassVar = {
        "zoneless": "The time must have a zone.",
        "impossible": "The time is before 1970 or in the future.",
    }

    def enforce_timezone(self, value: datetime) -> datetime:
        """Refuse a time without a zone."""
        if value.tzinfo is None:
            self.fail("zoneless")
        return super().enforce_timezone(value)

    def to_internal_value(self, value: Any) -> datetime:
        """Refuse a time before 1970 or in the future."""
        moment = super().to_internal_value(value)
        if time_problem(moment):
            self.fail("impossible")
        return moment


class BrowserTimeField(MadeAtField):
    """The same in a journal; the current time if the clock of that computer is wrong."""

    def to_internal_value(self, value: Any) -> datetime:
        """Replace a time that cannot be."""
        moment = serializers.DateTimeField.to_internal_value(self, value)
        return timezone.now() if time_problem(moment) else moment


class TextField(serializers.CharField):
    """A typed text, as it is; the action checks its length and characters."""

    def __init__(self, **options: Any) -> None:
        super().__init__(allow_blank=True, trim_whitespace=False, **options)
        self.validators = []


class OffsetField(serializers.IntegerField):
    """An offset in a text."""

    default_error_messages: ClassVar = _out_of_range(
        "The marked passage is not within the text. Mark it again."
    )

    def __init__(self, least: int) -> None:
        super().__init__(min_value=least, max_value=MAX_OFFSET)


class SpanSerializer(RequestBody):
    """A span of a text in Unicode code points; `end` is exclusive."""

    start = OffsetField(0)
    end = OffsetField(1)


class SpansField(serializers.ListField):
    """Spans of a text."""

    def __init__(self) -> None:
        super().__init__(child=SpanSerializer(), required=False, max_length=MAX_SENT_SPANS)


class SentStatement(RequestBody):
    """A grade or a flag. The sender makes the UUID, so that sending it twice changes nothing."""

    uuid = StatementUuidField()
    narrative = KeyField(help_text="The version that was read.")
    candidate = KeyField(help_text="The document, by the number that `judging_session` gives it.")
    text_version = serializers.IntegerField(
        required=False,
        allow_null=True,
        min_value=0,
        max_value=MAX_TEXT_VERSION,
        help_text="The version of the document's text that was read, 0 for none; the newest if "
        "omitted.",
    )
    made_at = MadeAtField(
        required=False, allow_null=True, help_text="When it was given, by the sender's clock."
    )

    # What the forms of pages do not have: their statements are made when they are sent.
    not_on_pages: ClassVar[Set[str]] = {"made_at"}


class SentJudgment(SentStatement):
    """A grade."""

    relevance = serializers.IntegerField(
        min_value=-(2**31),
        max_value=MAX_OFFSET,
        error_messages=_out_of_range("This number is not a grade of this project."),
    )
    note = TextField(required=False)
    evidence = SpansField()
    clauses = SpansField()
    verdicts = serializers.DictField(
        required=False,
        child=serializers.ChoiceField(choices=Verdict.Answer.choices),
        help_text="Answers by condition key.",
    )
    active_ms = serializers.IntegerField(
        required=False,
        allow_null=True,
        min_value=0,
        max_value=MAX_ACTIVE_MS,
        error_messages=_out_of_range("The time spent with a document is at most a day."),
        help_text="Active milliseconds with the document on the screen.",
    )
    pressed = serializers.ChoiceField(
        required=False,
        allow_blank=True,
        choices=Judgment.Pressed.choices,
        error_messages={"invalid_choice": "A grade is given with a key or a click."},
    )

    def validate_verdicts(self, verdicts: dict[str, str]) -> dict[int, str]:
        """Parse the keys of the conditions."""
        if not all(map(_is_key, verdicts)):
            raise serializers.ValidationError("A verdict must be on a condition.")
        return {int(key): answer for key, answer in verdicts.items()}


class FlagKindField(serializers.ChoiceField):
    """The kind of a flag."""

    default_error_messages: ClassVar = {"invalid_choice": "This is not a kind of flag."}

    def __init__(self, **options: Any) -> None:
        super().__init__(Flag.Kind.choices, **options)


class SentFlag(SentStatement):
    """A flag instead of a grade."""

    not_on_pages = SentStatement.not_on_pages | {"uuid"}

    kind = FlagKindField(source="flag")
    words = TextField(required=False, source="note")


def _is_key(key: str) -> bool:
    return key.isascii() and key.isdecimal() and len(key) < 19


def first_error(errors: Any) -> str:
    """Return the first error of a serializer as a sentence that names its field."""
    names = []
    while not isinstance(errors, str):
        if isinstance(errors, Mapping):
            name, errors = next(iter(errors.items()))
            names += [f"“{name}”"] if isinstance(name, str) and name.isidentifier() else []
        else:
            errors = next(error for error in errors if error)
    named = [name for name in names if name != "“non_field_errors”"]
    return f"The field {', '.join(named)}: {errors}" if named else str(errors)


# --- the forms of the judge page ------------------------------------------------------------------


class BackForm(forms.Form):
    """Where to go after saving: back to the list, or (blank) on to the next document."""

    LIST = "list"

    back = forms.ChoiceField(required=False, choices=[(LIST, LIST)], widget=forms.HiddenInput)


class TextVersionField(forms.IntegerField):
    """The text version of the document that was on the screen; 0 if it had no text."""

    widget = forms.HiddenInput

    def __init__(self) -> None:
        super().__init__(required=False, min_value=0, max_value=MAX_TEXT_VERSION)


def posted_fields(post: QueryDict, sent: type[SentStatement]) -> dict[str, Any]:
    """Return the fields of a page's form as `sent` reads them; what is blank is left out."""
    values: dict[str, Any] = {name: value for name, value in post.items() if value}
    for name in ("evidence", "clauses"):
        values[name] = [_posted_span(value) for value in post.getlist(name) if value]
    values["verdicts"] = _posted_verdicts(post)
    on_pages = sent._declared_fields.keys() - sent.not_on_pages
    return {name: value for name, value in values.items() if name in on_pages}


def _posted_span(value: str) -> dict[str, str]:
    """Parse a marked span of a form, "start-end"."""
    start, _dash, end = value.partition("-")
    return {"start": start, "end": end}


def verdicts_in(data: Mapping[str, Any]) -> dict[int, str]:
    """Return a form's verdicts by condition key; raise ValidationError for an invalid key."""
    verdicts = _posted_verdicts(data)
    if not all(map(_is_key, verdicts)):
        raise forms.ValidationError("A verdict must be on a condition.")
    return {int(key): answer for key, answer in verdicts.items()}


def _posted_verdicts(post: Mapping[str, Any]) -> dict[str, str]:
    return {
        name.removeprefix(VERDICT_PREFIX): str(answer)
        for name, answer in post.items()
        if name.startswith(VERDICT_PREFIX) and answer
    }
