"""The documents behind the figures of a machine: those that differ, or those of one cell."""

from __future__ import annotations

from collections.abc import Sequence

from django import forms
from django.http import QueryDict

from annotate.judgments.models import Judgment
from annotate.projects.models import Membership
from audit.machines.blind_answers import Chosen, Item, blind_items, settled_only

# In place of a grade of people.
DIFFER = "differ"


class DocumentsForm(forms.Form):
    """Which documents are listed: without a grade, those that the machine and a person grade
    differently.
    """

    chosen = forms.ChoiceField(label="Documents", choices=Chosen.choices)
    people = forms.ChoiceField(label="People agree on", required=False)
    machine = forms.ChoiceField(label="The machine’s grade", required=False)
    category = forms.CharField(label="Category", max_length=255, required=False)
    query = forms.CharField(label="Query", max_length=255, required=False)

    def __init__(self, scale: Sequence[int], asked: QueryDict) -> None:
        super().__init__(asked)
        grades = [("", "Any"), *((str(grade), str(grade)) for grade in scale)]
        for name, more in (("people", [(DIFFER, "They differ")]), ("machine", [])):
            field = self.fields[name]
            assert isinstance(field, forms.ChoiceField)
            field.choices = [*grades, *more]

    def matches(self, item: Item) -> bool:
        """Return whether the form, which is valid, asks for this document."""
        asked: dict[str, str] = self.cleaned_data
        agreed = DIFFER if item.agreed is None else str(item.agreed)
        is_in_cell = asked["people"] in ("", agreed) and asked["machine"] in ("", str(item.grade))
        if not asked["people"] and not asked["machine"]:
            is_in_cell = any(grade != item.grade for grade in item.people.values())
        return (
            is_in_cell
            and asked["category"] in ("", item.category)
            and asked["query"] in ("", item.query)
        )


def documents_asked_for(machine: Membership, form: DocumentsForm) -> dict[int, Item]:
    """Return the documents that the form asks for by the machine's judgments, in their order; none
    if it is not valid. Labels that somebody has to check or settle are left out.
    """
    if not form.is_valid():
        return {}
    items, _left_out = blind_items(machine, form.cleaned_data["chosen"])
    asked_for = {item.judgment: item for item in items if form.matches(item)}
    shown = settled_only(Judgment.objects.filter(annotator=machine))
    shown_keys = set(shown.values_list("pk", flat=True))
    return {key: item for key, item in asked_for.items() if key in shown_keys}
