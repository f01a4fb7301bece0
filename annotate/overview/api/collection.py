"""What there is to judge: queries with their pools, pairs with their narratives, documents."""

from __future__ import annotations

from typing import Any

from django.db.models import Q
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.collection import access as collection_access
from annotate.collection.document_text import show
from annotate.collection.models import Candidate, Document, Query
from annotate.judgments.assignments import count_free_assignments
from annotate.judgments.blindness import blind_pairs, may_see
from annotate.judgments.document_names import names_to
from annotate.judgments.models import Flag
from annotate.judgments.repeats import unmasked
from annotate.overview.progress import Statements, pair_assignments, query_progress, statements_of
from annotate.pairs import access as pairs_access
from annotate.pairs.models import Assignment, InstructionPair, Narrative
from annotate.projects import access
from annotate.projects.models import Membership
from annotate.rewriting.api.narratives import FullNarrativeSerializer, full_narrative
from annotate.rewriting.outcome import outcome
from base.api.resource import Asked, KeyField, Resource, reads


class CameToSerializer(serializers.Serializer[Any]):
    """What people's judgments of a query come to."""

    kept = serializers.IntegerField()
    dropped = serializers.IntegerField()
    disputed = serializers.IntegerField()


# Judgments and final flags alike: apart they would tell which of the two somebody gave.
ANSWERED = (
    "Answers that are there of those wanted: judgments and final flags (“cannot judge”, “problem”) "
    "of people under the narratives in force, whoever brought them."
)


class QuerySerializer(serializers.Serializer[Any]):
    """A query, and how far it is."""

    id = serializers.IntegerField()
    query_id = serializers.CharField(help_text="As the files have it.")
    title = serializers.CharField()
    description = serializers.CharField()
    answered = serializers.IntegerField(help_text=ANSWERED)
    wanted = serializers.IntegerField(help_text="How many there shall be.")
    came_to = CameToSerializer(
        allow_null=True, help_text="For leads, of what they do not judge themselves; else null."
    )


class PairSerializer(serializers.Serializer[Any]):
    """An instruction pair."""

    id = serializers.IntegerField()
    pair_id = serializers.CharField(help_text="As the files have it.")
    query = serializers.IntegerField()
    query_id = serializers.CharField()
    category = serializers.CharField()
    origin = serializers.ChoiceField(choices=InstructionPair.Origin.choices)
    model = serializers.CharField(help_text="As its file said last; each version has its own.")
    original = serializers.IntegerField(
        allow_null=True, help_text="The key of the original narrative."
    )
    altered = serializers.IntegerField(
        allow_null=True, help_text="The key of the altered narrative in force; null: unwritten."
    )
    sent_back = serializers.BooleanField(help_text="Whether the altered one shall be written anew.")
    removed_at = serializers.DateTimeField(allow_null=True)


class AssignmentTakenSerializer(serializers.Serializer[Any]):
    """Who holds an assignment on a pair."""

    task = serializers.ChoiceField(choices=Assignment.Task.choices)
    member = serializers.CharField()
    done = serializers.BooleanField()


class OutcomeSerializer(serializers.Serializer[Any]):
    """What the judgments under a narrative come to."""

    kept = serializers.IntegerField()
    dropped = serializers.IntegerField()
    grew = serializers.IntegerField()
    disputed = serializers.IntegerField()
    unjudged = serializers.IntegerField()
    promise = serializers.CharField(
        help_text="kept, broken, unchanged; so_far or not_yet while something is open."
    )


class FullPairSerializer(PairSerializer):
    """A pair with its narratives in force, and who works on it."""

    narratives = FullNarrativeSerializer(many=True)
    assignments = AssignmentTakenSerializer(many=True)
    free = serializers.DictField(
        child=serializers.IntegerField(), help_text="Assignments that you could take, by task."
    )
    outcome = OutcomeSerializer(
        allow_null=True, help_text="null while there is none, or it is not for you."
    )


class FullQuerySerializer(QuerySerializer):
    """A query with its pairs."""

    pairs = PairSerializer(many=True)
    pool = serializers.IntegerField(help_text="Documents in its pool.")


class OneSaidSerializer(serializers.Serializer[Any]):
    """What one person said of a document."""

    member = serializers.CharField(
        allow_null=True, help_text="null: hidden until the disagreement is settled."
    )
    relevance = serializers.IntegerField(allow_null=True, help_text="null: a flag.")
    flag = serializers.ChoiceField(choices=Flag.Kind.choices, allow_null=True)
    words = serializers.CharField(help_text="The note, or the words of the flag.")
    at = serializers.DateTimeField()


