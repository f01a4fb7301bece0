"""Forms that name a part of a project to report on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms

from annotate.pairs.models import Narrative
from annotate.projects.models import Guideline, Membership, Project
from audit.reports.scopes import WHOLE, categories_of, domains_of, rubric_of, scope_of
from audit.reviews.rubrics import has_reviews
from base.errors import Refused


class ScopeForm(forms.Form):
    """The part of a project that an agreement report covers; every field is optional."""

    # None is a ChoiceField, because `audit.reports.scopes` has better sentences for unknown values.
    query = forms.CharField(label="Query", max_length=255, required=False)
    category = forms.CharField(label="Category", required=False)
    domain = forms.CharField(label="Domain", required=False)
    side = forms.CharField(label="Narrative", required=False)
    criterion = forms.CharField(label="Criterion", required=False)
    one = forms.CharField(label="Between", required=False)
    other = forms.CharField(label="and", required=False)
    guideline = forms.CharField(label="Guidelines", required=False)
    week = forms.CharField(
        label="In the week of",
        required=False,
        widget=forms.DateInput(attrs={"type": "date"}),
    )
    blind = forms.BooleanField(
        label="Blind judgments only",
        required=False,
        widget=forms.CheckboxInput(attrs={"value": "1"}),
    )

    def __init__(self, project: Project, asked: Mapping[str, Any]) -> None:
        super().__init__(asked)
        self._project = project
        self.scope = WHOLE
        people = Membership.objects.people().filter(project=project).order_by("name")
        names = [(name, name) for name in people.values_list("name", flat=True)]
        versions = Guideline.objects.filter(project=project).order_by("version")
        numbered = [
            (str(version), f"version {version}")
            for version in versions.values_list("version", flat=True)
        ]
        offered: dict[str, list[tuple[str, Any]]] = {
            "category": [(key, key) for key in categories_of(project)],
            "domain": [(key, key) for key in domains_of(project)],
            "side": list(Narrative.Side.choices),
            "criterion": [
                (criterion.key, criterion.name) for criterion in rubric_of(project).criteria
            ]
            if has_reviews(project)
            else [],
            # Agreement is between two people.
            "one": names if len(names) > 1 else [],
            "other": names if len(names) > 1 else [],
            "guideline": [("0", "before the first"), *numbered] if numbered else [],
        }
        for name, choices in offered.items():
            self.fields[name].widget = (
                forms.Select(choices=[("", "any"), *choices]) if choices else forms.HiddenInput()
            )

    def clean(self) -> dict[str, Any]:
        """Parse the scope; an unknown value is an error of the whole form."""
        cleaned = super().clean() or self.cleaned_data
        if not self.errors:
            try:
                self.scope = scope_of(self._project, cleaned)
            except Refused as refused:
                raise forms.ValidationError(str(refused)) from refused
        return cleaned


class ComparedForm(forms.Form):
    """The two parts of a project to compare."""

    of = forms.ChoiceField(label="Agreement in", required=False)
    against = forms.ChoiceField(label="against", required=False)

    def __init__(self, offered: list[tuple[str, str]], asked: Mapping[str, Any] | None) -> None:
        super().__init__(asked)
        for name in ("of", "against"):
            field = self.fields[name]
            assert isinstance(field, forms.ChoiceField)
            field.choices = offered
            field.error_messages["invalid_choice"] = (
                "There is no such part of this project. Choose one from the list."
            )

    def clean(self) -> dict[str, Any]:
        """Require two different parts."""
        cleaned = super().clean() or self.cleaned_data
        if not self.errors and cleaned["of"] == cleaned["against"]:
            self.add_error("against", "Choose two different parts to compare.")
        return cleaned
