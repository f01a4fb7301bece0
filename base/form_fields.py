"""Fields that several forms have."""

from __future__ import annotations

from typing import Any

from django import forms


class SentenceField(forms.CharField):
    """A sentence on one line, in a box that grows with it: it can be read while it is written."""

    def __init__(self, **options: Any) -> None:
        super().__init__(widget=forms.Textarea(attrs={"rows": 1}), **options)

    def to_python(self, value: Any) -> str:
        """The sentence without line breaks."""
        return " ".join((super().to_python(value) or "").split())
