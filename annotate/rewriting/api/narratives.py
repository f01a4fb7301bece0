"""Narratives of a pair: read them, add a version."""

from __future__ import annotations

from typing import Any

from django.http import Http404
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.pairs import access as pairs_access
from annotate.pairs.api.shapes import ConditionSerializer, NarrativeSerializer
from annotate.pairs.models import Narrative
from annotate.rewriting import actions as rewriting
from annotate.rewriting import sending_back, versions
from annotate.rewriting.drafts import MAX_CONDITIONS
from annotate.rewriting.forms import MAX_CONFIRMED, NarrativeForm
from annotate.rewriting.sent_back import SentBack, why_sent_back
from base.api.bodies import FormBody
from base.api.resource import QueryParameters, RequestBody, Resource, Scope, reads, writes


class FullNarrativeSerializer(NarrativeSerializer):
    """A version of a narrative."""

    text = serializers.CharField()
    conditions = ConditionSerializer(many=True, source="ordered_conditions")


class AskedNarratives(QueryParameters):
    """Filter of the versions."""

    side = serializers.ChoiceField(choices=Narrative.Side.choices, required=False)


class SentNarrative(FormBody):
    """The next version of a narrative."""

    side = serializers.ChoiceField(
        choices=[Narrative.Side.ALTERED.value, Narrative.Side.REVERSED.value],
        default=Narrative.Side.ALTERED.value,
    )
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
        help_text="For example “24 judgments, 3 settlements”; empty: none, or you may not know.",
    )


class SentReturn(RequestBody):
    """The confirmation of going back to a version."""

    confirmed = serializers.CharField(
        max_length=MAX_CONFIRMED,
        allow_blank=True,
        default="",
        help_text="The answers that become stale, as `GET .../stale-answers/` describes them.",
    )


class Narratives(Resource, tag="Collection"):
    """The versions of a pair's narratives."""

    @reads(NarrativeSerializer, parameters=AskedNarratives, paged=True)
    def get(self, request: Request, pair: int) -> Response:
        """List the versions, without their text."""
        _member, instruction_pair = pairs_access.pair(self.person, pair)
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
        member, instruction_pair = pairs_access.pair(self.person, pair)
        return rewriting.rewrite_narrative(pair=instruction_pair, **self.body(), by=member)


class OneNarrative(Resource, tag="Collection"):
    """One version of a narrative."""

    @reads(FullNarrativeSerializer)
    def get(self, request: Request, pair: int, narrative: int) -> Narrative:
        """Read a version with its text and conditions."""
        _member, instruction_pair = pairs_access.pair(self.person, pair)
        return pairs_access.narrative(instruction_pair, narrative)


class CurrentNarrative(Resource, tag="Collection"):
    """A version as the current one of its side."""

    @writes(FullNarrativeSerializer, body=SentReturn, scope=Scope.LEAD)
    def put(self, request: Request, pair: int, narrative: int) -> Narrative:
        """Go back to a version: later ones are withdrawn, and its answers count again."""
        member, instruction_pair = pairs_access.led_pair(self.person, pair)
        version = pairs_access.narrative(instruction_pair, narrative)
        return versions.go_back(narrative=version, **self.body(), by=member)


class NarrativeSentBack(Resource, tag="Collection"):
    """That the altered narrative of a pair was sent back to its writer."""

    @reads(SentBack)
    def get(self, request: Request, pair: int) -> SentBack:
        """Read why it was sent back. 404 if it is not, or if you may not know why."""
        member, instruction_pair = pairs_access.pair(self.person, pair)
        if (sent_back := why_sent_back(instruction_pair, member)) is None:
            raise Http404("This narrative is not sent back.")
        return sent_back

    @writes(SentBack, body=sending_back.SendBackForm, scope=Scope.LEAD)
    def put(self, request: Request, pair: int) -> SentBack | None:
        """Send it back with a reason. 409 if `version` is not the current one."""
        member, instruction_pair = pairs_access.led_pair(self.person, pair)
        sent = sending_back.send_back(pair=instruction_pair, **self.body(), by=member)
        return why_sent_back(sent, member)

    @writes(None, scope=Scope.LEAD, status=204)
    def delete(self, request: Request, pair: int) -> None:
        """Take that back: the version counts again as before."""
        member, instruction_pair = pairs_access.led_pair(self.person, pair)
        sending_back.take_back(pair=instruction_pair, by=member)


class StaleAnswers(Resource, tag="Collection"):
    """The answers under the current version of a narrative."""

    @reads(StaleAnswersSerializer, parameters=AskedStaleAnswers)
    def get(self, request: Request, pair: int) -> dict[str, Any]:
        """Describe the answers that become stale when another version becomes current."""
        member, instruction_pair = pairs_access.pair(self.person, pair)
        current = instruction_pair.current(self.parameters()["side"])
        return {
            "version": current.version if current else 0,
            "answers": versions.stale_answers(current, member),
        }
