"""The rewrite page's form."""

from __future__ import annotations

from django import forms

from annotate.actions.rewriting import MAX_LENGTH


class NarrativeForm(forms.Form):
    """The next version of an altered narrative, and the version it was made from."""

    text = forms.CharField(
        label="Altered narrative",
        max_length=MAX_LENGTH,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 14, "spellcheck": "true"}),
        error_messages={"required": "The narrative is empty. Write what is relevant now."},
    )
    note = forms.CharField(
        label="Note",
        required=False,
        max_length=500,
        help_text="For whoever reads the versions later: what did you change, and why?",
    )
    based_on = forms.IntegerField(min_value=0, widget=forms.HiddenInput)
