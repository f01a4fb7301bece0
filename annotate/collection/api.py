"""The collection in the API: loading files, passages, topics, and what is taken out."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar
from uuid import UUID

from rest_framework import serializers
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.collection import access as collection_access
from annotate.collection import load_jobs
from annotate.collection.forms import DrawForm
from annotate.collection.intake.report import FileReport
from annotate.collection.models import Load, PassageRule, Run
from annotate.collection.passages import MOST_WORDS, passage_rule_of, set_passage_rule
from annotate.collection.removal import (
    INSTRUCTIONS,
    MAX_REASON,
    MOST,
    QUERIES,
    ChangeCounts,
    Removable,
)
from annotate.collection.topics import (
    Conditions,
    FilterCount,
    Topic,
    choose_topics,
    draw_topics,
    filter_counts,
    topics_of,
)
from annotate.judgments.blindness import must_answer_first
from annotate.projects import access
from annotate.projects.models import Membership
from base.api.bodies import Settings
from base.api.jobs import JobSerializer
from base.api.limits import LimitedJsonParser
from base.api.records import RecordSerializer
from base.api.resource import RequestBody, Resource, Scope, reads, writes
from formats.registry import FORMATS, Format


class FormatSerializer(RecordSerializer):
    """A file format."""

    class Meta:
        record = Format
        fields = ("name", "title", "description", "kind")


class ReportSerializer(RecordSerializer):
    """The report of a file: what was read, and what would change or has changed."""

    class Meta:
        record = FileReport
        fields = (
            *("file", "read", "new", "changed", "unchanged", "refused", "rows", "problems"),
            *("broken", "broken_rules", "likely_format", "claims_to_carry", "notes"),
        )


class LoadSerializer(JobSerializer):
    """An uploaded file: a preview, or the load of a confirmed preview."""

    format = serializers.CharField()
    file_name = serializers.CharField()
    no_grade = serializers.IntegerField(allow_null=True)
    side = serializers.CharField(
        allow_blank=True, help_text="For a run, if one was given: original, altered or reversed."
    )
    by = serializers.CharField(source="by.name")
    despite_rules = serializers.BooleanField(
        help_text="Whether rows that break rules of the project's kind are loaded."
    )
    carry_claims = serializers.BooleanField(
        help_text="Whether machines' claims are carried over to new versions of narratives."
    )
    dry_run = serializers.BooleanField(help_text="Whether it is a preview, which writes nothing.")
    preview = serializers.IntegerField(
        source="preview_id", allow_null=True, help_text="The preview of a load."
    )


class FullLoadSerializer(LoadSerializer):
    """An uploaded file with its report."""

    report = ReportSerializer(allow_null=True, help_text="null until the file was read.")
    confirmed_as = serializers.SerializerMethodField(help_text="The load of a confirmed preview.")

    def get_confirmed_as(self, load: Load) -> int | None:
        """Return the key of the load that this preview was confirmed as."""
        return Load.objects.filter(preview=load).values_list("pk", flat=True).first()


class SentFile(RequestBody):
    """A file and its format, sent as multipart/form-data."""

    file = serializers.FileField(
        max_length=255, help_text="As it is, or gzip; a folder as one zip archive."
    )
    format = serializers.ChoiceField(
        choices=[(layout.name, layout.title) for layout in FORMATS.values()],
        required=False,
        help_text="Without it, the format is recognized by the file.",
    )
    no_grade = serializers.IntegerField(
        required=False,
        min_value=-32_768,
        max_value=32_767,
        help_text="The value in the file that means no grade.",
    )
    side = serializers.ChoiceField(
        choices=Run.Side.choices,
        required=False,
        help_text="For a run: what it ranks documents for. Without it the ids on its lines decide.",
    )


class SentFiles(RequestBody):
    """Several files, sent as multipart/form-data."""

    files = serializers.ListField(
        child=serializers.FileField(max_length=255),
        help_text="The format of each is recognized by the file.",
    )


class LoadBatchSerializer(serializers.Serializer[Any]):
    """Files that were uploaded together, in the order of loading."""

    batch = serializers.UUIDField()
    files = FullLoadSerializer(many=True)


class SentLoadConfirmation(RequestBody):
    """Whether to load rows that break rules of the project's kind, and to carry claims over."""

    despite_rules = serializers.BooleanField(default=False)
    carry_claims = serializers.BooleanField(
        default=False,
        help_text="Copy machines' claims to new versions for which the file has none.",
    )


