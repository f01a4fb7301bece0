"""The first pass for programs, and for the journal of the judge page: the same access and actions
as the pages.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, NamedTuple

from django.contrib.auth.decorators import login_not_required
from django.db import OperationalError
from django.http import Http404, HttpRequest, JsonResponse
from rest_framework import serializers, status
from rest_framework.exceptions import APIException, NotFound
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotate import access
from annotate.actions.judging import (
    MAX_ACTIVE_MS,
    MAX_NOTE,
    On,
    Said,
    on_number,
    say_flag,
    say_grade,
    withdraw,
)
from annotate.entries import (
    Entry,
    Further,
    SaidFlag,
    SaidGrade,
    SaidUndo,
    Taken,
    Unreadable,
    entries_of,
    read,
    user_of,
    uuid_of,
)
from annotate.errors import NotHere, Refused, Stale
from annotate.models import InstructionPair, Judgment, Membership, User, Verdict
from annotate.pure.evidence import Span

# A hundred entries with long notes; what is larger was not typed.
MAX_BODY = 2_621_440


class Unprocessable(APIException):
    """An action refused, with its sentence."""

    status_code = status.HTTP_422_UNPROCESSABLE_ENTITY


class Conflict(APIException):
    """What was judged has changed in the meantime, with the sentence that says so."""

    status_code = status.HTTP_409_CONFLICT


class SpanSerializer(serializers.Serializer[Any]):
    """Characters of a text, counted in Unicode code points; `end` is not part of it."""

    start = serializers.IntegerField(min_value=0)
    end = serializers.IntegerField(min_value=1)


class JudgmentSerializer(serializers.Serializer[Judgment]):
    """One's own judgment. The sender makes the UUID, so that sending it twice changes nothing."""

    uuid = serializers.UUIDField()
    narrative = serializers.IntegerField(source="narrative_id", min_value=1)
    candidate = serializers.IntegerField(source="candidate_id", min_value=1)
    relevance = serializers.IntegerField()
    note = serializers.CharField(
        required=False, allow_blank=True, trim_whitespace=False, max_length=MAX_NOTE
    )
    evidence = SpanSerializer(many=True, required=False)
    clauses = SpanSerializer(many=True, required=False)
    verdicts = serializers.SerializerMethodField()
    active_ms = serializers.IntegerField(
        required=False, allow_null=True, min_value=0, max_value=MAX_ACTIVE_MS
    )
    pressed = serializers.ChoiceField(
        required=False, allow_blank=True, choices=Judgment.Pressed.choices
    )
    made_at = serializers.DateTimeField(required=False, allow_null=True)
    at = serializers.DateTimeField(read_only=True)

    def get_verdicts(self, judgment: Judgment) -> dict[str, str]:
        """Answers by the key of the condition."""
        return {str(verdict.condition_id): verdict.answer for verdict in judgment.verdicts.all()}


class SentJudgmentSerializer(JudgmentSerializer):
    """A judgment as it is sent."""

    verdicts = serializers.DictField(  # type: ignore[assignment]
        required=False, child=serializers.ChoiceField(choices=Verdict.Answer.choices)
    )

    def validate_verdicts(self, verdicts: dict[str, str]) -> dict[int, str]:
        """Read the keys of the conditions."""
        if not all(key.isascii() and key.isdecimal() and len(key) < 19 for key in verdicts):
            raise serializers.ValidationError("The keys must be those of conditions.")
        return {int(key): answer for key, answer in verdicts.items()}


class Judgments(APIView):
    """What the reader said of one pair's documents."""

    def get(self, request: Request, pk: int) -> Response:
        """List the reader's own current judgments, under whichever version they were made."""
        member, pair = access.pair(request.user, pk)
        mine = Judgment.objects.current().filter(annotator=member, narrative__pair=pair)
        listed = mine.prefetch_related("verdicts").order_by("pk")
        return Response([JudgmentSerializer(judgment).data for judgment in listed])

    def post(self, request: Request, pk: int) -> Response:
        """Judge: 201 with the judgment, also when it was sent before; 409 stale; 422 refused."""
        member, pair = access.pair(request.user, pk)
        sent = SentJudgmentSerializer(data=request.data)
        sent.is_valid(raise_exception=True)
        said: dict[str, Any] = sent.validated_data
        try:
            row = say_grade(
                on=On(pair, said.pop("narrative_id"), said.pop("candidate_id")),
                relevance=said.pop("relevance"),
                evidence=[Span(**span) for span in said.pop("evidence", ())],
                clauses=[Span(**span) for span in said.pop("clauses", ())],
                by=member,
                **said,
            ).row
        except NotHere as not_here:
            raise NotFound(str(not_here)) from not_here
        except Stale as stale:
            raise Conflict(str(stale)) from stale
        except Refused as refused:
            raise Unprocessable(str(refused)) from refused
        assert isinstance(row, Judgment)
        return Response(JudgmentSerializer(row).data, status=status.HTTP_201_CREATED)


