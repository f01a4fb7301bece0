"""Writing a narrative before it is a version: drafts, advice, the documents at stake."""

from __future__ import annotations

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
from annotate.rewriting.drafts import MAX_CONDITIONS, MAX_NOTE, MAX_TEXT_LENGTH, Page, Words
from annotate.rewriting.models import Draft
from annotate.rewriting.rewrite_impact import MOST_FIND, advise, candidates_at_stake, matching
from base.api.resource import Asked, KeyField, Resource, Scope, Sent, done, reads, writes
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


class SentDraft(Sent):
    """The draft to store."""

    side = serializers.ChoiceField(choices=SIDES, default=SIDES[0])
    text = serializers.CharField(
        max_length=MAX_TEXT_LENGTH, allow_blank=True, trim_whitespace=False
    )
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


class SentWords(Sent):
    """The text to get advice on."""

    side = serializers.ChoiceField(choices=SIDES, default=SIDES[0])
    text = serializers.CharField(
        max_length=MAX_TEXT_LENGTH, allow_blank=True, trim_whitespace=False
    )
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


class AdviceSerializer(serializers.Serializer[Any]):
    """The result of one check of a text."""

    check = serializers.CharField()
    good = serializers.BooleanField(allow_null=True, help_text="null: not checked.")
    found = serializers.ListField(child=serializers.CharField())
    number = serializers.IntegerField()
    of = serializers.IntegerField()


class AskedSide(Asked):
    """The side of the pair."""

    side = serializers.ChoiceField(choices=SIDES, default=SIDES[0])


class AskedRewriteImpact(Asked):
    """Filter of the documents at stake."""

    find = serializers.CharField(
        required=False, max_length=MOST_FIND, help_text="Words of the title or the id."
    )
    in_texts = serializers.BooleanField(default=False, help_text="Search the texts too.")


class AtRewriteImpactSerializer(serializers.Serializer[Any]):
    """A document that was relevant before."""

    candidate = serializers.IntegerField()
    name = serializers.CharField(help_text="What pages call it: its title, or a neutral name.")
    doc_id = serializers.CharField(allow_null=True, help_text="null while it is hidden from you.")
    title = serializers.CharField(
        allow_blank=True, help_text="Empty also if it is made of a hidden id."
    )
    prior_relevance = serializers.IntegerField(
        allow_null=True, help_text="null if the project hides it."
    )


class MyDraft(Resource):
    """Your draft on one side of a pair."""

    tag = "Rewriting"

    @reads(KeptDraftSerializer, asked=AskedSide)
    def get(self, request: Request, pair: int) -> Response:
        """Read your draft."""
        member, found = _writer(self, pair)
        side = self.asked()["side"]
        draft = Draft.objects.filter(pair=found, side=side, member=member).first()
        return Response({"draft": _as_json(draft)})

    @writes(KeptDraftSerializer, sent=SentDraft, scope=Scope.JUDGE)
    def put(self, request: Request, pair: int) -> Response:
        """Store a draft and get the one that counts: the newest words; others become overtaken."""
        member, found = access.pair(self.person, pair)
        sent = self.sent()
        kept = drafts.save_draft(
            pair=found,
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
        return Response({"draft": _as_json(kept)})

    @writes(None, status=204, asked=AskedSide, scope=Scope.JUDGE)
    def delete(self, request: Request, pair: int) -> Response:
        """Discard your draft."""
        member, found = _writer(self, pair)
        drafts.discard_draft(pair=found, side=self.asked()["side"], by=member)
        return done()


class Overtaken(Resource):
    """Words of yours that were overtaken by newer words of yours."""

    tag = "Rewriting"

    @writes(KeptDraftSerializer, asked=AskedSide, scope=Scope.JUDGE)
    def put(self, request: Request, pair: int, which: str) -> Response:
        """Make these words the draft again; those that were the draft become overtaken."""
        member, found = _writer(self, pair)
        side = self.asked()["side"]
        kept = drafts.take_overtaken(pair=found, side=side, which=which, by=member)
        return Response({"draft": _as_json(kept)})

    @writes(None, status=204, asked=AskedSide, scope=Scope.JUDGE)
    def delete(self, request: Request, pair: int, which: str) -> Response:
        """Delete these words."""
        member, found = _writer(self, pair)
        drafts.drop_overtaken(pair=found, side=self.asked()["side"], which=which, by=member)
        return done()


class LookAtWords(Resource):
    """Advice on a text."""

    tag = "Rewriting"

    @writes(AdviceSerializer, sent=SentWords, many=True, scope=Scope.READ)
    def post(self, request: Request, pair: int) -> Response:
        """Get advice on a text. Nothing is saved."""
        member, found = _writer(self, pair)
        sent = self.sent()
        source = found.written_from(sent["side"])
        advice = advise(
            found,
            side=sent["side"],
            before=source.text if source else "",
            after=sent["text"],
            conditions=sent["conditions"],
            in_texts=sent["in_texts"],
            reader=member,
        )
        return Response(
            [
                {
                    "check": one.check,
                    "good": one.good,
                    "found": list(one.found),
                    "number": one.number,
                    "of": one.of,
                }
                for one in advice
            ]
        )


class ImpactedDocuments(Resource):
    """The documents that were relevant before."""

    tag = "Rewriting"

    @reads(AtRewriteImpactSerializer, asked=AskedRewriteImpact, paged=True)
    def get(self, request: Request, pair: int) -> Response:
        """List the documents at stake when the narrative is rewritten."""
        member, found = _writer(self, pair)
        asked = self.asked()
        rows = candidates_at_stake(found).select_related("document")
        if find := asked.get("find"):
            rows = rows.filter(matching(found, find, member, in_texts=asked["in_texts"]))
        prior = found.project.show_prior or member.leads
        return self.page(rows, lambda part: _stakes(member, part, prior=prior))


def _stakes(member: Membership, rows: list[Candidate], *, prior: bool) -> list[dict[str, Any]]:
    names = names_for(member, rows)
    return [
        {
            "candidate": row.pk,
            "name": names[row.pk].label,
            "doc_id": names[row.pk].doc_id,
            "title": names[row.pk].title,
            "prior_relevance": row.prior_relevance if prior else None,
        }
        for row in rows
    ]


def _writer(resource: Resource, pair: int) -> tuple[Membership, InstructionPair]:
    """Return the member and the pair, or refuse a member who may not rewrite it."""
    member, found = access.pair(resource.person, pair)
    drafts.may_write(pair=found, by=member)
    return member, found


def _as_json(draft: Draft | None) -> dict[str, Any] | None:
    if draft is None:
        return None
    names = ("text", "note", "conditions", "based_on", "drops", "place", "turn")
    return {
        **{name: getattr(draft, name) for name in names},
        "saved_at": draft.saved_at,
        "overtaken": draft.overtaken,
    }
