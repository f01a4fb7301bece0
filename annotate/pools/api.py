"""Pools in the API: count and make one, missing texts, documents taken out, replacements."""

from __future__ import annotations

from typing import Any

from django.http import StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.collection.api import SentReason
from annotate.collection.models import Candidate
from annotate.collection.removal import MAX_REASON, MOST, ChangeCounts
from annotate.pairs.pool import documents_without_text
from annotate.pools import access, actions, choosing, provenance, replacing
from annotate.pools.actions import Systems, choose_hard_negatives, hard_negative_systems
from annotate.pools.labelled import CUTOFFS, Labelled, labelled_at
from annotate.pools.models import Pool, Replacement
from annotate.pools.removal import DOCUMENTS
from annotate.projects import access as project_access
from annotate.projects.api import JobSerializer
from annotate.projects.models import Membership
from base.api.records import serializer_of
from base.api.resource import QueryParameters, RequestBody, Resource, Scope, reads, writes
from base.csv_output import csv_response


class SentRule(RequestBody):
    """The rule by which a pool chooses documents, and the runs it chooses from."""

    method = serializers.ChoiceField(choices=Pool.Method.choices)
    runs = serializers.ListField(
        child=serializers.CharField(max_length=255),
        max_length=actions.MOST_RUNS,
        help_text="Names of runs. May be empty for the method judged.",
    )
    depth = serializers.IntegerField(
        required=False, min_value=1, max_value=actions.MAX_DEPTH, help_text="For union and fusion."
    )
    strata = serializers.CharField(
        required=False,
        max_length=200,
        help_text="For a sample, as in 10:100 50:20: all of ranks 1-10, 20% of ranks 11-50.",
    )
    seed = serializers.IntegerField(default=1, min_value=0, max_value=actions.MAX_SEED)


class SentPool(SentRule):
    """A pool to make."""

    name = serializers.CharField(max_length=actions.MAX_NAME)
    counted = serializers.CharField(
        required=False,
        max_length=64,
        help_text="The sha256 of its count: then exactly that pool is made, or none.",
    )


class PoolRunSerializer(serializers.Serializer[Any]):
    """A run that a pool is drawn from."""

    name = serializers.CharField(source="run.name")
    system = serializers.CharField()
    sha256 = serializers.CharField()


class PoolSerializer(JobSerializer):
    """A pool, made by a background job."""

    name = serializers.CharField()
    method = serializers.ChoiceField(choices=Pool.Method.choices)
    depth = serializers.IntegerField(allow_null=True)
    strata = serializers.CharField(source="strata_words", allow_blank=True)
    seed = serializers.IntegerField()
    by = serializers.CharField(source="by.name", allow_null=True)
    runs = PoolRunSerializer(many=True, source="pool_runs")
    counts = serializer_of(choosing.PoolCount)(allow_null=True, help_text="null until it is made.")


class Pools(Resource, tag="Pools"):
    """The pools of a project."""

    @reads(PoolSerializer, paged=True)
    def get(self, request: Request, slug: str) -> Response:
        """List the pools, the newest first. 403 for a lead who still judges."""
        member = access.lead(self.person, slug)
        pools = Pool.objects.filter(project=member.project_id).select_related("by")
        return self.page(pools, prepare=provenance.with_runs, newest_first=True)

    @writes(PoolSerializer, body=SentPool, scope=Scope.LEAD, status=201)
    def post(self, request: Request, slug: str) -> Pool:
        """Make a pool: documents that are not candidates yet become candidates."""
        member = access.lead(self.person, slug)
        body = self.body()
        name, counted = body.pop("name"), body.pop("counted", "")
        recipe = actions.recipe_of(project=member.project, **body)
        made = actions.request_pool(recipe=recipe, name=name, by=member, counted=counted)
        return provenance.with_runs([made])[0]


class PoolCount(Resource, tag="Pools"):
    """The count of a pool that is not made."""

    @writes(choosing.FullPoolCount, body=SentRule, scope=Scope.LEAD)
    def post(self, request: Request, slug: str) -> choosing.FullPoolCount:
        """Count what a pool would contain, without making it."""
        member = access.lead(self.person, slug)
        recipe = actions.recipe_of(project=member.project, **self.body())
        return actions.count_pool(recipe)


class OnePool(Resource, tag="Pools"):
    """One pool."""

    @reads(PoolSerializer)
    def get(self, request: Request, slug: str, pool: int) -> Pool:
        """Read the progress of a pool, and its contents once it is made."""
        _member, candidate_pool = access.pool(self.person, slug, pool)
        return provenance.with_runs([candidate_pool])[0]


