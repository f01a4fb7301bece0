"""The form for a project's passages. The action validates the values."""

from __future__ import annotations

from django import forms

from annotate.collection.models import PassageRule


class PassagesForm(forms.ModelForm[PassageRule]):
    """How documents are cut into passages, and which texts layouts publish."""

    class Meta:
        model = PassageRule
        fields = ("words", "overlap", "at_sentences", "published", "share")
        labels = {
            "words": "Words per passage",
            "overlap": "Words that the next passage repeats",
            "at_sentences": "Begin and end passages at sentences",
            "published": "Which texts layouts contain",
            "share": "Share of a document around its evidence, in percent",
        }
        help_texts = {
            "share": "At most this share of its characters is published. The manifest states it.",
        }
        widgets = {"published": forms.RadioSelect}

    def _post_clean(self) -> None:
        """Leave the instance unchanged: the action checks and changes it."""
