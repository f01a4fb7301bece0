"""Forms of leads: the filter of the matrix, and who takes the tasks of a query."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from django import forms

from annotate.overview.matrix import Asked, Key, Wanted, people_of
from annotate.pairs.forms import QueryFilterForm
from annotate.pairs.models import Assignment
from annotate.projects.models import Membership, Project

# Two grades given to the same document, as the page of differences links them: "0~2".
_GRADES = re.compile(r"(-?[0-9]{1,4})~(-?[0-9]{1,4})")


class MatrixForm(QueryFilterForm):
    """The filter of the matrix; every field is optional."""

    person = forms.TypedChoiceField(label="Person", required=False, coerce=int, empty_value=None)
    category = forms.ChoiceField(label="Category", required=False)
    state = forms.ChoiceField(label="State", choices=[("", "All"), *Wanted.choices], required=False)

    def __init__(self, member: Membership, *args: Any, **kwargs: Any) -> None:
        super().__init__(member, *args, **kwargs)
        #: The people who have a column, read once.
        self.people = people_of(member.project)
        person = self.fields["person"]
        assert isinstance(person, forms.TypedChoiceField)
        person.choices = [("", "Everybody"), *((member.pk, member.name) for member in self.people)]
        pairs = member.project.pairs.order_by("category").values_list("category", flat=True)
        named = list(pairs.distinct())
        if any(named):
            category = self.fields["category"]
            assert isinstance(category, forms.ChoiceField)
            category.choices = [
                ("", "Any"),
                *((name or "-", name or "None named") for name in named),
            ]
        else:
            # No pair names a category, so there is nothing to choose.
            del self.fields["category"]

    def asked(self) -> Asked:
        """Return the filter; its fields stay empty while the form has errors."""
        cleaned = self.cleaned_data if self.is_valid() else {}
        met = _GRADES.fullmatch(self.data.get("grades", ""))
        return Asked(
            query=cleaned.get("query"),
            category=cleaned.get("category") or "",
            person=cleaned.get("person"),
            state=Wanted(cleaned["state"]) if cleaned.get("state") else None,
            grades=(int(met[1]), int(met[2])) if met else None,
            after=Key.parse(self.data.get("after", "")),
            before=Key.parse(self.data.get("before", "")),
        )


class QueryPeopleForm(forms.Form):
    """Who takes each task of a query, and when; a task that nobody is asked to do has no field."""

    def __init__(
        self,
        *args: Any,
        project: Project,
        people: Sequence[Membership],
        named: Mapping[str, set[int]],
        is_urgent: bool,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self.named = named
        self.was_urgent = is_urgent
        for task in Assignment.Task:
            overlap = project.overlap(task)
            if not overlap:
                continue
            self.fields[task.value] = forms.TypedMultipleChoiceField(
                label=task.label,
                required=False,
                coerce=int,
                choices=[(person.pk, person.name) for person in people],
                initial=sorted(named[task]),
                widget=forms.CheckboxSelectMultiple,
                help_text=f"{overlap} {'person does' if overlap == 1 else 'people do'} this for "
                "each instruction. If nobody is ticked, anybody may.",
            )
        if self.fields:
            self.fields["urgent"] = forms.BooleanField(
                label="Urgent",
                required=False,
                initial=is_urgent,
                help_text="Its tasks are handed out before those of other queries.",
            )

    def people(self) -> dict[str, set[int]]:
        """Return the ticked members of each task; a task without a field keeps its members."""
        return {
            task: set(self.cleaned_data[task]) if task in self.fields else keys
            for task, keys in self.named.items()
        }

    def is_urgent(self) -> bool:
        """Return whether the query is to be urgent; it stays as it is where the form is empty."""
        return bool(self.cleaned_data.get("urgent", self.was_urgent))
