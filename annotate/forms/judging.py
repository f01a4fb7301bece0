"""The judge page's forms: a grade, or a flag."""

from __future__ import annotations

from django import forms

from annotate.actions.judging import MAX_NOTE
from annotate.models import Flag


class BackForm(forms.Form):
    """Where to go then: to the list of documents, or, blank, on to the next document."""

    LIST = "list"

    back = forms.ChoiceField(required=False, choices=[(LIST, LIST)], widget=forms.HiddenInput)


class JudgmentForm(BackForm):
    """One grade for one document, under the narrative version that was on the screen."""

    narrative = forms.IntegerField(widget=forms.HiddenInput)
    relevance = forms.IntegerField()
    uuid = forms.UUIDField(required=False, widget=forms.HiddenInput)
    active_ms = forms.IntegerField(required=False, min_value=0, max_value=86_400_000)
    note = forms.CharField(required=False, max_length=MAX_NOTE, strip=False)


class FlagForm(BackForm):
    """Why there is no grade."""

    narrative = forms.IntegerField(widget=forms.HiddenInput)
    kind = forms.ChoiceField(choices=Flag.Kind.choices)
    words = forms.CharField(required=False, max_length=MAX_NOTE)
