"""Rewriting in the API: narratives, drafts, advice, and the documents that a rewrite affects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import uuid4

from django.http import Http404
from django.utils import timezone
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.collection.models import Candidate
from annotate.judgments.api import NamedSerializer
from annotate.judgments.document_names import names_for
from annotate.pairs import access
from annotate.pairs.api import ConditionSerializer, NarrativeSerializer
from annotate.pairs.models import InstructionPair, Narrative
from annotate.projects.models import Membership
from annotate.rewriting import actions as rewriting
from annotate.rewriting import drafts, sending_back
from annotate.rewriting.advice import Advice
from annotate.rewriting.drafts import MAX_CONDITIONS, Writing
from annotate.rewriting.forms import NarrativeForm, SendBackForm
from annotate.rewriting.models import MAX_NARRATIVE, Draft
from annotate.rewriting.rewrite_impact import MOST_FIND, advise, candidates_at_stake, search_filter
from annotate.rewriting.sending_back import SentBack, why_sent_back
from base.api.bodies import FormBody
from base.api.resource import KeyField, QueryParameters, Resource, Scope, reads, writes
from base.requests import LARGEST_KEY

# The sides that are written; the original stays.
SIDES = [Narrative.Side.ALTERED.value, Narrative.Side.REVERSED.value]
# How many candidates one draft can name.
MOST_DROPS = 10_000


class FullNarrativeSerializer(NarrativeSerializer):
    """A version of a narrative."""

    text = serializers.CharField()
    conditions = ConditionSerializer(many=True, source="ordered_conditions")


class AskedNarratives(QueryParameters):
    """Filter of the versions."""

    side = serializers.ChoiceField(choices=Narrative.Side.choices, required=False)


class SentNarrative(FormBody):
    """The next version of a narrative."""

    side = serializers.ChoiceField(choices=SIDES, default=SIDES[0])
    conditions = serializers.CharField(
        max_length=MAX_CONDITIONS,
        trim_whitespace=False,
        required=False,
        allow_blank=True,
        help_text="One per line, with its name, if any, before a colon; default: unchanged.",
    )

    class Meta:
        form = NarrativeForm


class AskedStaleAnswers(QueryParameters):
    """The side whose current version would be replaced."""

    side = serializers.ChoiceField(
        choices=Narrative.Side.choices, default=Narrative.Side.ALTERED.value
    )


class StaleAnswersSerializer(serializers.Serializer[Any]):
    """The answers that become stale when another version becomes current."""

    version = serializers.IntegerField(help_text="The current version; 0: none.")
    answers = serializers.CharField(
        allow_blank=True,
        help_text="For example “24 judgments, 3 flags”; empty: none, or you may not know.",
    )


class SentReturn(FormBody):
    """The confirmation of going back to a version."""

    class Meta:
        form = NarrativeForm
        fields = ("confirmed",)


class Narratives(Resource, tag="Collection"):
    """The versions of a pair's narratives."""

    @reads(NarrativeSerializer, parameters=AskedNarratives, paged=True)
    def get(self, request: Request, pair: int) -> Response:
        """List the versions, without their text."""
        _member, instruction_pair = access.pair(self.person, pair)
        versions = instruction_pair.narratives.select_related("author").defer("text")
        if side := self.parameters().get("side"):
            versions = versions.filter(side=side)
        return self.page(versions)

    @writes(FullNarrativeSerializer, body=SentNarrative, status=201, scope=Scope.JUDGE)
    def post(self, request: Request, pair: int) -> Narrative:
        """Write the next version; 409 if a version newer than `based_on` was saved.

        If answers were given under the current version, they become stale, and `confirmed` has to
        describe them; else 422.
        """
        member, instruction_pair = access.pair(self.person, pair)
        return rewriting.rewrite_narrative(pair=instruction_pair, **self.body(), by=member)


class OneNarrative(Resource, tag="Collection"):
    """One version of a narrative."""

    @reads(FullNarrativeSerializer)
    def get(self, request: Request, pair: int, narrative: int) -> Narrative:
        """Read a version with its text and conditions."""
        _member, instruction_pair = access.pair(self.person, pair)
        return access.narrative(instruction_pair, narrative)


