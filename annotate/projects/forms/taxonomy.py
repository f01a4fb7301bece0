"""The form of a project's taxonomy."""

from __future__ import annotations

from typing import Any

from django import forms
from django.forms import BaseFormSet, formset_factory

from annotate.projects.taxonomies import Kind
from base.form_fields import SentenceField


class CategoryForm(forms.Form):
    """One type of instruction."""

    key = forms.CharField(label="The key that files use", max_length=60)
    name = forms.CharField(max_length=120)
    sentence = SentenceField(max_length=500, required=False)


CategoryFormSet = formset_factory(CategoryForm, extra=2, can_delete=True, max_num=100)


def kinds(formset: BaseFormSet[CategoryForm]) -> list[Kind]:
    """Return the types that were filled in and not deleted."""
    kept: list[dict[str, Any]] = [
        form.cleaned_data
        for form in formset.forms
        if form.cleaned_data and not form.cleaned_data.get("DELETE")
    ]
    return [Kind(row["key"], row["name"], row["sentence"]) for row in kept]
