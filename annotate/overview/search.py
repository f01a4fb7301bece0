"""The search of a project: queries, documents and people by their ids, titles and names."""

from __future__ import annotations

from typing import Annotated, NamedTuple
from urllib.parse import urlencode

from django import forms
from django.db.models import Q, TextChoices
from django.urls import reverse

from annotate.collection.models import Candidate
from annotate.judgments.document_names import names_for
from annotate.projects.models import Membership

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
    for of_kind in (_queries(member, words), _documents(member, words), _people(member, words)):
        # Whose id or name is exactly this comes first.
        of_kind.sort(key=lambda hit: hit.name != words)
        hits += of_kind[:MOST]
        more |= len(of_kind) > MOST
    return SearchResults(hits, more)


def _queries(member: Membership, words: str) -> list[Hit]:
    """Return the queries with this id or title, and those of an instruction with this id."""
    queries = member.project.queries.filter(
        Q(query_id__contains=words) | Q(title__icontains=words) | Q(pairs__pair_id=words)
    )
    if not member.leads:
        queries = queries.filter(removed_at__isnull=True)
    rows = queries.distinct().order_by("pk").values_list("pk", "query_id", "title")
    return [
        Hit(Kind.QUERY, pk, query_id, title, _query_url(member, pk))
        for pk, query_id, title in rows[:MOST_LOOKED_AT]
    ]


def _documents(member: Membership, words: str) -> list[Hit]:
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


def _people(member: Membership, words: str) -> list[Hit]:
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
