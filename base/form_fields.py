"""Fields that forms of several apps have."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.text import normalize_newlines


class LinesField(forms.CharField):
    """A text of several lines. Each line ends with a line feed, and counts as one character.

    Browsers send a carriage return as well, which the page did not count as typed.
    """

    widget = forms.Textarea

    def to_python(self, value: Any) -> str:
        """Return the text with line feeds as line ends."""
        return str(normalize_newlines(super().to_python(value) or ""))
