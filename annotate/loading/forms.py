"""The form of files to load."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms
from django.utils.html import format_html
from django.utils.safestring import SafeString

from annotate.collection.models import Run
from annotate.projects.kinds import ProjectKind
from formats.registry import FORMATS, Format

FROM_FILE = ("", "Recognize it from the file")


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
    format = forms.ChoiceField(
        label="Format",
        widget=forms.RadioSelect,
        required=False,
        choices=[FROM_FILE, *((layout.name, layout.title) for layout in FORMATS.values())],
    )
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


class LoadConfirmationForm(forms.Form):
    """What a lead chooses when the file of a preview is loaded."""

    despite_rules = forms.BooleanField(
        label="Load it even though rows break rules of the kind", required=False
    )
    carry_claims = forms.BooleanField(
        label="Copy machines’ claims to new versions for which the file has none", required=False
    )


def options_of(sent: Mapping[str, Any]) -> dict[str, Any]:
    """Return how files are read, as the action takes it, from what a form or a body has."""
    return {"format_name": sent["format"], "no_grade": sent["no_grade"], "side": sent["side"]}


def _formats_by_group(kind: ProjectKind) -> list[Any]:
    """Return the choices of a format: the kind's before the others, if it names any."""
    others = [_choice(layout) for layout in FORMATS.values() if layout.name not in kind.formats]
    if not kind.formats:
        return [FROM_FILE, ("All formats", others)]
    return [
        FROM_FILE,
        (f"For {kind.name} projects", [_choice(FORMATS[name]) for name in kind.formats]),
        ("Other formats", others),
    ]


def _choice(layout: Format) -> tuple[str, SafeString]:
    # The name as well: error sentences and the command line use it.
    label = '{} <code>{}</code> <span class="below help">{}</span>'
    return layout.name, format_html(label, layout.title, layout.name, layout.description)
