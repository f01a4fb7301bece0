"""Forms of releases and of their comparison."""

from __future__ import annotations

from typing import Any

from django import forms

from base.requests import LinesField
from exporters.releases.actions import MAX_NOTE


class ReleaseForm(forms.Form):
    """The name and note of a new release; the action validates the name."""

    name = forms.CharField(
        label="Name",
        max_length=60,
        strip=True,
        help_text="Letters, digits, dots, hyphens and underscores, as in v1.0.",
        # What is typed stays when the publication settings are saved on the same page.
        widget=forms.TextInput(
            attrs={"autocomplete": "off", "spellcheck": "false", "hx-preserve": "true"}
        ),
    )
    note = LinesField(
        label="Note",
        max_length=MAX_NOTE,
        required=False,
        help_text="What it is for, or what is new in it. It is part of the release.",
        widget=forms.Textarea(attrs={"rows": 3, "hx-preserve": "true"}),
    )
    sure = forms.BooleanField(
        label="I have read what is open. A release is never changed or deleted.",
        error_messages={"required": "Tick the box if you are sure."},
    )


class CompareForm(forms.Form):
    """The two releases to compare."""

    before = forms.ChoiceField(label="From")
    after = forms.ChoiceField(label="To")

    def __init__(self, names: list[str], *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for field in ("before", "after"):
            choices = self.fields[field]
            assert isinstance(choices, forms.ChoiceField)
            choices.choices = [(name, name) for name in names]
