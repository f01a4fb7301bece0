"""Forms to request an export and to change the publication settings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from django import forms

from annotate.projects.models import Project
from exporters.exports.actions import FORMATS, LAYOUTS, divide_layouts
from exporters.exports.models import FIRST_YEAR, LAST_YEAR, Export, Publication
from exporters.exports.publishing import FIELDS


def _format_choices(project: Project, first: Iterable[Export.Format] = ()) -> list[Any]:
    """Return `first` and the layouts of the project's kind, then those of other kinds, apart."""
    suitable, others = divide_layouts(project)
    choices: list[Any] = [(name.value, name.label) for name in (*first, *suitable)]
    if others:
        choices.append(("Layouts of other kinds", [(name.value, name.label) for name in others]))
    return choices


class ExportForm(forms.Form):
    """The format to write, and whether to prove it."""

    format = forms.ChoiceField(
        label="What to write",
        choices=Export.Format.choices,
        initial=Export.Format.TREC,
        widget=forms.RadioSelect,
    )
    prove = forms.BooleanField(
        label="Let the installed tools of the field read the folder once it is written",
        required=False,
    )

    def __init__(self, project: Project, data: Mapping[str, Any] | None = None) -> None:
        super().__init__(data)
        format_field = self.fields["format"]
        assert isinstance(format_field, forms.ChoiceField)
        format_field.choices = _format_choices(project, FORMATS)


class PublicationForm(forms.ModelForm[Publication]):
    """The publication settings of a project; the action saves them."""

    layouts = forms.MultipleChoiceField(
        label="Releases also hold",
        choices=[(name.value, name.label) for name in LAYOUTS],
        required=False,
        widget=forms.CheckboxSelectMultiple,
    )

    year = forms.IntegerField(required=False, min_value=FIRST_YEAR, max_value=LAST_YEAR)

    class Meta:
        model = Publication
        fields = FIELDS
        help_texts = {
            "licence": "By its SPDX name, as in CC-BY-4.0.",
            "texts_licence": "If it is another one, such as that of a news collection.",
            "texts_source": "Where the texts come from, as in TREC Washington Post Collection.",
            "languages": "As in eng-Latn, several separated by spaces.",
            "creators": "One per line, as in Curie, Marie.",
            "publisher": "Who publishes it, as in Zenodo.",
            "citation": "As BibTeX.",
        }
        widgets = {
            "creators": forms.Textarea(attrs={"rows": 3}),
            "description": forms.Textarea(attrs={"rows": 3}),
            "citation": forms.Textarea(attrs={"rows": 4}),
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        layouts = self.fields["layouts"]
        assert isinstance(layouts, forms.MultipleChoiceField)
        layouts.choices = _format_choices(self.instance.project)