class Formats(Resource, tag="Loading"):
    """The formats of files that can be loaded."""

    @reads(FormatSerializer, many=True)
    def get(self, request: Request) -> Iterable[Any]:
        """List the formats of files that can be loaded."""
        return FORMATS.values()


class Loads(Resource, tag="Loading"):
    """The uploads of a project."""

    parser_classes = (MultiPartParser, LimitedJsonParser)

    @reads(LoadSerializer, paged=True)
    def get(self, request: Request, slug: str) -> Response:
        """List uploads, newest first: loads, and previews that are not confirmed."""
        by = access.lead(self.person, slug)
        # As on the page: a confirmed preview is not listed, only its load.
        rows = Load.objects.filter(project=by.project_id, confirmed_as=None)
        rows = rows.select_related("by").defer("report")
        return self.page(rows, newest_first=True)

    @writes(FullLoadSerializer, body=SentFile, status=201, scope=Scope.LEAD, apart=True)
    def post(self, request: Request, slug: str) -> Load:
        """Upload a file for a preview. Nothing is written to the project yet."""
        by = access.lead(self.person, slug)
        sent = self.body()
        return load_jobs.request_load(
            format_name=sent.get("format", ""),
            file=sent["file"],
            no_grade=sent.get("no_grade"),
            side=sent.get("side", ""),
            by=by,
        )


class SeveralLoads(Resource, tag="Loading"):
    """Several files that are uploaded together."""

    parser_classes = (MultiPartParser, LimitedJsonParser)

    @writes(LoadBatchSerializer, body=SentFiles, status=201, scope=Scope.LEAD, apart=True)
    def post(self, request: Request, slug: str) -> dict[str, Any]:
        """Upload several files for a preview of each. They are ordered by what they refer to."""
        by = access.lead(self.person, slug)
        batch = load_jobs.request_batch(**self.body(), by=by)
        return _batch(by, batch)


class LoadBatch(Resource, tag="Loading"):
    """Files that were uploaded together."""

    @reads(LoadBatchSerializer)
    def get(self, request: Request, slug: str, batch: UUID) -> dict[str, Any]:
        """Read each file's load, or its preview, in the order of loading."""
        by, _previews = collection_access.load_batch(self.person, slug, batch)
        return _batch(by, batch)


class BatchConfirmation(Resource, tag="Loading"):
    """The confirmation of files that were uploaded together."""

    @writes(LoadBatchSerializer, scope=Scope.LEAD)
    def put(self, request: Request, slug: str, batch: UUID) -> dict[str, Any]:
        """Load the files without a problem, one after the other; the others stay unloaded."""
        by, _previews = collection_access.load_batch(self.person, slug, batch)
        load_jobs.confirm_batch(project=by.project, batch=batch, by=by)
        return _batch(by, batch)


def _batch(by: Membership, batch: UUID) -> dict[str, Any]:
    previews = load_jobs.previews_of(by.project, batch)
    return {
        "batch": batch,
        "files": [load_jobs.load_of(preview) or preview for preview in previews],
    }


class OneLoad(Resource, tag="Loading"):
    """One upload."""

    @reads(FullLoadSerializer)
    def get(self, request: Request, slug: str, load: int) -> Load:
        """Read the progress of a preview or a load, and its report when it is done."""
        _by, upload = collection_access.load(self.person, slug, load)
        return upload


class Confirmation(Resource, tag="Loading"):
    """The confirmation of a preview."""

    @writes(FullLoadSerializer, body=SentLoadConfirmation, scope=Scope.LEAD)
    def put(self, request: Request, slug: str, load: int) -> Load:
        """Load a previewed file and return the load. Repeating the request changes nothing."""
        by, preview = collection_access.load(self.person, slug, load)
        return load_jobs.confirm_load(preview=preview, by=by, **self.body())


