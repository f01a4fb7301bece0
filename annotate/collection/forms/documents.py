"""The form for the requested part of a big table."""

from __future__ import annotations

from django import forms


class WindowForm(forms.Form):
    """A row and a column, from 1, and words to find from there.

    Invalid values are ignored: an address typed by hand still shows the table.
    """

    row = forms.IntegerField(required=False, min_value=1, max_value=10**9)
    column = forms.IntegerField(required=False, min_value=1, max_value=10**9)
    find = forms.CharField(required=False, max_length=200)
    go = forms.ChoiceField(
        required=False, choices=[(go, go) for go in ("here", "next", "previous")]
    )
