"""Forms of the collection: passages, a draw of topics, windows of a table."""

from __future__ import annotations

from django import forms

from annotate.collection.models import PassageRule
from annotate.collection.topics import Conditions


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
