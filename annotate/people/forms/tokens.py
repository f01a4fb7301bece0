"""The form for making a token."""

from __future__ import annotations

from django import forms

from annotate.people.tokens import MOST_DAYS
from base.api.scopes import Scope


class TokenForm(forms.Form):
    """A new token: its name, scopes and lifetime."""

    name = forms.CharField(
        max_length=100,
        help_text="What it is for. You need the name to end it.",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    scopes = forms.MultipleChoiceField(
        label="What it may do in addition to reading",
        required=False,
        choices=[choice for choice in Scope.choices if choice[0] != Scope.READ],
        widget=forms.CheckboxSelectMultiple,
        help_text="Never more than you may do yourself.",
    )
    days = forms.IntegerField(
        label="Valid for so many days",
        min_value=1,
        max_value=MOST_DAYS,
        initial=90,
    )
