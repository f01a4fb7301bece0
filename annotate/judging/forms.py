"""The judge page's forms for grades and flags. They work without JavaScript."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms

from annotate.collection.spans import Span
from annotate.collection.text_versions import MAX_TEXT_VERSION
from annotate.judging.answer_rules import MAX_ACTIVE_MS, MAX_NOTE
from annotate.judgments.models import Flag, Judgment

VERDICT_PREFIX = "verdict-"


class BackForm(forms.Form):
    """Where to go after saving: back to the list, or (blank) on to the next document."""

    LIST = "list"

    back = forms.ChoiceField(required=False, choices=[(LIST, LIST)], widget=forms.HiddenInput)


class SpansField(forms.Field):
    """Spans of a text, each sent as "start-end"."""

    widget = forms.MultipleHiddenInput

    def to_python(self, value: list[str] | None) -> list[Span]:
        """Parse the spans; raise ValidationError for an invalid one."""
        spans = []
        for sent in filter(None, value or ()):
            start, _dash, end = sent.partition("-")
            if not all(
                part.isascii() and part.isdecimal() and len(part) < 12 for part in (start, end)
            ):
                raise forms.ValidationError("A marked passage could not be read. Mark it again.")
            spans.append(Span(int(start), int(end)))
        return spans


class TextVersionField(forms.IntegerField):
    """The text version of the document that was on the screen; 0 if it had no text."""

    widget = forms.HiddenInput

    def __init__(self) -> None:
        super().__init__(required=False, min_value=0, max_value=MAX_TEXT_VERSION)


class JudgmentForm(BackForm):
    """One grade for one document, under the narrative and text version that were on the screen.

    A verdict on a condition is the field `verdict-` and the condition's key.
    """

    narrative = forms.IntegerField(widget=forms.HiddenInput)
    text_version = TextVersionField()
    relevance = forms.IntegerField()
    uuid = forms.UUIDField(required=False, widget=forms.HiddenInput)
    active_ms = forms.IntegerField(required=False, min_value=0, max_value=MAX_ACTIVE_MS)
    pressed = forms.ChoiceField(required=False, choices=Judgment.Pressed.choices)
    # The action checks its length and characters.
    note = forms.CharField(required=False, strip=False)
    evidence = SpansField(required=False)
    clauses = SpansField(required=False)

    def clean(self) -> dict[str, Any]:
        """Add `verdicts`: the answers by condition key."""
        return {**self.cleaned_data, "verdicts": verdicts_in(self.data)}


def verdicts_in(data: Mapping[str, Any]) -> dict[int, str]:
    """Return a form's verdicts by condition key; raise ValidationError for an invalid key."""
    verdicts = {}
    for name, answer in data.items():
        key = name.removeprefix(VERDICT_PREFIX)
        if name.startswith(VERDICT_PREFIX) and answer:
            if not (key.isascii() and key.isdecimal() and len(key) < 19):
                raise forms.ValidationError("A verdict must be on a condition.")
            verdicts[int(key)] = str(answer)
    return verdicts


class FlagForm(BackForm):
    """A flag instead of a grade, with the reason."""

    narrative = forms.IntegerField(widget=forms.HiddenInput)
    text_version = TextVersionField()
    kind = forms.ChoiceField(choices=Flag.Kind.choices)
    words = forms.CharField(required=False, max_length=MAX_NOTE)
