"""Who works on what: seats are taken, and given back while nothing was done in them."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotate import access
from annotate.actions import seats
from annotate.api.frame import Asked, Resource, Scope, Sent, done, reads, writes
from annotate.models import Assignment


class SeatSerializer(serializers.Serializer[Any]):
    """A seat: one person does one task on one pair."""

    id = serializers.IntegerField()
    task = serializers.ChoiceField(choices=Assignment.Task.choices)
    pair = serializers.IntegerField()
    pair_id = serializers.CharField()
    taken_at = serializers.DateTimeField()
    touched_at = serializers.DateTimeField(
        allow_null=True, help_text="When work began; an untouched seat comes back after a while."
    )
    done_at = serializers.DateTimeField(allow_null=True)


class TakenSerializer(serializers.Serializer[Any]):
    """What came of asking for a seat."""

    seat = SeatSerializer(
        allow_null=True, help_text="null: every seat is taken, or there is nothing to do now."
    )


class SentTask(Sent):
    """What is to be done in the seat."""

    task = serializers.ChoiceField(choices=Assignment.Task.choices)


class AskedSeats(Asked):
    """Which seats."""

    task = serializers.ChoiceField(choices=Assignment.Task.choices, required=False)
    open = serializers.BooleanField(
        required=False, default=True, help_text="Only those with work left; else all."
    )


class Seats(Resource):
    """The seats of the person who asks, in one project."""

    tag = "Seats"

    @reads(SeatSerializer, asked=AskedSeats, paged=True)
    def get(self, request: Request, slug: str) -> Response:
        """List your seats in a project."""
        member = access.member(self.person, slug)
        asked = self.asked()
        mine = member.assignments.open() if asked["open"] else member.assignments.all()
        mine = mine.filter(pair__removed_at__isnull=True)
        if "task" in asked:
            mine = mine.filter(task=asked["task"])
        return self.page(mine.select_related("pair"), lambda rows: [_told(row) for row in rows])

    @writes(TakenSerializer, sent=SentTask, scope=Scope.JUDGE)
    def post(self, request: Request, slug: str) -> Response:
        """Take the next open seat of a task; the one you have not begun, if there is one."""
        member = access.member(self.person, slug)
        taken = seats.take_next(task=self.sent()["task"], by=member)
        return Response({"seat": None if taken is None else _told(taken)})


class OneSeat(Resource):
    """One seat of a project."""

    tag = "Seats"

    @writes(None, status=204, scope=Scope.JUDGE)
    def delete(self, request: Request, slug: str, seat: int) -> Response:
        """Give a seat back in which nothing was done. A lead may free anyone's."""
        member = access.member(self.person, slug)
        seats.give_back(seat=access.seat(member, seat), by=member)
        return done()


class PairSeats(Resource):
    """The seats on one pair."""

    tag = "Seats"

    @writes(SeatSerializer, sent=SentTask, scope=Scope.JUDGE)
    def post(self, request: Request, pair: int) -> Response:
        """Take a seat on this very pair; the one you hold, if you do."""
        member, found = access.pair(self.person, pair)
        return Response(_told(seats.take(pair=found, task=self.sent()["task"], by=member)))


def _told(seat: Assignment) -> dict[str, Any]:
    return {
        "id": seat.pk,
        "task": seat.task,
        "pair": seat.pair_id,
        "pair_id": seat.pair.pair_id,
        "taken_at": seat.taken_at,
        "touched_at": seat.touched_at,
        "done_at": seat.done_at,
    }