class PoolDocuments(Resource, tag="Pools"):
    """The documents of a pool."""

    @reads(OpenApiTypes.STR, media="text/csv")
    def get(self, request: Request, slug: str, pool: int) -> StreamingHttpResponse:
        """Download the documents as a table, with each run that ranks a document and its rank."""
        _member, candidate_pool = access.pool(self.person, slug, pool)
        return csv_response(provenance.table_rows(candidate_pool))


class AskedCutoffs(QueryParameters):
    """Query parameters: the cutoffs."""

    k = serializers.RegexField(
        r"^[0-9]{1,5}(,[0-9]{1,5}){0,9}$",
        required=False,
        help_text="Cutoffs separated by commas, as in 10,20,100.",
    )


class LabelledAt(Resource, tag="Pools"):
    """labelled@k of the runs of a project."""

    @reads(Labelled, parameters=AskedCutoffs, many=True)
    def get(self, request: Request, slug: str) -> list[Labelled]:
        """Read labelled@k of each run."""
        member = access.lead(self.person, slug)
        asked = self.parameters().get("k")
        cutoffs = [int(k) for k in asked.split(",")] if asked else CUTOFFS
        return labelled_at(member.project, cutoffs)


class SystemsSerializer(serializers.Serializer[Any]):
    """The systems whose non-relevant documents a release lists as hard negatives."""

    runs = serializers.ListField(
        child=serializers.CharField(), source="names", help_text="Empty: no file."
    )
    depth = serializers.IntegerField()


class SentSystems(RequestBody):
    """The systems whose non-relevant documents releases are to list."""

    runs = serializers.ListField(
        child=serializers.CharField(max_length=255), max_length=actions.MOST_RUNS
    )
    depth = serializers.IntegerField(min_value=1, max_value=actions.MAX_DEPTH)


class HardNegativeSystems(Resource, tag="Pools"):
    """The systems whose non-relevant documents are hard negatives."""

    @reads(SystemsSerializer)
    def get(self, request: Request, slug: str) -> Systems:
        """Read the systems and the depth."""
        member = access.lead(self.person, slug)
        return hard_negative_systems(member.project)

    @writes(SystemsSerializer, body=SentSystems, scope=Scope.LEAD)
    def put(self, request: Request, slug: str) -> Systems:
        """Choose the systems and the depth; without runs, releases have no such file."""
        member = access.lead(self.person, slug)
        return choose_hard_negatives(project=member.project, **self.body(), by=member)


class DocumentWithoutTextSerializer(serializers.Serializer[Any]):
    """A document without a text."""

    doc_id = serializers.CharField()
    title = serializers.CharField()


class AskedMissingTexts(QueryParameters):
    """Which documents are listed."""

    show = serializers.ChoiceField(
        choices=["judged", "pool"],
        default="judged",
        help_text="Those that judges are shown, or all of the pools, which checks may show.",
    )


class MissingTexts(Resource, tag="Pools"):
    """The documents to judge that have no text."""

    @reads(
        DocumentWithoutTextSerializer,
        parameters=AskedMissingTexts,
        paged=True,
    )
    def get(self, request: Request, slug: str) -> Response:
        """List the documents that judges are shown and that have no text yet."""
        member = project_access.lead(self.person, slug)
        whole_pool = self.parameters()["show"] == "pool"
        return self.page(documents_without_text(member.project, whole_pool=whole_pool))


class CandidateIdSerializer(RequestBody):
    """The ids of a candidate."""

    query_id = serializers.CharField(max_length=255, trim_whitespace=False)
    doc_id = serializers.CharField(max_length=512, trim_whitespace=False)


class SentCandidates(RequestBody):
    """Candidates to change."""

    candidates = serializers.ListField(child=CandidateIdSerializer(), max_length=MOST)


class SentRemoval(SentCandidates, SentReason):
    """Candidates to take out, and the reason."""


class RemovedCandidateSerializer(serializers.Serializer[Any]):
    """A candidate that was taken out of its pool."""

    query_id = serializers.CharField(source="query.query_id")
    doc_id = serializers.CharField(source="document.doc_id")
    removed_at = serializers.DateTimeField()
    removed_by = serializers.CharField(source="removed_by.name", allow_null=True)
    reason = serializers.CharField(source="removed_reason")