class Recheck(Resource, tag="Loading"):
    """Another check of a refused file."""

    @writes(FullLoadSerializer, status=201, scope=Scope.LEAD)
    def post(self, request: Request, slug: str, load: int) -> Load:
        """Check a refused file again in its `likely_format`, and return the new preview.

        The file moves to the new preview, so this works once. 422: no format is suggested, or the
        file is no longer kept.
        """
        by, preview = collection_access.load(self.person, slug, load)
        return load_jobs.recheck_load(preview=preview, by=by)


class Leaving(Resource, tag="Loading"):
    """Discarding a preview."""

    @writes(None, status=204, scope=Scope.LEAD)
    def put(self, request: Request, slug: str, load: int) -> None:
        """Discard a previewed file without loading it."""
        by, preview = collection_access.load(self.person, slug, load)
        load_jobs.discard_preview(preview=preview, by=by)


class PassagesSerializer(Settings, serializers.ModelSerializer[PassageRule]):
    """The rule by which passages are cut and published."""

    class Meta:
        model = PassageRule
        fields = ("words", "overlap", "at_sentences", "published", "share")
        # The model's fields would have ranges that depend on the database.
        extra_kwargs: ClassVar = {
            "words": {"min_value": 1, "max_value": MOST_WORDS, "help_text": "Words per passage."},
            "overlap": {
                "min_value": 0,
                "max_value": MOST_WORDS,
                "help_text": "Words that the next passage repeats.",
            },
            "share": {
                "min_value": 1,
                "max_value": 100,
                "help_text": "Percent of a document that passages around its evidence may contain.",
            },
        }


class Passages(Resource, tag="Collection"):
    """The passage rule of a project."""

    @reads(PassagesSerializer, scope=Scope.LEAD)
    def get(self, request: Request, slug: str) -> PassageRule:
        """Read how passages are cut and published."""
        return passage_rule_of(access.lead(self.person, slug).project)

    @writes(PassagesSerializer, body=PassagesSerializer, scope=Scope.LEAD)
    def patch(self, request: Request, slug: str) -> PassageRule:
        """Change how passages are cut and published."""
        by = access.lead(self.person, slug)
        return set_passage_rule(project=by.project, changes=self.body(), by=by)


class SentReason(RequestBody):
    """Why rows are taken out."""

    reason = serializers.CharField(max_length=MAX_REASON)


def _ids() -> Any:
    """Return a list field of ids, without trimming white space."""
    return serializers.ListField(
        child=serializers.CharField(max_length=255, trim_whitespace=False),
        max_length=MOST,
    )


class SentQueries(RequestBody):
    """A list of queries."""

    queries = _ids()


class SentQueryRemoval(SentQueries, SentReason):
    """Queries to take out, and the reason."""


class SentPairs(RequestBody):
    """A list of instructions."""

    pairs = _ids()


class SentPairRemoval(SentPairs, SentReason):
    """Instructions to take out, and the reason."""


class RemovedRowSerializer(serializers.Serializer[Any]):
    """A query or an instruction that is taken out."""

    id = serializers.CharField()
    removed_at = serializers.DateTimeField()
    removed_by = serializers.CharField(allow_null=True, help_text="Null: a command.")
    reason = serializers.CharField(
        allow_null=True, help_text="Null while you have judging or reviewing left."
    )


class RemovedQueries(Resource, tag="Collection"):
    """The queries of a project that are taken out."""

    @reads(RemovedRowSerializer, paged=True, scope=Scope.LEAD)
    def get(self, request: Request, slug: str) -> Response:
        """List the queries that are taken out, with the reasons."""
        return _removed(self, slug, QUERIES, "query_id")

    @writes(ChangeCounts, body=SentQueryRemoval, scope=Scope.LEAD)
    def post(self, request: Request, slug: str) -> ChangeCounts:
        """Take queries out: nobody works on them, and they are not in qrels."""
        member, sent = access.lead(self.person, slug), self.body()
        keys = QUERIES.keys_of(member.project, sent["queries"])
        return QUERIES.remove(project=member.project, keys=keys, reason=sent["reason"], by=member)


