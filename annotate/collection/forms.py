"""Forms of the collection: files to load, passages, a draw of topics, windows of a table."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.html import format_html
from django.utils.safestring import SafeString

from annotate.collection.models import PassageRule, Run
from annotate.collection.topics import Conditions
from annotate.projects.kinds import ProjectKind
from formats.registry import FORMATS, Format


class _FilesInput(forms.ClearableFileInput):
    allow_multiple_selected = True


class _FilesField(forms.FileField):
    """One or more files; its value is a list."""

    widget = _FilesInput

    def clean(self, data: Any, initial: Any = None) -> list[Any]:
        """Return the files, each of them checked."""
        files = data if isinstance(data, list | tuple) and data else [data]
        return [super(_FilesField, self).clean(file, initial) for file in files]


class LoadForm(forms.Form):
    """A file and its format."""

    file = _FilesField(
        label="One or more files",
        max_length=255,
        help_text=(
            "As they are, or compressed with gzip. A folder is uploaded as one zip archive. "
            "Several files are put in the right order."
        ),
    )
    format = forms.ChoiceField(label="Format", widget=forms.RadioSelect, required=False)
    no_grade = forms.IntegerField(
        label="Value that means no grade",
        required=False,
        min_value=-32_768,
        max_value=32_767,
        help_text=(
            "Only for judgments and qrels, for instance -1. In judgments such lines become "
            "“cannot judge” flags; in qrels their documents get no earlier relevance."
        ),
    )
    side = forms.ChoiceField(
        label="Side of a run",
        required=False,
        choices=[("", "as its ids indicate"), *Run.Side.choices],
        help_text="What a run ranks documents for. Lines of runs over instructions name pairs.",
    )

    def __init__(self, *args: Any, kind: ProjectKind, **kwargs: Any) -> None:
        """List the formats of this kind of project first."""
        super().__init__(*args, **kwargs)
        field = self.fields["format"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = _formats_by_group(kind)


def _formats_by_group(kind: ProjectKind) -> list[Any]:
    """Return the choices of a format: the kind's before the others, if it names any."""
    from_file = ("", "Recognize it from the file")
    others = [_choice(layout) for layout in FORMATS.values() if layout.name not in kind.formats]
    if not kind.formats:
        return [from_file, ("All formats", others)]
    return [
        from_file,
        (f"For {kind.name} projects", [_choice(FORMATS[name]) for name in kind.formats]),
        ("Other formats", others),
    ]


def _choice(layout: Format) -> tuple[str, SafeString]:
    # The name as well: error sentences and the command line use it.
    label = '{} <code>{}</code> <span class="below help">{}</span>'
    return layout.name, format_html(label, layout.title, layout.name, layout.description)


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
