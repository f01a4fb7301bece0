"""The collection: queries with their pools and people, pairs with their narratives, documents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.core.exceptions import PermissionDenied
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.utils.urls import remove_query_param, replace_query_param

from annotate.collection import access as collection_access
from annotate.collection import core_queries
from annotate.collection.document_rendering import read_pane
from annotate.collection.models import Candidate, Document, Query
from annotate.judgments.api import NamedSerializer
from annotate.judgments.assignments import pair_assignments
from annotate.judgments.blindness import blind_pairs, may_see, must_answer_first
from annotate.judgments.completion import WorkLeft
from annotate.judgments.document_names import names_for, neutral_order
from annotate.judgments.models import Flag
from annotate.judgments.open_pairs import count_free_assignments
from annotate.judgments.repeats import unmask
from annotate.overview import lists
from annotate.overview.lists import SearchForm, SearchResults, search
from annotate.overview.progress import QueryProgress, Statements, query_progress, statements_of
from annotate.pairs import access as pairs_access
from annotate.pairs.models import Assignment, InstructionPair, Narrative
from annotate.pairs.named_people import name_people, named_people, set_urgent
from annotate.projects import access
from annotate.projects.models import Membership
from annotate.rewriting.api import FullNarrativeSerializer
from annotate.rewriting.kept_and_dropped import Outcome, outcome
from base.api.records import serializer_of
from base.api.resource import (
    CURSOR,
    KeyField,
    QueryParameters,
    RequestBody,
    Resource,
    Scope,
    page_response,
    reads,
    requested_part,
    writes,
)

# Judgments and final flags together: two counts would reveal which one somebody gave.
ANSWERED = (
    "How many of the wanted answers are given: people's judgments and final flags (“cannot judge”, "
    "“problem”) under the current narratives, whatever their source."
)


class QuerySerializer(serializers.Serializer[Any]):
    """A query and its progress."""

    id = serializers.IntegerField(source="query.pk")
    query_id = serializers.CharField(source="query.query_id", help_text="As in the files.")
    title = serializers.CharField(source="query.title")
    description = serializers.CharField(source="query.description")
    core = serializers.CharField(
        source="query.core",
        help_text="The key of its core query: queries with the same one differ in the instruction.",
    )
    urgent = serializers.BooleanField(
        source="query.is_urgent", help_text="Whether its tasks are handed out first."
    )
    state = serializers.ChoiceField(
        choices=lists.QueryState.choices,
        help_text="How far it is; removed: taken out, so that nobody works on it.",
    )
    answered = serializers.IntegerField(help_text=ANSWERED)
    wanted = serializers.IntegerField(help_text="How many answers are wanted.")
    came_to = serializer_of(QueryProgress)(
        allow_null=True, help_text="For leads, unless they still judge one of its pairs; else null."
    )


class PairSerializer(serializers.Serializer[Any]):
    """An instruction pair."""

    id = serializers.IntegerField()
    pair_id = serializers.CharField(help_text="As in the files.")
    query = serializers.IntegerField(source="query.pk")
    query_id = serializers.CharField(source="query.query_id")
    category = serializers.CharField()
    restates = serializers.IntegerField(
        source="restates_id",
        allow_null=True,
        help_text="The pair that asks the same as a list; this one asks it in prose.",
    )
    origin = serializers.ChoiceField(choices=InstructionPair.Origin.choices)
    model = serializers.CharField(help_text="From its latest file; each version has its own.")
    original = serializers.IntegerField(
        source="original_id", allow_null=True, help_text="The key of the original narrative."
    )
    altered = serializers.IntegerField(
        source="altered_id",
        allow_null=True,
        help_text="The key of the current altered narrative; null: unwritten.",
    )
    sent_back = serializers.SerializerMethodField(
        help_text="Whether the altered one must be rewritten."
    )
    removed_at = serializers.DateTimeField(allow_null=True)

    def get_sent_back(self, pair: Any) -> bool:
        """Return whether the current altered narrative was sent back."""
        return pair.sent_back_at is not None


class AssignmentTakenSerializer(serializers.Serializer[Any]):
    """Who holds an assignment on a pair."""

    task = serializers.ChoiceField(choices=Assignment.Task.choices, source="assignment.task")
    member = serializers.CharField(source="assignment.member.name")
    done = serializers.SerializerMethodField()

    def get_done(self, work: WorkLeft) -> bool:
        """Return whether no work is left."""
        return not work.is_open


class FullPairSerializer(PairSerializer):
    """A pair with its current narratives, and who works on it."""

    narratives = FullNarrativeSerializer(many=True)
    assignments = AssignmentTakenSerializer(many=True)
    free = serializers.DictField(
        child=serializers.IntegerField(), help_text="Assignments that you could take, by task."
    )
    outcome = serializer_of(Outcome)(
        allow_null=True, help_text="null while there is none, or if you may not see it."
    )


class SiblingSerializer(serializers.ModelSerializer[Query]):
    """Another query of the same core query."""

    class Meta:
        model = Query
        fields = ("id", "query_id")


class FullQuerySerializer(QuerySerializer):
    """A query with its pairs."""

    pairs = PairSerializer(many=True, help_text="The first 20: `pairs/?query=` lists all.")
    instructions = serializers.IntegerField(help_text="Its pairs, those taken out too.")
    siblings = SiblingSerializer(
        many=True, help_text="The other queries of its core query, if not taken out."
    )
    pool = serializers.IntegerField(help_text="Documents in its pool.")


class OneAnswerSerializer(serializers.Serializer[Any]):
    """One person's answer to a document."""

    member = serializers.CharField(
        allow_null=True, help_text="null: hidden until the disagreement is settled."
    )
    relevance = serializers.IntegerField(allow_null=True, help_text="null: a flag.")
    flag = serializers.ChoiceField(choices=Flag.Kind.choices, allow_null=True)
    words = serializers.CharField(help_text="The note, or the words of the flag.")
    at = serializers.DateTimeField()


