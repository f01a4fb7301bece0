"""Which part of a big table is asked for."""

from __future__ import annotations

from django import forms


class WindowForm(forms.Form):
    """A row and a column, from 1, and words to find onward from there. What cannot be read is as if
    it were not there: an address typed by hand still shows the table.
    """

    row = forms.IntegerField(required=False, min_value=1, max_value=10**9)
    column = forms.IntegerField(required=False, min_value=1, max_value=10**9)
    find = forms.CharField(required=False, max_length=200)
    go = forms.ChoiceField(
        required=False, choices=[(go, go) for go in ("here", "next", "previous")]
    )
