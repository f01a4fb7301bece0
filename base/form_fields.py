"""Form fields that several forms share."""

from __future__ import annotations

from typing import Any

from django import forms


class SentenceField(forms.CharField):
    """A one-line sentence in a text area that grows with it, so that all of it stays visible."""

    def __init__(self, **options: Any) -> None:
        super().__init__(widget=forms.Textarea(attrs={"rows": 1}), **options)

    def to_python(self, value: Any) -> str:
        """Return the sentence without line breaks."""
        return " ".join((super().to_python(value) or "").split())
