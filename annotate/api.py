"""The first pass for programs: the same access and actions as the pages."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers, status
from rest_framework.exceptions import APIException
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotate import access
from annotate.actions.judging import MAX_NOTE, judge
from annotate.errors import Refused, Stale
from annotate.models import Judgment


class Unprocessable(APIException):
    """An action refused, with its sentence."""

    status_code = status.HTTP_422_UNPROCESSABLE_ENTITY


class Conflict(APIException):
    """What was judged has changed in the meantime, with the sentence that says so."""

    status_code = status.HTTP_409_CONFLICT


class JudgmentSerializer(serializers.Serializer[Judgment]):
    """One's own judgment. The sender makes the UUID, so that sending it twice changes nothing."""

    uuid = serializers.UUIDField()
    narrative = serializers.IntegerField(source="narrative_id", min_value=1)
    candidate = serializers.IntegerField(source="candidate_id", min_value=1)
    relevance = serializers.IntegerField()
    note = serializers.CharField(
        required=False, allow_blank=True, trim_whitespace=False, max_length=MAX_NOTE
    )
    active_ms = serializers.IntegerField(
        required=False, allow_null=True, min_value=0, max_value=86_400_000
    )
    at = serializers.DateTimeField(read_only=True)


class Judgments(APIView):
    """What the reader said of one pair's documents."""

    def get(self, request: Request, pk: int) -> Response:
        """List the reader's own current judgments, under whichever version they were made."""
        member, pair = access.pair(request.user, pk)
        mine = Judgment.objects.current().filter(annotator=member, narrative__pair=pair)
        return Response([JudgmentSerializer(judgment).data for judgment in mine.order_by("pk")])

    def post(self, request: Request, pk: int) -> Response:
        """Judge: 201 with the judgment, also when it was sent before; 409 stale; 422 refused."""
        member, pair = access.pair(request.user, pk)
        sent = JudgmentSerializer(data=request.data)
        sent.is_valid(raise_exception=True)
        said: dict[str, Any] = sent.validated_data
        try:
            judgment = judge(
                narrative=access.narrative(pair, said["narrative_id"]),
                candidate=access.candidate(pair, said["candidate_id"]),
                relevance=said["relevance"],
                note=said.get("note", ""),
                active_ms=said.get("active_ms"),
                uuid=said["uuid"],
                by=member,
            )
        except Stale as stale:
            raise Conflict(str(stale)) from stale
        except Refused as refused:
            raise Unprocessable(str(refused)) from refused
        return Response(JudgmentSerializer(judgment).data, status=status.HTTP_201_CREATED)
