"""The form for drawing topics."""

from __future__ import annotations

from django import forms

from annotate.topics.choosing import Conditions

LARGEST = 2_147_483_647


class DrawForm(forms.Form):
    """A draw of topics: number, seed and conditions."""

    number = forms.IntegerField(label="Topics to draw", min_value=1, max_value=10_000)
    seed = forms.IntegerField(
        label="Seed",
        min_value=0,
        max_value=LARGEST,
        initial=1,
        help_text="The same seed draws the same topics, so a paper can report it.",
    )
    narrative = forms.BooleanField(
        label="Only topics with a narrative", required=False, initial=True
    )
    least = forms.IntegerField(
        label="Relevant documents, at least",
        min_value=0,
        max_value=LARGEST,
        required=False,
    )
    most = forms.IntegerField(
        label="Relevant documents, at most",
        min_value=0,
        max_value=LARGEST,
        required=False,
    )

    @property
    def conditions(self) -> Conditions:
        """Return the conditions of a valid form."""
        cleaned = self.cleaned_data
        return Conditions(cleaned["narrative"], cleaned["least"], cleaned["most"])