class CurrentNarrative(Resource, tag="Collection"):
    """A version as the current one of its side."""

    @writes(FullNarrativeSerializer, body=SentReturn, scope=Scope.LEAD)
    def put(self, request: Request, pair: int, narrative: int) -> Narrative:
        """Go back to a version: later ones are withdrawn, and its answers count again."""
        member, instruction_pair = access.led_pair(self.person, pair)
        version = access.narrative(instruction_pair, narrative)
        return rewriting.go_back(narrative=version, **self.body(), by=member)


class NarrativeSentBack(Resource, tag="Collection"):
    """That the altered narrative of a pair was sent back to its writer."""

    @reads(SentBack)
    def get(self, request: Request, pair: int) -> SentBack:
        """Read why it was sent back. 404 if it is not, or if you may not know why."""
        member, instruction_pair = access.pair(self.person, pair)
        if (sent_back := why_sent_back(instruction_pair, member)) is None:
            raise Http404("This narrative is not sent back.")
        return sent_back

    @writes(SentBack, body=SendBackForm, scope=Scope.LEAD)
    def put(self, request: Request, pair: int) -> SentBack | None:
        """Send it back with a reason. 409 if `version` is not the current one."""
        member, instruction_pair = access.led_pair(self.person, pair)
        sent = sending_back.send_back(pair=instruction_pair, **self.body(), by=member)
        return why_sent_back(sent, member)

    @writes(None, scope=Scope.LEAD, status=204)
    def delete(self, request: Request, pair: int) -> None:
        """Take that back: the version counts again as before."""
        member, instruction_pair = access.led_pair(self.person, pair)
        sending_back.take_back(pair=instruction_pair, by=member)


class StaleAnswers(Resource, tag="Collection"):
    """The answers under the current version of a narrative."""

    @reads(StaleAnswersSerializer, parameters=AskedStaleAnswers)
    def get(self, request: Request, pair: int) -> dict[str, Any]:
        """Describe the answers that become stale when another version becomes current."""
        member, instruction_pair = access.pair(self.person, pair)
        current = instruction_pair.current(self.parameters()["side"])
        return {
            "version": current.version if current else 0,
            "answers": rewriting.stale_answers(current, member),
        }


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


class SentWords(FormBody):
    """The text to get advice on."""

    side = serializers.ChoiceField(choices=SIDES, default=SIDES[0])
    text = serializers.CharField(max_length=MAX_NARRATIVE, allow_blank=True, trim_whitespace=False)
    in_texts = serializers.BooleanField(
        default=False, help_text="Also compare it with the documents' texts."
    )

    class Meta:
        form = NarrativeForm
        fields = ("conditions",)


class SentDraft(FormBody):
    """The draft to store."""

    side = serializers.ChoiceField(choices=SIDES, default=SIDES[0])
    text = serializers.CharField(max_length=MAX_NARRATIVE, allow_blank=True, trim_whitespace=False)
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

    class Meta:
        form = NarrativeForm
        fields = ("conditions", "note", "based_on")


class AskedSide(QueryParameters):
    """The side of the pair."""

    side = serializers.ChoiceField(choices=SIDES, default=SIDES[0])


class AskedRewriteImpact(QueryParameters):
    """Filter of the affected documents."""

    find = serializers.CharField(
        required=False, max_length=MOST_FIND, help_text="Words of the title or the id."
    )
    in_texts = serializers.BooleanField(default=False, help_text="Search the texts too.")


class AtRewriteImpactSerializer(NamedSerializer):
    """A document that was relevant before."""

    candidate = serializers.IntegerField()
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
        here = {"place": str(uuid4()), "turn": int(timezone.now().timestamp() * 1_000)}
        sent = {**here, **self.body()}
        side = sent.pop("side")
        writing = Writing(**sent)
        kept = drafts.save_draft(pair=instruction_pair, side=side, writing=writing, by=member)
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