class CandidateUnderSerializer(serializers.Serializer[Any]):
    """A document under one current narrative."""

    pair = serializers.IntegerField(allow_null=True)
    narrative = serializers.IntegerField(allow_null=True)
    outcome = serializers.CharField(
        allow_null=True, help_text="For leads; if they judge the pair, once they have judged it."
    )
    answers = OneAnswerSerializer(many=True, help_text="For annotators: only their own.")


class NamedDocumentSerializer(NamedSerializer):
    """A document by the name that its reader may see."""

    markup = serializers.ChoiceField(choices=Document.Markup.choices, source="document.markup")


class CandidateSerializer(NamedDocumentSerializer):
    """A document in a query's pool."""

    id = serializers.IntegerField()
    length = serializers.IntegerField(
        source="document.length", allow_null=True, help_text="Characters; null: no text."
    )
    prior_relevance = serializers.IntegerField(
        allow_null=True, help_text="null also if it is hidden from you."
    )
    made_for = serializers.IntegerField(
        allow_null=True,
        help_text="The only pair whose pool has it, because it was written for that pair. null "
        "also for annotators, and for leads who judge.",
    )
    under = CandidateUnderSerializer(many=True)


class DocumentSerializer(NamedDocumentSerializer):
    """A document with its text."""

    text_version = serializers.IntegerField(
        source="document.text_version",
        allow_null=True,
        help_text="Which of its texts this is, from 1.",
    )
    text = serializers.CharField(allow_null=True, help_text="null if only its id is known.")


class AskedPairs(QueryParameters):
    """Filter of the pairs."""

    query = KeyField(required=False, help_text="Only pairs of this query.")
    category = serializers.CharField(required=False, max_length=60)
    removed = serializers.BooleanField(
        required=False, default=False, help_text="Also removed ones."
    )


class SentUrgent(RequestBody):
    """Whether the tasks of a query are handed out first."""

    urgent = serializers.BooleanField()


class Queries(Resource, tag="Collection"):
    """The queries of a project."""

    @reads(QuerySerializer, parameters=lists.QueryFilterForm, paged=True)
    def get(self, request: Request, slug: str) -> Response:
        """List the queries with the progress of each; without `?state=`, those not taken out."""
        member = access.member(self.person, slug)
        asked = self.parameters()
        queries = lists.find_queries(member.project, **asked)
        if state := asked["state"]:
            keys = lists.queries_in_order(member.project, queries, state=state, sort="")
            queries = queries.filter(pk__in=keys)
        return self.page(queries, prepare=lambda rows: _queries(member, rows))


