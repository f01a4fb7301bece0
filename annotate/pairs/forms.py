"""The filter of a list by one query."""

from __future__ import annotations

from typing import Any

from django import forms

from annotate.collection.models import Query
from annotate.pairs.models import InstructionPair
from annotate.projects.models import Membership


class QueryFilterForm(forms.Form):
    """A filter by a query of the member's project; a pair's id stands for its query."""

    query = forms.CharField(label="Query", max_length=255, required=False)

    def __init__(self, member: Membership, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._member = member

    def clean_query(self) -> int | None:
        """Return the key of the query."""
        query_id = self.cleaned_data["query"]
        if not query_id:
            return None
        queries = Query.objects.filter(project=self._member.project_id, query_id=query_id)
        key = queries.values_list("pk", flat=True).first()
        if key is None:
            pairs = InstructionPair.objects.filter(project=self._member.project_id)
            key = pairs.filter(pair_id=query_id).values_list("query__pk", flat=True).first()
        if key is None:
            raise forms.ValidationError(f"There is no query {query_id} in this project.")
        return int(key)