class QueryRestoration(Resource, tag="Collection"):
    """Bringing queries back."""

    @writes(ChangeCounts, body=SentQueries, scope=Scope.LEAD)
    def post(self, request: Request, slug: str) -> ChangeCounts:
        """Bring queries back, with the instructions that were taken out with them."""
        member = access.lead(self.person, slug)
        keys = QUERIES.keys_of(member.project, self.body()["queries"])
        return QUERIES.restore(project=member.project, keys=keys, by=member)


class RemovedPairs(Resource, tag="Collection"):
    """The instructions of a project that are taken out."""

    @reads(RemovedRowSerializer, paged=True, scope=Scope.LEAD)
    def get(self, request: Request, slug: str) -> Response:
        """List the instructions that are taken out without their query, with the reasons."""
        return _removed(self, slug, INSTRUCTIONS, "pair_id")

    @writes(ChangeCounts, body=SentPairRemoval, scope=Scope.LEAD)
    def post(self, request: Request, slug: str) -> ChangeCounts:
        """Take instructions out: nobody works on them, and they are not in qrels."""
        member, sent = access.lead(self.person, slug), self.body()
        keys = INSTRUCTIONS.keys_of(member.project, sent["pairs"])
        return INSTRUCTIONS.remove(
            project=member.project, keys=keys, reason=sent["reason"], by=member
        )


class PairRestoration(Resource, tag="Collection"):
    """Bringing instructions back."""

    @writes(ChangeCounts, body=SentPairs, scope=Scope.LEAD)
    def post(self, request: Request, slug: str) -> ChangeCounts:
        """Bring instructions back."""
        member = access.lead(self.person, slug)
        keys = INSTRUCTIONS.keys_of(member.project, self.body()["pairs"])
        return INSTRUCTIONS.restore(project=member.project, keys=keys, by=member)


class Filters(Resource, tag="Collection"):
    """Counts of what machines' filters kept and discarded."""

    @reads(FilterCount, many=True, scope=Scope.LEAD)
    def get(self, request: Request, slug: str) -> list[FilterCount]:
        """Count the decisions of each machine."""
        return filter_counts(access.lead(self.person, slug).project)


def _removed(resource: Resource, slug: str, removable: Removable, id_field: str) -> Response:
    """Return the page of what is taken out; the reasons are null for a lead who is blind."""
    member = access.lead(resource.person, slug)
    blind = must_answer_first(member)
    return resource.page(
        removable.removed(member.project).select_related("removed_by"),
        prepare=lambda rows: [
            {
                "id": getattr(row, id_field),
                "removed_at": row.removed_at,
                "removed_by": row.removed_by and row.removed_by.name,
                "reason": None if blind else row.removed_reason,
            }
            for row in rows
        ],
    )


class TopicSerializer(RecordSerializer):
    """A topic that can be chosen."""

    class Meta:
        record = Topic
        fields = ("query_id", "title", "relevant", "has_narrative")


class Topics(Resource, tag="Collection"):
    """The topics of a project that are not taken out."""

    @reads(TopicSerializer, many=True, scope=Scope.LEAD)
    def get(self, request: Request, slug: str) -> list[Topic]:
        """List the topics with the values that conditions check."""
        return topics_of(access.lead(self.person, slug).project)

    @writes(ChangeCounts, body=SentQueryRemoval, scope=Scope.LEAD)
    def post(self, request: Request, slug: str) -> ChangeCounts:
        """Keep these queries and take the others out with the reason."""
        member, sent = access.lead(self.person, slug), self.body()
        queries = QUERIES.keys_of(member.project, sent["queries"])
        return choose_topics(
            project=member.project, queries=queries, reason=sent["reason"], by=member
        )


class TopicDraw(Resource, tag="Collection"):
    """Drawing topics."""

    @writes(ChangeCounts, body=DrawForm, scope=Scope.LEAD)
    def post(self, request: Request, slug: str) -> ChangeCounts:
        """Draw topics that meet the conditions and take the others out."""
        member = access.lead(self.person, slug)
        body = self.body()
        number, seed = body.pop("number"), body.pop("seed")
        return draw_topics(
            project=member.project,
            conditions=Conditions(**body),
            number=number,
            seed=seed,
            by=member,
        )
