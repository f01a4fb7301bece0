"""The list of a query's documents: which are shown, and in which order."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from django import forms
from django.db.models import F, Q, QuerySet, TextChoices

from annotate.collection.models import Candidate
from annotate.judgments.blindness import blind_pairs
from annotate.judgments.document_names import names_for
from annotate.judgments.models import Flag, Judgment
from annotate.overview.progress import Statements, statements_of
from annotate.projects.models import Membership
from base.texts import natural


class State(TextChoices):
    """What is said about a document."""

    JUDGED = "judged", "Judged"
    UNJUDGED = "unjudged", "Not judged"
    DISPUTED = "disputed", "Disputed"
    FLAGGED = "flagged", "Flagged"
    RELEVANT = "relevant", "Relevant before"
    NOT_RELEVANT = "not_relevant", "Not relevant before"
    WITHOUT_TEXT = "without_text", "Without text"


class Sort(TextChoices):
    """An order of documents."""

    DOC_ID = "id", "Document"
    PRIOR = "prior", "Earlier grade"


# What tells earlier grades: only for readers who may know them.
PRIOR_STATES = {State.RELEVANT, State.NOT_RELEVANT}


class PoolFilterForm(forms.Form):
    """The filter of a query's documents; every field is optional."""

    search = forms.CharField(label="Id or words of the title", max_length=200, required=False)
    state = forms.ChoiceField(label="Show", choices=[("", "All"), *State.choices], required=False)


class PoolForm(PoolFilterForm):
    """The filter and the order of a query's documents, as far as a reader may ask for them."""

    sort = forms.ChoiceField(label="Sort by", required=False)

    def __init__(self, *args: object, knows_prior: bool, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]
        state, sort = self.fields["state"], self.fields["sort"]
        assert isinstance(state, forms.ChoiceField)
        assert isinstance(sort, forms.ChoiceField)
        if not knows_prior:
            allowed = [each for each in State if each not in PRIOR_STATES]
            state.choices = [("", "All"), *((each.value, each.label) for each in allowed)]
        sort.choices = [
            ("", "As loaded"),
            *((each.value, each.label) for each in Sort if knows_prior or each is not Sort.PRIOR),
        ]

    def value(self, name: str) -> str:
        """Return what a field asks for; "" if nothing, or nothing that can be asked for."""
        return str(self.cleaned_data.get(name) or "") if self.is_valid() else ""


def knows_prior(member: Membership, pairs: Iterable[int]) -> bool:
    """Return whether a member may know earlier grades under these pairs (keys) of a query.

    A reader who still judges is blind to them, leads included.
    """
    return member.project.show_prior or (member.leads and blind_pairs(member).isdisjoint(pairs))


def find_candidates(
    member: Membership, pool: QuerySet[Candidate], *, search: str, state: str
) -> QuerySet[Candidate]:
    """Return the candidates of one pool whose document has this id or these words in its title.

    A document is found by what this member may see of it, never by an id that is hidden from them.
    `state`: only those; what others answered is told as `statements_of` tells it to this member.
    """
    if search:
        matching = pool.filter(
            Q(document__doc_id__contains=search) | Q(document__title__icontains=search)
        ).select_related("document")
        names = names_for(member, matching)
        pool = pool.filter(pk__in=[pk for pk, name in names.items() if name.has(search)])
    relevant = Q(prior_relevance__gte=member.project.relevant_from)
    if state == State.RELEVANT:
        return pool.filter(relevant)
    if state == State.NOT_RELEVANT:
        return pool.filter(~relevant | Q(prior_relevance__isnull=True))
    if state == State.WITHOUT_TEXT:
        return pool.filter(document__length__isnull=True)
    if state:
        statements = statements_of(member, list(pool.select_related("document")))
        return pool.filter(pk__in=_in_state(statements, State(state)))
    return pool


def _in_state(statements: Sequence[Statements], state: State) -> Collection[int]:
    """Return the keys of the candidates about which people say this under any narrative."""
    judged = {row.candidate.pk for row in statements if _any_of_people(row.judgments)}
    if state is State.UNJUDGED:
        return {row.candidate.pk for row in statements} - judged
    if state is State.JUDGED:
        return judged
    if state is State.FLAGGED:
        return {row.candidate.pk for row in statements if _any_of_people(row.flags)}
    return {row.candidate.pk for row in statements if row.outcome == "disputed"}


def _any_of_people(answers: Iterable[Judgment | Flag]) -> bool:
    return any(not answer.annotator.is_machine for answer in answers)


def keys_in_order(member: Membership, pool: QuerySet[Candidate], sort: str) -> list[int]:
    """Return the keys of candidates: by the ids of their documents, or the highest grade first.

    Documents whose ids are hidden from this member come last, by their neutral names.
    """
    if sort == Sort.PRIOR:
        highest_first = F("prior_relevance").desc(nulls_last=True)
        return list(pool.order_by(highest_first, "pk").values_list("pk", flat=True))
    names = names_for(member, pool.select_related("document").order_by("pk"))
    return [
        pk
        for pk, _name in sorted(
            names.items(),
            key=lambda row: (row[1].doc_id is None, natural(row[1].doc_id or row[1].label)),
        )
    ]