class Answer(NamedTuple):
    """What became of one entry of a journal.

    `state`: `saved` (it is in the database; `sentence` may have something to tell all the same),
    `refused` (`sentence` says why; nothing changed) or `foreign` (another person's; nothing
    changed).
    """

    uuid: str | None
    state: str
    at: datetime | None
    sentence: str


@login_not_required
def journal(request: HttpRequest) -> JsonResponse:
    """Take what a page wrote down in the browser: grades, flags, ratings, and what is taken back.

    Entries are saved in the order in which they come, each on its own, and each once however often
    it comes. What was said under a narrative that has a newer version by now is kept under the
    version that was read. 200 with an answer for each entry, in their order; 400 where these are no
    entries, 413 where they are too many bytes, 503 where the database cannot take them now. Who is
    not signed in is told so, and never sent to a page: the browser keeps what was said.
    """
    if not isinstance(request.user, User):
        return _no(401, "Sign in; until then what you said is kept in your browser.")
    if request.method != "POST":
        return _no(405, "What was said is sent with POST.")
    length = request.META.get("CONTENT_LENGTH") or "0"
    if not length.isdecimal() or int(length[:20]) > MAX_BODY:
        return _no(413, f"At most {MAX_BODY:,} bytes are taken at once.")
    known: dict[int, tuple[Membership, InstructionPair]] = {}
    try:
        entries = entries_of(request.body)
        answers = [_answer(entry, request.user, known) for entry in entries]
    except Unreadable as unreadable:
        return _no(400, str(unreadable))
    except OperationalError:
        return _no(503, "The database is busy. Nothing is lost: send it again.")
    return JsonResponse({"answers": [answer._asdict() for answer in answers]})


def _no(code: int, sentence: str) -> JsonResponse:
    return JsonResponse({"detail": sentence}, status=code)


def _answer(
    entry: Any, person: User, known: dict[int, tuple[Membership, InstructionPair]]
) -> Answer:
    """Do what one entry says; `known`: the pairs that were looked up for the entries before."""
    uuid = uuid_of(entry)
    user = user_of(entry)
    if user is not None and user != person.pk:
        return Answer(uuid, "foreign", None, "")
    try:
        said = read(entry)
        if said.pair not in known:
            known[said.pair] = access.pair(person, said.pair)
        member, pair = known[said.pair]
        at, told = _taken(said, member, pair)
    except Refused as refused:
        return Answer(uuid, "refused", None, str(refused))
    except Http404 as missing:
        return Answer(uuid, "refused", None, str(missing))
    return Answer(uuid, "saved", at, told)


def _taken(said: Entry, by: Membership, pair: InstructionPair) -> Taken:
    if isinstance(said, Further):
        return said.say(by=by, pair=pair)
    row, told = _say(said, by, pair)
    return Taken(row.at, told)


def _say(said: SaidGrade | SaidFlag | SaidUndo, by: Membership, pair: InstructionPair) -> Said:
    on = on_number(pair, said.narrative, said.candidate, by)
    if isinstance(said, SaidGrade):
        return say_grade(
            on=on,
            relevance=said.relevance,
            note=said.note,
            evidence=said.evidence,
            clauses=said.clauses,
            verdicts=said.verdicts,
            active_ms=said.active_ms,
            pressed=said.pressed,
            made_at=said.made_at,
            uuid=said.uuid,
            instead_of=said.instead_of,
            late=True,
            by=by,
        )
    if isinstance(said, SaidFlag):
        return say_flag(
            on=on,
            kind=said.flag,
            words=said.words,
            made_at=said.made_at,
            uuid=said.uuid,
            instead_of=said.instead_of,
            late=True,
            by=by,
        )
    return withdraw(uuid=said.undoes, pair=pair, by=by)
