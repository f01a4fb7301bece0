"""Asking for an export."""

from __future__ import annotations

from django import forms

from exporters.models import Export


class ExportForm(forms.Form):
    """Which files are wanted."""

    format = forms.ChoiceField(
        label="What to write",
        choices=Export.Format.choices,
        initial=Export.Format.TREC,
        widget=forms.RadioSelect,
    )