class OneQuery(Resource, tag="Collection"):
    """One query."""

    @reads(FullQuerySerializer)
    def get(self, request: Request, slug: str, query: int) -> dict[str, Any]:
        """Read a query and its pairs."""
        member = access.member(self.person, slug)
        return self._read(member, collection_access.query(member, query))

    @writes(FullQuerySerializer, body=SentUrgent, scope=Scope.LEAD)
    def patch(self, request: Request, slug: str, query: int) -> dict[str, Any]:
        """Hand the tasks of a query out first, or no longer: for leads."""
        by = access.lead(self.person, slug)
        changed = collection_access.query(by, query)
        set_urgent(query=changed, urgent=self.body().get("urgent", changed.is_urgent), by=by)
        return self._read(by, changed)

    def _read(self, member: Membership, shown: Query) -> dict[str, Any]:
        pairs = shown.pairs.with_narratives().select_related("query").order_by("pk")
        return {
            **_queries(member, [shown])[0],
            "pairs": pairs[: lists.INSTRUCTIONS_ON_A_PAGE],
            "instructions": shown.pairs.count(),
            "siblings": core_queries.listed_siblings(shown),
            "pool": shown.candidates.count(),
        }


class Candidates(Resource, tag="Collection"):
    """The pool of a query."""

    @reads(CandidateSerializer, parameters=lists.PoolPartForm, paged=True)
    def get(self, request: Request, slug: str, query: int) -> Response:
        """List the documents of a pool, with the answers that you may see.

        They are in the order of the page: for leads as loaded, for others by neutral numbers,
        because the order of a file may reveal what is relevant. Only leads can search, or ask for
        a state: 403. `under` has 20 instructions at most. After the last document, `next` begins
        again with the first, and the next 20 instructions.
        """
        member = access.member(self.person, slug)
        shown = collection_access.query(member, query)
        prior = lists.knows_prior(member, shown.pairs.values_list("pk", flat=True))
        asked = self.parameters()
        after = asked.pop("instructions_after") or 0
        if any(asked.values()) and not (
            member.leads and (prior or asked["state"] not in lists.PRIOR_STATES)
        ):
            raise PermissionDenied("Which documents these are would tell you an earlier answer.")
        size = lists.INSTRUCTIONS_ON_A_PAGE
        pairs = list(shown.pairs.filter(pk__gt=after).order_by("pk")[: size + 1])
        under = None if after == 0 and len(pairs) <= size else pairs[:size]
        pool = shown.candidates.select_related("document")
        if member.leads:
            pool = lists.find_candidates(member, pool, **asked)
            response = self.page(
                pool, prepare=lambda rows: _candidates(member, rows, under, prior=prior)
            )
        else:
            keys = neutral_order(shown, member.project)
            part, following = requested_part(request, [str(key) for key in keys])
            by_key = pool.in_bulk(keys[part])
            # A candidate may be taken out while it is listed.
            rows = [by_key[key] for key in keys[part] if key in by_key]
            listed = self.shape(_candidates(member, rows, under, prior=prior))
            response = page_response(request, listed, following)
        if response.data["next"] is None and len(pairs) > size:
            again = remove_query_param(request.build_absolute_uri(), CURSOR)
            last = pairs[size - 1].pk
            response.data["next"] = replace_query_param(again, "instructions_after", last)
        return response


class Pairs(Resource, tag="Collection"):
    """The instruction pairs of a project."""

    @reads(PairSerializer, parameters=AskedPairs, paged=True)
    def get(self, request: Request, slug: str) -> Response:
        """List the pairs of a project."""
        member = access.member(self.person, slug)
        asked = self.parameters()
        pairs = member.project.pairs.all() if asked["removed"] else member.project.pairs.alive()
        if "query" in asked:
            pairs = pairs.filter(query=asked["query"])
        if "category" in asked:
            pairs = pairs.filter(category=asked["category"])
        return self.page(pairs.with_narratives().select_related("query"))


class OnePair(Resource, tag="Collection"):
    """One pair."""

    @reads(FullPairSerializer)
    def get(self, request: Request, pair: int) -> Response:
        """Read a pair with its current narratives."""
        member, instruction_pair = pairs_access.pair(self.person, pair)
        with_narratives = (
            InstructionPair.objects.with_narratives()
            .select_related("query")
            .get(pk=instruction_pair.pk)
        )
        instruction_pair.read_current()
        versions = [instruction_pair.current(side) for side in Narrative.Side.values]
        altered = instruction_pair.current(Narrative.Side.ALTERED)
        came_to = (
            outcome(instruction_pair, altered, member)
            if altered and may_see(member, instruction_pair)
            else None
        )
        narratives = [version for version in versions if version is not None]
        return Response(
            {
                **PairSerializer(with_narratives).data,
                "narratives": FullNarrativeSerializer(narratives, many=True).data,
                "assignments": AssignmentTakenSerializer(
                    pair_assignments(instruction_pair), many=True
                ).data,
                "free": {
                    task: count_free_assignments(instruction_pair, task, member)
                    for task in Assignment.Task.values
                },
                "outcome": None if came_to is None else serializer_of(Outcome)(came_to).data,
            }
        )


