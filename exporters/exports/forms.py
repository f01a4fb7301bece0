"""Asking for an export, or for a release."""

from __future__ import annotations

from django import forms
from django.utils.translation import gettext_lazy as _

from exporters.exports.models import Export


class ExportForm(forms.Form):
    """Which files are wanted."""

    format = forms.ChoiceField(
        label=_("What to write"),
        choices=Export.Format.choices,
        initial=Export.Format.TREC,
        widget=forms.RadioSelect,
    )
