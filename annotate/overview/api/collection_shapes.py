"""Queries, pairs, candidates and documents as the API shows them."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from annotate.collection.models import Document
from annotate.judgments.models import Flag
from annotate.overview import pool_lists
from annotate.overview.progress import QueryProgress
from annotate.overview.query_lists import State
from annotate.pairs.models import Assignment, InstructionPair
from annotate.rewriting.api.narratives import FullNarrativeSerializer
from annotate.rewriting.kept_and_dropped import Outcome
from base.api.records import RecordSerializer
from base.api.resource import KeyField, QueryParameters


class CameToSerializer(RecordSerializer):
    """Outcomes of people's judgments of a query."""

    class Meta:
        record = QueryProgress
        fields = ("kept", "dropped", "others", "disputed")


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
    state = serializers.ChoiceField(
        choices=State.choices,
        help_text="How far it is; removed: taken out, so that nobody works on it.",
    )
    answered = serializers.IntegerField(help_text=ANSWERED)
    wanted = serializers.IntegerField(help_text="How many answers are wanted.")
    came_to = CameToSerializer(
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
        """Return whether it was sent back after the altered narrative was written."""
        return bool(pair.is_sent_back(pair.altered_at))


class AssignmentTakenSerializer(serializers.Serializer[Any]):
    """Who holds an assignment on a pair."""

    task = serializers.ChoiceField(choices=Assignment.Task.choices)
    member = serializers.CharField()
    done = serializers.BooleanField()


class OutcomeSerializer(RecordSerializer):
    """Outcomes of the judgments under a narrative."""

    class Meta:
        record = Outcome
        fields = ("kept", "dropped", "grew", "disputed", "unjudged", "promise")


class FullPairSerializer(PairSerializer):
    """A pair with its current narratives, and who works on it."""

    narratives = FullNarrativeSerializer(many=True)
    assignments = AssignmentTakenSerializer(many=True)
    free = serializers.DictField(
        child=serializers.IntegerField(), help_text="Assignments that you could take, by task."
    )
    outcome = OutcomeSerializer(
        allow_null=True, help_text="null while there is none, or if you may not see it."
    )


class SiblingSerializer(serializers.Serializer[Any]):
    """Another query of the same core query."""

    id = serializers.IntegerField()
    query_id = serializers.CharField()


class FullQuerySerializer(QuerySerializer):
    """A query with its pairs."""

    pairs = PairSerializer(many=True)
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


class NamedDocumentSerializer(serializers.Serializer[Any]):
    """A document by the name that its reader may see."""

    name = serializers.CharField(
        source="name.label", help_text="What pages call it: its title, or a neutral name."
    )
    doc_id = serializers.CharField(
        source="name.doc_id",
        allow_null=True,
        help_text="null while it is hidden from you: until you have answered.",
    )
    title = serializers.CharField(
        source="name.title", allow_blank=True, help_text="Empty also if it is made of a hidden id."
    )
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


class AskedQueries(QueryParameters):
    """Filter of the queries."""

    search = serializers.CharField(
        required=False, max_length=200, help_text="Part of the id, or words of the title."
    )
    core = serializers.CharField(
        required=False, max_length=255, help_text="Only queries of this core query, by its key."
    )
    state = serializers.ChoiceField(
        choices=State.choices,
        required=False,
        help_text="Only queries in this state; without it, all but those that are taken out.",
    )


class AskedCandidates(QueryParameters):
    """Filter of a pool, as on the page of a query."""

    search = serializers.CharField(
        required=False, max_length=200, help_text="An id, or words of the title."
    )
    state = serializers.ChoiceField(required=False, choices=pool_lists.State.choices)


class AskedPairs(QueryParameters):
    """Filter of the pairs."""

    query = KeyField(required=False, help_text="Only pairs of this query.")
    category = serializers.CharField(required=False, max_length=60)
    removed = serializers.BooleanField(
        required=False, default=False, help_text="Also removed ones."
    )