class OneDocument(Resource, tag="Collection"):
    """A document of a pair's pool."""

    @reads(DocumentSerializer)
    def get(self, request: Request, pair: int, candidate: int) -> dict[str, Any]:
        """Read a document, by its candidate's key or the number that `judging_session` gives it."""
        member, instruction_pair = pairs_access.pair(self.person, pair)
        row = pairs_access.candidate(instruction_pair, unmask(candidate, member.pk).candidate)
        shown = read_pane(row.document)
        return {
            "name": names_for(member, [row])[row.pk],
            "document": shown.document,
            "text": shown.text,
        }


def _queries(member: Membership, rows: list[Query]) -> list[dict[str, Any]]:
    blind = blind_pairs(member)
    return [
        {
            **vars(row),
            "state": lists.QueryState.REMOVED
            if row.query.removed_at
            else lists.state_of_query(row.wanted, row.answered),
            "came_to": row if member.leads and blind.isdisjoint(row.pairs) else None,
        }
        for row in query_progress(member, rows)
    ]


def _candidates(
    member: Membership,
    rows: list[Candidate],
    pairs: Sequence[InstructionPair] | None,
    *,
    prior: bool,
) -> list[dict[str, Any]]:
    by_candidate: dict[int, list[Statements]] = {}
    for statements in statements_of(member, rows, pairs):
        by_candidate.setdefault(statements.candidate.pk, []).append(statements)
    names = names_for(member, rows)
    shows_made_for = member.leads and not must_answer_first(member)
    return [
        {
            "id": row.pk,
            "name": names[row.pk],
            "document": row.document,
            "prior_relevance": row.prior_relevance if prior else None,
            "made_for": row.made_for_id if shows_made_for else None,
            "under": [_under(statements) for statements in by_candidate.get(row.pk, [])],
        }
        for row in rows
    ]


def _under(statements: Statements) -> dict[str, Any]:
    answers = [
        {
            "member": statements.name_of(row.annotator),
            "relevance": row.relevance,
            "flag": row.flag or None,
            "words": row.note,
            "at": row.at,
        }
        for row in (*statements.judgments, *statements.flags)
    ]
    return {
        "pair": statements.narrative.pair_id if statements.narrative else None,
        "narrative": statements.narrative.pk if statements.narrative else None,
        "outcome": statements.outcome,
        "answers": answers,
    }


MOST = 1_000


def _keys() -> serializers.ListField:
    return serializers.ListField(
        child=KeyField(),
        max_length=MOST,
        default=list,
        help_text="Keys of members; empty: everybody.",
    )


class SentPeople(RequestBody):
    """Who takes each task of a query."""

    rewrite = _keys()
    judge = _keys()
    review = _keys()


class PeopleSerializer(serializers.Serializer[Any]):
    """Who takes each task of a query, by the keys of members; empty: everybody."""

    rewrite = serializers.ListField(child=serializers.IntegerField())
    judge = serializers.ListField(child=serializers.IntegerField())
    review = serializers.ListField(child=serializers.IntegerField())


class QueryPeople(Resource, tag="Assignments"):
    """Who takes the tasks of a query: for leads."""

    @reads(PeopleSerializer)
    def get(self, request: Request, slug: str, query: int) -> dict[str, list[int]]:
        """Read who takes each task of a query."""
        by = access.lead(self.person, slug)
        return _people(collection_access.query(by, query))

    @writes(PeopleSerializer, body=SentPeople, scope=Scope.LEAD)
    def put(self, request: Request, slug: str, query: int) -> dict[str, list[int]]:
        """Set who takes each task of a query. People keep the tasks that they already hold."""
        by = access.lead(self.person, slug)
        named_query = collection_access.query(by, query)
        name_people(query=named_query, people=self.body(), by=by)
        return _people(named_query)


def _people(query: Query) -> dict[str, list[int]]:
    return {task: sorted(keys) for task, keys in named_people(query).items()}


class Search(Resource, tag="Collection"):
    """The search of a project."""

    @reads(SearchResults, parameters=SearchForm)
    def get(self, request: Request, slug: str) -> SearchResults:
        """Find queries, documents and people (leads only) by their ids, titles and names."""
        return search(access.member(self.person, slug), self.parameters()["q"])
