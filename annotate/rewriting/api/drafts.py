"""Writing a narrative before it is a version: drafts, advice, the affected documents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import uuid4

from django.utils import timezone
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.collection.models import Candidate
from annotate.judgments.document_names import names_for
from annotate.pairs import access
from annotate.pairs.models import InstructionPair, Narrative
from annotate.projects.models import Membership
from annotate.rewriting import drafts
from annotate.rewriting.advice import Advice
from annotate.rewriting.drafts import MAX_CONDITIONS, MAX_NOTE, Page, Words
from annotate.rewriting.models import MAX_NARRATIVE, Draft
from annotate.rewriting.rewrite_impact import MOST_FIND, advise, candidates_at_stake, search_filter
from base.api.resource import (
    KeyField,
    QueryParameters,
    RequestBody,
    Resource,
    Scope,
    reads,
    writes,
)
from base.raw_sql import LARGEST_KEY

SIDES = [Narrative.Side.ALTERED.value, Narrative.Side.REVERSED.value]
# How many candidates one draft can name.
MOST_DROPS = 10_000


class DraftSerializer(serializers.Serializer[Any]):
    """Your draft."""

    text = serializers.CharField()
    note = serializers.CharField()
    conditions = serializers.CharField(help_text="One per line.")
    based_on = serializers.IntegerField(help_text="The version it was begun from; 0: none.")
    drops = serializers.ListField(
        child=serializers.IntegerField(), help_text="Candidates that would drop out."
    )
    place = serializers.CharField(help_text="The page or program that wrote it last.")
    turn = serializers.IntegerField(help_text="When that was, in milliseconds of its clock.")
    saved_at = serializers.DateTimeField()
    overtaken = serializers.ListField(
        child=serializers.JSONField(),
        help_text="What another page of yours wrote at the same time, until you have read it.",
    )


class KeptDraftSerializer(serializers.Serializer[Any]):
    """The draft that counts; null: there is none."""

    draft = DraftSerializer(allow_null=True)


class SentDraft(RequestBody):
    """The draft to store."""

    side = serializers.ChoiceField(choices=SIDES, default=SIDES[0])
    text = serializers.CharField(max_length=MAX_NARRATIVE, allow_blank=True, trim_whitespace=False)
    note = serializers.CharField(max_length=MAX_NOTE, required=False, allow_blank=True, default="")
    conditions = serializers.CharField(
        max_length=MAX_CONDITIONS,
        required=False,
        allow_blank=True,
        trim_whitespace=False,
        default="",
    )
    based_on = serializers.IntegerField(min_value=0, max_value=2**31 - 1)
    drops = serializers.ListField(
        child=KeyField(), required=False, max_length=MOST_DROPS, default=list
    )
    place = serializers.RegexField(
        r"^[A-Za-z0-9._-]+$",
        max_length=36,
        required=False,
        help_text="Who writes: choose one UUID and reuse it.",
    )
    turn = serializers.IntegerField(
        min_value=0,
        max_value=LARGEST_KEY,
        required=False,
        help_text="When it was written, in milliseconds; default: now.",
    )
    seen = serializers.DictField(
        child=serializers.IntegerField(min_value=0, max_value=LARGEST_KEY),
        required=False,
        default=dict,
        help_text="What it continues from: the turn of each place that you have read.",
    )


class SentWords(RequestBody):
    """The text to get advice on."""

    side = serializers.ChoiceField(choices=SIDES, default=SIDES[0])
    text = serializers.CharField(max_length=MAX_NARRATIVE, allow_blank=True, trim_whitespace=False)
    conditions = serializers.CharField(
        max_length=MAX_CONDITIONS,
        required=False,
        allow_blank=True,
        trim_whitespace=False,
        default="",
    )
    in_texts = serializers.BooleanField(
        default=False, help_text="Also compare it with the documents' texts."
    )


class AskedSide(QueryParameters):
    """The side of the pair."""

    side = serializers.ChoiceField(choices=SIDES, default=SIDES[0])


class AskedRewriteImpact(QueryParameters):
    """Filter of the affected documents."""

    find = serializers.CharField(
        required=False, max_length=MOST_FIND, help_text="Words of the title or the id."
    )
    in_texts = serializers.BooleanField(default=False, help_text="Search the texts too.")


class AtRewriteImpactSerializer(serializers.Serializer[Any]):
    """A document that was relevant before."""

    candidate = serializers.IntegerField()
    name = serializers.CharField(
        source="name.label", help_text="What pages call it: its title, or a neutral name."
    )
    doc_id = serializers.CharField(
        source="name.doc_id", allow_null=True, help_text="null while it is hidden from you."
    )
    title = serializers.CharField(
        source="name.title", allow_blank=True, help_text="Empty also if it is made of a hidden id."
    )
    prior_relevance = serializers.IntegerField(
        allow_null=True, help_text="null if the project hides it."
    )


class MyDraft(Resource, tag="Rewriting"):
    """Your draft on one side of a pair."""

    @reads(KeptDraftSerializer, parameters=AskedSide)
    def get(self, request: Request, pair: int) -> dict[str, Draft | None]:
        """Read your draft."""
        member, instruction_pair = _get_writer(self, pair)
        side = self.parameters()["side"]
        return {
            "draft": Draft.objects.filter(pair=instruction_pair, side=side, member=member).first()
        }

    @writes(KeptDraftSerializer, body=SentDraft, scope=Scope.JUDGE)
    def put(self, request: Request, pair: int) -> dict[str, Draft | None]:
        """Store a draft and get the one that counts: the newest words; others become overtaken."""
        member, instruction_pair = access.pair(self.person, pair)
        sent = self.body()
        kept = drafts.save_draft(
            pair=instruction_pair,
            side=sent["side"],
            words=Words(
                sent["text"],
                sent["note"],
                sent["conditions"],
                sent["based_on"],
                tuple(sent["drops"]),
            ),
            page=Page(
                sent.get("place") or str(uuid4()),
                sent.get("turn", int(timezone.now().timestamp() * 1_000)),
                sent["seen"],
            ),
            by=member,
        )
        return {"draft": kept}

    @writes(None, status=204, parameters=AskedSide, scope=Scope.JUDGE)
    def delete(self, request: Request, pair: int) -> None:
        """Discard your draft."""
        member, instruction_pair = _get_writer(self, pair)
        drafts.discard_draft(pair=instruction_pair, side=self.parameters()["side"], by=member)


class Overtaken(Resource, tag="Rewriting"):
    """Words of yours that were overtaken by newer words of yours."""

    @writes(KeptDraftSerializer, parameters=AskedSide, scope=Scope.JUDGE)
    def put(self, request: Request, pair: int, which: str) -> dict[str, Draft]:
        """Make these words the draft again; those that were the draft become overtaken."""
        member, instruction_pair = _get_writer(self, pair)
        side = self.parameters()["side"]
        return {
            "draft": drafts.take_overtaken(pair=instruction_pair, side=side, which=which, by=member)
        }

    @writes(None, status=204, parameters=AskedSide, scope=Scope.JUDGE)
    def delete(self, request: Request, pair: int, which: str) -> None:
        """Delete these words."""
        member, instruction_pair = _get_writer(self, pair)
        drafts.drop_overtaken(
            pair=instruction_pair, side=self.parameters()["side"], which=which, by=member
        )


class LookAtWords(Resource, tag="Rewriting"):
    """Advice on a text."""

    @writes(Advice, body=SentWords, many=True, scope=Scope.READ)
    def post(self, request: Request, pair: int) -> Sequence[Advice]:
        """Get advice on a text. Nothing is saved."""
        member, instruction_pair = _get_writer(self, pair)
        sent = self.body()
        source = instruction_pair.written_from(sent["side"])
        return advise(
            instruction_pair,
            side=sent["side"],
            before=source.text if source else "",
            after=sent["text"],
            conditions=sent["conditions"],
            in_texts=sent["in_texts"],
            reader=member,
        )


class ImpactedDocuments(Resource, tag="Rewriting"):
    """The documents that were relevant before."""

    @reads(AtRewriteImpactSerializer, parameters=AskedRewriteImpact, paged=True)
    def get(self, request: Request, pair: int) -> Response:
        """List the affected documents when the narrative is rewritten."""
        member, instruction_pair = _get_writer(self, pair)
        asked = self.parameters()
        rows = candidates_at_stake(instruction_pair).select_related("document")
        if find := asked.get("find"):
            rows = rows.filter(
                search_filter(instruction_pair, find, member, in_texts=asked["in_texts"])
            )
        prior = instruction_pair.project.show_prior or member.leads
        return self.page(rows, prepare=lambda part: _named(member, part, prior=prior))


def _named(member: Membership, rows: list[Candidate], *, prior: bool) -> list[dict[str, Any]]:
    names = names_for(member, rows)
    return [
        {
            "candidate": row.pk,
            "name": names[row.pk],
            "prior_relevance": row.prior_relevance if prior else None,
        }
        for row in rows
    ]


def _get_writer(resource: Resource, pair: int) -> tuple[Membership, InstructionPair]:
    """Return the member and the pair, or refuse a member who may not rewrite it."""
    member, instruction_pair = access.pair(resource.person, pair)
    drafts.refuse_unless_writer(pair=instruction_pair, by=member)
    return member, instruction_pair
