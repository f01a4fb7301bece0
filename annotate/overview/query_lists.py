"""The list of a project's queries: their pools, their states and their order."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from django import forms
from django.db.models import Count, F, IntegerField, OuterRef, Q, QuerySet, Subquery, TextChoices
from django.db.models.functions import Coalesce
from django.http import QueryDict

from annotate.collection.models import Candidate, Query
from annotate.judgments import completion
from annotate.projects.models import Membership, Project
from base.texts import natural


class State(TextChoices):
    """How far a query is."""

    WAITING = "waiting", "Nothing to judge yet"
    OPEN = "open", "Not begun"
    BEGUN = "begun", "Under way"
    DONE = "done", "Finished"
    REMOVED = "removed", "Taken out"


class Pool(NamedTuple):
    """The documents of a query, and how many of them were relevant before."""

    documents: int = 0
    relevant: int = 0


_SORTS: dict[str, str] = {
    "id": "Query",
    "title": "Title",
    "core": "Core query",
    "pool": "Largest pool",
    "relevant": "Most relevant before",
    "left": "Most answers left",
}
_COLUMNS = {"title": "title", "core": "core"}
# Only leads may know what was relevant before.
_OF_LEADS = {"relevant"}


class QueryFilterForm(forms.Form):
    """The filter of a project's queries; every field is optional."""

    search = forms.CharField(label="Id or words of the title", max_length=200, required=False)
    state = forms.ChoiceField(
        label="State", choices=[("", "Not taken out"), *State.choices], required=False
    )
    urgent = forms.BooleanField(label="Only urgent ones", required=False)
    core = forms.CharField(
        label="Core query, by its key", max_length=255, required=False, widget=forms.HiddenInput
    )


class QueryListForm(QueryFilterForm):
    """The filter and the order of a project's queries; every field is optional."""

    sort = forms.ChoiceField(label="Sort by", required=False)
    field_order = ("search", "state", "sort", "urgent", "core")

    def __init__(self, member: Membership, asked: QueryDict) -> None:
        super().__init__(asked)
        sort = self.fields["sort"]
        assert isinstance(sort, forms.ChoiceField)
        sort.choices = [
            ("", "As loaded"),
            *(item for item in _SORTS.items() if member.leads or item[0] not in _OF_LEADS),
        ]

    def value(self, name: str) -> str:
        """Return what a field asks for; "" if nothing, or nothing that can be asked for."""
        self.is_valid()
        return str(self.cleaned_data.get(name) or "")

    def is_urgent(self) -> bool:
        """Return whether only urgent queries are asked for."""
        return self.value("urgent") != ""


def find_queries(
    project: Project, search: str, core: str, state: str, *, urgent: bool = False
) -> QuerySet[Query]:
    """Return the queries with this id or these words in the title, and of this core query.

    "" for either: all. `urgent`: only urgent ones. Those that are taken out are only returned,
    alone, for the state `REMOVED`; `in_order` selects the other states.
    """
    queries = project.queries.filter(removed_at__isnull=state != State.REMOVED)
    if urgent:
        queries = queries.filter(is_urgent=True)
    if search:
        queries = queries.filter(Q(query_id__contains=search) | Q(title__icontains=search))
    return queries.filter(core=core) if core else queries


def pools(project: Project, queries: Sequence[Query]) -> dict[int, Pool]:
    """Return the pools of these queries, by the key of each: one query."""
    before = Q(prior_relevance__gte=project.relevant_from)
    counted = (
        Candidate.objects.filter(query__in=[query.pk for query in queries])
        .order_by()
        .values("query_id")
        .annotate(documents=Count("pk"), relevant=Count("pk", filter=before))
    )
    return {int(row["query_id"]): Pool(row["documents"], row["relevant"]) for row in counted}


def in_order(project: Project, queries: QuerySet[Query], *, state: str, sort: str) -> list[int]:
    """Return the keys of those of the queries found that are in this state, in this order."""
    if sort in _COLUMNS:
        queries = queries.order_by(_COLUMNS[sort], "pk")
    elif sort in {"pool", "relevant"}:
        counted = Candidate.objects.filter(query=OuterRef("pk"))
        if sort == "relevant":
            counted = counted.filter(prior_relevance__gte=project.relevant_from)
        number = counted.order_by().values("query").annotate(n=Count("pk")).values("n")
        queries = queries.annotate(
            size=Coalesce(Subquery(number, output_field=IntegerField()), 0)
        ).order_by(F("size").desc(), "pk")
    else:
        queries = queries.order_by("pk")
    ids = dict(queries.values_list("pk", "query_id"))
    keys = sorted(ids, key=lambda key: natural(ids[key])) if sort == "id" else list(ids)
    if state in {"", State.REMOVED} and sort != "left":
        return keys
    wanted: dict[int, int] = defaultdict(int)
    answered: dict[int, int] = defaultdict(int)
    for pair in completion.judging_by_pair(project).values():
        wanted[pair.query] += pair.wanted
        answered[pair.query] += pair.answered
    if state and state != State.REMOVED:
        keys = [key for key in keys if state_by_answers(wanted[key], answered[key]) == state]
    if sort == "left":
        keys.sort(key=lambda key: answered[key] - wanted[key])
    return keys


def state_by_answers(wanted: int, answered: int) -> State:
    """Return the state of a query that is not taken out."""
    if not wanted:
        return State.WAITING
    if not answered:
        return State.OPEN
    return State.DONE if answered >= wanted else State.BEGUN