class RemovedCandidates(Resource, tag="Pools"):
    """The candidates of a project that were taken out of their pools."""

    @reads(RemovedCandidateSerializer, paged=True)
    def get(self, request: Request, slug: str) -> Response:
        """List removed candidates with their reasons. 403 for a lead who still judges."""
        member = access.lead(self.person, slug)
        rows = DOCUMENTS.removed(member.project)
        return self.page(rows.select_related("query", "document", "removed_by"))

    @writes(ChangeCounts, body=SentRemoval, scope=Scope.LEAD)
    def post(self, request: Request, slug: str) -> ChangeCounts:
        """Take candidates out: nobody judges them any more, and they are in no qrels."""
        member, sent = access.lead(self.person, slug), self.body()
        keys = DOCUMENTS.keys_of(member.project, _ids(sent))
        return DOCUMENTS.remove(project=member.project, keys=keys, reason=sent["reason"], by=member)


class CandidateRestoration(Resource, tag="Pools"):
    """The return of candidates to their pools."""

    @writes(ChangeCounts, body=SentCandidates, scope=Scope.LEAD)
    def post(self, request: Request, slug: str) -> ChangeCounts:
        """Bring candidates back; people's answers about them count again."""
        member = access.lead(self.person, slug)
        keys = DOCUMENTS.keys_of(member.project, _ids(self.body()))
        return DOCUMENTS.restore(project=member.project, keys=keys, by=member)


def _ids(sent: dict[str, Any]) -> list[tuple[str, str]]:
    return [(candidate["query_id"], candidate["doc_id"]) for candidate in sent["candidates"]]


class SentNewDocument(RequestBody):
    """The candidate whose document is replaced, by its ids, and the new document."""

    query_id = serializers.CharField(max_length=255, trim_whitespace=False)
    doc_id = serializers.CharField(max_length=512, trim_whitespace=False)
    new_doc_id = serializers.CharField(max_length=512, trim_whitespace=False)
    title = serializers.CharField(
        max_length=1_000,
        required=False,
        default="",
        allow_blank=True,
        help_text="Of a new document.",
    )
    text = serializers.CharField(
        max_length=replacing.MAX_TEXT,
        required=False,
        default="",
        allow_blank=True,
        trim_whitespace=False,
        help_text="Of a new document; empty for an existing one.",
    )


class SentReplacement(SentNewDocument):
    """A replacement to make."""

    reason = serializers.CharField(max_length=MAX_REASON)
    token = serializers.CharField(
        max_length=64, help_text="From the preview, whose effects must still be the same."
    )


class ReplacementSerializer(serializers.Serializer[Any]):
    """A replacement."""

    id = serializers.IntegerField()
    old = serializers.CharField(source="old.doc_id")
    new = serializers.CharField(source="new.doc_id")
    reason = serializers.CharField()
    by = serializers.CharField(source="by.name")
    at = serializers.DateTimeField()
    undone_at = serializers.DateTimeField(allow_null=True)
    undone_by = serializers.CharField(source="undone_by.name", allow_null=True)


class ReplacementPreview(Resource, tag="Pools"):
    """The preview of a replacement."""

    @writes(replacing.Effects, body=SentNewDocument, scope=Scope.LEAD)
    def post(self, request: Request, slug: str) -> replacing.Effects:
        """Count what a replacement would change. Nothing is written."""
        member = access.lead(self.person, slug)
        body = self.body()
        return replacing.effects(_candidate(member, body), _new(body))


class Replacements(Resource, tag="Pools"):
    """The replacements of a project."""

    @reads(ReplacementSerializer, paged=True)
    def get(self, request: Request, slug: str) -> Response:
        """List replacements, including undone ones. 403 for a lead who still judges."""
        member = access.lead(self.person, slug)
        rows = replacing.replacements(member.project)
        return self.page(rows)

    @writes(ReplacementSerializer, body=SentReplacement, scope=Scope.LEAD, status=201)
    def post(self, request: Request, slug: str) -> Replacement:
        """Replace a document. 409 if its effects differ from those of the preview."""
        member = access.lead(self.person, slug)
        body = self.body()
        return replacing.replace_document(
            candidate=_candidate(member, body),
            new=_new(body),
            reason=body["reason"],
            token=body["token"],
            by=member,
        )


class ReplacementUndoing(Resource, tag="Pools"):
    """The undoing of a replacement."""

    @writes(ReplacementSerializer, scope=Scope.LEAD)
    def post(self, request: Request, slug: str, replacement: int) -> Replacement:
        """Undo a replacement: the old document is back. Undoing twice changes nothing."""
        member, undone = access.replacement(self.person, slug, replacement)
        return replacing.undo_replacement(replacement=undone, by=member)


def _candidate(member: Membership, body: dict[str, Any]) -> Candidate:
    [key] = DOCUMENTS.keys_of(member.project, [(body["query_id"], body["doc_id"])])
    return Candidate.with_removed.select_related("query__project", "document").get(pk=key)


def _new(body: dict[str, Any]) -> replacing.NewDocument:
    return replacing.NewDocument(body["new_doc_id"], body["title"], body["text"])