class CandidateUnderSerializer(serializers.Serializer[Any]):
    """A document under one narrative in force."""

    pair = serializers.IntegerField(allow_null=True)
    narrative = serializers.IntegerField(allow_null=True)
    outcome = serializers.CharField(
        allow_null=True, help_text="For leads, once they have judged it themselves; else null."
    )
    said = OneSaidSerializer(many=True, help_text="For annotators: by themselves.")


class CandidateSerializer(serializers.Serializer[Any]):
    """A document in a query's pool."""

    id = serializers.IntegerField()
    name = serializers.CharField(help_text="What pages call it: its title, or a neutral name.")
    doc_id = serializers.CharField(
        allow_null=True, help_text="null while it is hidden from you: until you have answered."
    )
    title = serializers.CharField(
        allow_blank=True, help_text="Empty also where it is made of an id that is hidden."
    )
    markup = serializers.ChoiceField(choices=Document.Markup.choices)
    length = serializers.IntegerField(allow_null=True, help_text="Characters; null: no text.")
    prior_relevance = serializers.IntegerField(
        allow_null=True, help_text="null also where it is hidden from you."
    )
    under = CandidateUnderSerializer(many=True)


class DocumentSerializer(serializers.Serializer[Any]):
    """A document with its text."""

    name = serializers.CharField(help_text="What pages call it: its title, or a neutral name.")
    doc_id = serializers.CharField(
        allow_null=True, help_text="null while it is hidden from you: until you have answered."
    )
    title = serializers.CharField(
        allow_blank=True, help_text="Empty also where it is made of an id that is hidden."
    )
    markup = serializers.ChoiceField(choices=Document.Markup.choices)
    text_version = serializers.IntegerField(
        allow_null=True, help_text="Which of its texts this is, from 1."
    )
    text = serializers.CharField(allow_null=True, help_text="null where only its id is known.")


class AskedQueries(Asked):
    """Which queries."""

    search = serializers.CharField(
        required=False, max_length=200, help_text="Part of the id, or words of the title."
    )


class Queries(Resource):
    """The queries of a project."""

    tag = "Collection"

    @reads(QuerySerializer, asked=AskedQueries, paged=True)
    def get(self, request: Request, slug: str) -> Response:
        """List the queries, with how far each is."""
        member = access.member(self.person, slug)
        found = member.project.queries.all()
        if search := self.asked().get("search"):
            found = found.filter(Q(query_id__contains=search) | Q(title__icontains=search))
        return self.page(found, lambda rows: _queries(member, rows))


class OneQuery(Resource):
    """One query."""

    tag = "Collection"

    @reads(FullQuerySerializer)
    def get(self, request: Request, slug: str, query: int) -> Response:
        """Read a query and its pairs."""
        member = access.member(self.person, slug)
        found = collection_access.query(member, query)
        pairs = found.pairs.with_narratives().select_related("query").order_by("pk")
        return Response(
            {
                **_queries(member, [found])[0],
                "pairs": [_pair(pair) for pair in pairs],
                "pool": found.candidates.count(),
            }
        )


class Candidates(Resource):
    """The pool of a query."""

    tag = "Collection"

    @reads(CandidateSerializer, paged=True)
    def get(self, request: Request, slug: str, query: int) -> Response:
        """List the documents of a pool, with what was said of them as far as you may know."""
        member = access.member(self.person, slug)
        found = collection_access.query(member, query)
        pairs = set(found.pairs.values_list("pk", flat=True))
        # Who still judges here is blind to what was said before, leads too.
        prior = member.project.show_prior or (
            member.leads and blind_pairs(member).isdisjoint(pairs)
        )
        return self.page(
            found.candidates.select_related("document"),
            lambda rows: _candidates(member, rows, prior=prior),
        )


class AskedPairs(Asked):
    """Which pairs."""

    query = KeyField(required=False, help_text="Those of this query.")
    category = serializers.CharField(required=False, max_length=60)
    removed = serializers.BooleanField(
        required=False, default=False, help_text="Also removed ones."
    )


class Pairs(Resource):
    """The instruction pairs of a project."""

    tag = "Collection"

    @reads(PairSerializer, asked=AskedPairs, paged=True)
    def get(self, request: Request, slug: str) -> Response:
        """List the pairs of a project."""
        member = access.member(self.person, slug)
        asked = self.asked()
        pairs = member.project.pairs.all() if asked["removed"] else member.project.pairs.alive()
        if "query" in asked:
            pairs = pairs.filter(query=asked["query"])
        if "category" in asked:
            pairs = pairs.filter(category=asked["category"])
        return self.page(
            pairs.with_narratives().select_related("query"),
            lambda rows: [_pair(pair) for pair in rows],
        )


