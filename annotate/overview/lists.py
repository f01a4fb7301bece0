"""The queries of a project, the documents of a query, and what a search of the project finds."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from typing import Annotated, Any, NamedTuple
from urllib.parse import urlencode

from django import forms
from django.db.models import (
    Count,
    Exists,
    F,
    IntegerField,
    Min,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    TextChoices,
)
from django.db.models.functions import Coalesce
from django.http import QueryDict
from django.urls import reverse

from annotate.collection.models import Candidate, Query
from annotate.judgments import cached_counts, completion
from annotate.judgments.answer_counts import counts_of
from annotate.judgments.blindness import blind_pairs, exclude_unjudged
from annotate.judgments.consensus import State
from annotate.judgments.document_names import names_for
from annotate.judgments.models import Flag, Judgment
from annotate.overview.progress import statements_of
from annotate.pairs.models import InstructionPair
from annotate.pairs.pool import judged_narratives
from annotate.projects.models import Membership, Project
from base.requests import LARGEST_KEY
from base.texts import natural


class QueryState(TextChoices):
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


_QUERY_SORTS: dict[str, str] = {
    "id": "Query",
    "title": "Title",
    "core": "Core query",
    "pool": "Largest pool",
    "relevant": "Most relevant before",
    "left": "Most answers left",
}
_QUERY_COLUMNS = {"title": "title", "core": "core"}
# Only leads may know what was relevant before.
_OF_LEADS = {"relevant"}


class QueryFilterForm(forms.Form):
    """The filter of a project's queries; every field is optional."""

    search = forms.CharField(label="Id or words of the title", max_length=200, required=False)
    state = forms.ChoiceField(
        label="State", choices=[("", "Not taken out"), *QueryState.choices], required=False
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
            *(item for item in _QUERY_SORTS.items() if member.leads or item[0] not in _OF_LEADS),
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
    alone, for the state `REMOVED`; `queries_in_order` selects the other states.
    """
    queries = project.queries.filter(removed_at__isnull=state != QueryState.REMOVED)
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


def queries_in_order(
    project: Project, queries: QuerySet[Query], *, state: str, sort: str
) -> list[int]:
    """Return the keys of those of the queries found that are in this state, in this order."""
    if sort in _QUERY_COLUMNS:
        queries = queries.order_by(_QUERY_COLUMNS[sort], "pk")
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
    if state in {"", QueryState.REMOVED} and sort != "left":
        return keys
    wanted: dict[int, int] = defaultdict(int)
    answered: dict[int, int] = defaultdict(int)
    for pair in completion.judging_by_pair(project).values():
        wanted[pair.query] += pair.wanted
        answered[pair.query] += pair.answered
    if state and state != QueryState.REMOVED:
        keys = [key for key in keys if state_of_query(wanted[key], answered[key]) == state]
    if sort == "left":
        keys.sort(key=lambda key: answered[key] - wanted[key])
    return keys


def state_of_query(wanted: int, answered: int) -> QueryState:
    """Return the state of a query that is not taken out."""
    if not wanted:
        return QueryState.WAITING
    if not answered:
        return QueryState.OPEN
    return QueryState.DONE if answered >= wanted else QueryState.BEGUN


class DocumentState(TextChoices):
    """What is said about a document."""

    JUDGED = "judged", "Judged"
    UNJUDGED = "unjudged", "Not judged"
    DISPUTED = "disputed", "Disputed"
    FLAGGED = "flagged", "Flagged"
    RELEVANT = "relevant", "Relevant before"
    NOT_RELEVANT = "not_relevant", "Not relevant before"
    WITHOUT_TEXT = "without_text", "Without text"


class DocumentSort(TextChoices):
    """An order of documents."""

    DOC_ID = "id", "Document"
    PRIOR = "prior", "Earlier grade"


# How many instructions of a query a page shows, and a list of its documents: most have fewer.
INSTRUCTIONS_ON_A_PAGE = 20

# What tells earlier grades: only for readers who may know them.
PRIOR_STATES = {DocumentState.RELEVANT, DocumentState.NOT_RELEVANT}


class PoolFilterForm(forms.Form):
    """The filter of a query's documents; every field is optional."""

    search = forms.CharField(label="Id or words of the title", max_length=200, required=False)
    state = forms.ChoiceField(
        label="Show", choices=[("", "All"), *DocumentState.choices], required=False
    )


class PoolPartForm(PoolFilterForm):
    """The filter of a query's documents, and which of its instructions their answers are under."""

    instructions_after = forms.IntegerField(
        label="Answers under the instructions after this one, by its key",
        min_value=1,
        max_value=LARGEST_KEY,
        required=False,
    )


class PoolForm(PoolFilterForm):
    """The filter and the order of a query's documents, as far as a reader may ask for them."""

    sort = forms.ChoiceField(label="Sort by", required=False)

    def __init__(self, *args: object, knows_prior: bool, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]
        state, sort = self.fields["state"], self.fields["sort"]
        assert isinstance(state, forms.ChoiceField)
        assert isinstance(sort, forms.ChoiceField)
        if not knows_prior:
            allowed = [each for each in DocumentState if each not in PRIOR_STATES]
            state.choices = [("", "All"), *((each.value, each.label) for each in allowed)]
        sort.choices = [
            ("", "As loaded"),
            *(
                (each.value, each.label)
                for each in DocumentSort
                if knows_prior or each is not DocumentSort.PRIOR
            ),
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
    if state == DocumentState.RELEVANT:
        return pool.filter(relevant)
    if state == DocumentState.NOT_RELEVANT:
        return pool.filter(~relevant | Q(prior_relevance__isnull=True))
    if state == DocumentState.WITHOUT_TEXT:
        return pool.filter(document__length__isnull=True)
    return _in_state(member, pool, DocumentState(state)) if state else pool


def _in_state(
    member: Membership, pool: QuerySet[Candidate], state: DocumentState
) -> QuerySet[Candidate]:
    """Return the candidates about which people say this under a narrative that is judged now, as
    `statements_of` tells it to a lead.
    """
    blind = blind_pairs(member)
    if state is DocumentState.DISPUTED:
        return pool.filter(pk__in=_disputed(member, pool, blind))
    kind = Flag if state is DocumentState.FLAGGED else Judgment
    said: Any = kind.objects.current().filter(
        narrative__in=judged_narratives(member.project), candidate=OuterRef("pk")
    )
    own_judgment = Judgment.objects.current().filter(
        annotator=member, narrative=OuterRef("narrative"), candidate=OuterRef("candidate")
    )
    visible = exclude_unjudged(said, list(blind), "narrative__pair", own_judgment)
    of_people = (visible | said.filter(annotator=member)).of_people()
    return pool.filter(~Exists(of_people) if state is DocumentState.UNJUDGED else Exists(of_people))


def _disputed(member: Membership, pool: QuerySet[Candidate], blind: Collection[int]) -> set[int]:
    """Return the candidates (keys) of a pool on which people differ under any narrative."""
    project = member.project
    queries = set(pool.values_list("query_id", flat=True))
    states = [state for state in cached_counts.states_in_force([project]) if state.query in queries]
    counts = counts_of(state for state in states if state.pair not in blind)
    disputed = {
        candidate
        for counted in counts.values()
        for pattern in counted.patterns
        if pattern.documents.is_shown(project)
        and pattern.outcome(project.consensus).state is State.DISPUTED
        for candidate in pattern.candidates
    }
    if still_judged := [state.pair for state in states if state.pair in blind]:
        pairs = list(InstructionPair.objects.filter(pk__in=still_judged))
        statements = statements_of(member, list(pool.select_related("document")), pairs)
        disputed |= {row.candidate.pk for row in statements if row.outcome == "disputed"}
    return disputed


def candidates_in_order(member: Membership, pool: QuerySet[Candidate], sort: str) -> list[int]:
    """Return the keys of candidates: by the ids of their documents, or the highest grade first.

    Documents whose ids are hidden from this member come last, by their neutral names.
    """
    if sort == DocumentSort.PRIOR:
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


# How many of each kind are shown, and how many documents are looked at.
MOST = 20
MOST_LOOKED_AT = 1_000
MAX_WORDS = 200


class SearchForm(forms.Form):
    """What to search for."""

    q = forms.CharField(
        label="Id, title or name",
        max_length=MAX_WORDS,
        widget=forms.TextInput(attrs={"type": "search"}),
        error_messages={"required": "Write an id, words of a title, or a name."},
    )


class Kind(TextChoices):
    """What a search finds."""

    QUERY = "query", "Queries"
    DOCUMENT = "document", "Documents"
    PERSON = "person", "People"


class Hit(NamedTuple):
    """Something that a search found, as the reader may see it."""

    kind: Kind
    key: Annotated[int, "Of a query, of the candidate of a document, or of a member."]
    name: Annotated[str, "Its id or name; a neutral name while an id is hidden."]
    title: str
    url: Annotated[str, "The page that shows it."]
    query: Annotated[str, "Of a document: the id of its query."] = ""


class SearchResults(NamedTuple):
    """What a search found, the best of each kind first."""

    hits: list[Hit]
    more: Annotated[bool, "Whether more was found than is listed."]


def search(member: Membership, words: str) -> SearchResults:
    """Return what has this id, or these words in its title or name.

    A document is found by what the reader may see of it, never by an id that is hidden from them.
    Only leads find people, and queries that are taken out.
    """
    hits: list[Hit] = []
    more = False
    for of_kind in (
        _find_queries_by(member, words),
        _find_documents_by(member, words),
        _find_people_by(member, words),
    ):
        # Whose id or name is exactly this comes first.
        of_kind.sort(key=lambda hit: hit.name != words)
        hits += of_kind[:MOST]
        more |= len(of_kind) > MOST
    return SearchResults(hits, more)


def _find_queries_by(member: Membership, words: str) -> list[Hit]:
    """Return the queries with this id or title, and those of an instruction with this id."""
    queries = member.project.queries.filter(
        Q(query_id__contains=words) | Q(title__icontains=words) | Q(pairs__pair_id=words)
    )
    if not member.leads:
        queries = queries.filter(removed_at__isnull=True)
    # Many queries have one instruction, with the query's id.
    instruction = Q(pairs__pair_id=words) & ~Q(query_id=words)
    found: Any = queries.annotate(pair=Min("pairs__pk", filter=instruction)).order_by("pk")
    rows = found.values_list("pk", "query_id", "title", "pair")
    return [
        Hit(Kind.QUERY, pk, query_id, title, _query_url(member, pk) + at_instruction(pair))
        for pk, query_id, title, pair in rows[:MOST_LOOKED_AT]
    ]


def at_instruction(pair: int | None) -> str:
    """Return what leads to one instruction (a key) on the page of its query; "" for None."""
    return "" if pair is None else f"?pair={pair}#pair-{pair}"


def _find_documents_by(member: Membership, words: str) -> list[Hit]:
    candidates = (
        Candidate.objects.filter(query__project=member.project_id, query__removed_at__isnull=True)
        .filter(Q(document__doc_id__contains=words) | Q(document__title__icontains=words))
        .select_related("document", "query")
        .defer("query__description")
        .order_by("pk")[:MOST_LOOKED_AT]
    )
    names = names_for(member, candidates)
    hits = []
    for candidate in candidates:
        name = names[candidate.pk]
        if name.has(words):
            shown = name.doc_id or name.label
            url = _query_url(member, candidate.query_id, shown if member.leads else "")
            hits.append(
                Hit(Kind.DOCUMENT, candidate.pk, shown, name.title, url, candidate.query.query_id)
            )
    return hits


def _find_people_by(member: Membership, words: str) -> list[Hit]:
    """Return the people of a lead's project by their names."""
    if not member.leads:
        return []
    people = Membership.objects.people().filter(project=member.project_id, name__icontains=words)
    return [
        Hit(
            Kind.PERSON,
            person.pk,
            person.name,
            person.get_role_display(),
            reverse("annotate:person", args=[member.project.slug, person.pk]),
        )
        for person in people.order_by("name", "pk")[:MOST_LOOKED_AT]
    ]


def _query_url(member: Membership, query: int, document: str = "") -> str:
    """Return the address of a query's page, at one document of its pool if that is given."""
    url = reverse("annotate:query", args=[member.project.slug, query])
    return f"{url}?{urlencode({'search': document})}#pool-title" if document else url