class OnePair(Resource):
    """One pair."""

    tag = "Collection"

    @reads(FullPairSerializer)
    def get(self, request: Request, pair: int) -> Response:
        """Read a pair with its narratives in force."""
        member, found = pairs_access.pair(self.person, pair)
        known = InstructionPair.objects.with_narratives().select_related("query").get(pk=found.pk)
        versions = [found.current(side) for side in Narrative.Side.values]
        altered = found.current(Narrative.Side.ALTERED)
        came_to = outcome(found, altered, member) if altered and may_see(member, found) else None
        return Response(
            {
                **_pair(known),
                "narratives": [full_narrative(one) for one in versions if one is not None],
                "assignments": [
                    {"task": assignment.task, "member": assignment.member.name, "done": done}
                    for assignment, done in pair_assignments(found)
                ],
                "free": {
                    task: count_free_assignments(found, task, member)
                    for task in Assignment.Task.values
                },
                "outcome": None if came_to is None else OutcomeSerializer(came_to).data,
            }
        )


class OneDocument(Resource):
    """A document of a pair's pool."""

    tag = "Collection"

    @reads(DocumentSerializer)
    def get(self, request: Request, pair: int, candidate: int) -> Response:
        """Read a document, by its candidate's key or the number that `judging_session` gives it."""
        member, found = pairs_access.pair(self.person, pair)
        row = pairs_access.candidate(found, unmasked(candidate, member.pk).candidate)
        name = names_to(member, [row])[row.pk]
        shown = show(row.document)
        return Response(
            {
                "name": name.label,
                "doc_id": name.doc_id,
                "title": name.title,
                "markup": shown.document.markup,
                "text_version": shown.document.text_version,
                "text": shown.text,
            }
        )


def _queries(member: Membership, rows: list[Query]) -> list[dict[str, Any]]:
    blind = blind_pairs(member)
    return [
        {
            "id": row.query.pk,
            "query_id": row.query.query_id,
            "title": row.query.title,
            "description": row.query.description,
            "answered": row.answered,
            "wanted": row.wanted,
            "came_to": {"kept": row.kept, "dropped": row.dropped, "disputed": row.disputed}
            if member.leads and blind.isdisjoint(pair.pk for pair in row.pairs)
            else None,
        }
        for row in query_progress(member, rows)
    ]


def _pair(pair: Any) -> dict[str, Any]:
    """A pair with the columns that `with_narratives` adds, and its query."""
    return {
        "id": pair.pk,
        "pair_id": pair.pair_id,
        "query": pair.query_id,
        "query_id": pair.query.query_id,
        "category": pair.category,
        "origin": pair.origin,
        "model": pair.model,
        "original": pair.original_id,
        "altered": pair.altered_id,
        "sent_back": bool(
            pair.sent_back_at and pair.altered_at and pair.sent_back_at > pair.altered_at
        ),
        "removed_at": pair.removed_at,
    }


def _candidates(member: Membership, rows: list[Candidate], *, prior: bool) -> list[dict[str, Any]]:
    found: dict[int, list[Statements]] = {}
    for said in statements_of(member, rows):
        found.setdefault(said.candidate.pk, []).append(said)
    names = names_to(member, rows)
    return [
        {
            "id": row.pk,
            "name": names[row.pk].label,
            "doc_id": names[row.pk].doc_id,
            "title": names[row.pk].title,
            "markup": row.document.markup,
            "length": row.document.length,
            "prior_relevance": row.prior_relevance if prior else None,
            "under": [_under(said) for said in found.get(row.pk, [])],
        }
        for row in rows
    ]


def _under(said: Statements) -> dict[str, Any]:
    judgments = [
        {
            "member": said.name_of(row.annotator),
            "relevance": row.relevance,
            "flag": None,
            "words": row.note,
            "at": row.at,
        }
        for row in said.judgments
    ]
    flags = [
        {
            "member": said.name_of(row.annotator),
            "relevance": None,
            "flag": row.kind,
            "words": row.words,
            "at": row.at,
        }
        for row in said.flags
    ]
    return {
        "pair": said.narrative.pair_id if said.narrative else None,
        "narrative": said.narrative.pk if said.narrative else None,
        "outcome": said.outcome,
        "said": [*judgments, *flags],
    }
