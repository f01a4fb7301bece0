"""A person's notices and assignments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.judgments import assignments
from annotate.judgments.completion import WorkLeft, left_in, open_assignments
from annotate.overview.notices import (
    Notice,
    mark_read,
    new_among,
    notices_in,
    projects_with_notices,
    seen_until,
)
from annotate.pairs import access as pairs_access
from annotate.pairs.models import Assignment
from annotate.projects import access
from annotate.projects.models import Membership
from base.api.records import RecordSerializer
from base.api.resource import QueryParameters, RequestBody, Resource, Scope, reads, writes
from base.users import User


class NoticeSerializer(RecordSerializer):
    """One thing that waits for you in a project."""

    project = serializers.CharField(source="project.slug", help_text="The project's slug.")
    new = serializers.BooleanField(help_text="Whether that is after `seen_until`.")

    class Meta:
        record = Notice
        fields = ("project", "kind", "text", "count", "at", "new")


class NoticesSerializer(serializers.Serializer[Any]):
    """Notices of 50 of your projects, newest first."""

    seen_until = serializers.DateTimeField(allow_null=True)
    notices = NoticeSerializer(many=True)
    pages = serializers.IntegerField(help_text="How many pages there are: `?page=2` has others.")


class AskedNotices(QueryParameters):
    """Which page of the notices."""

    page = serializers.IntegerField(
        default=1, min_value=1, help_text="Of 50 projects each, those with a task to do first."
    )


class SentSeen(RequestBody):
    """The time up to which you have read your notices."""

    seen_until = serializers.DateTimeField()


class MyNotices(Resource, tag="You"):
    """Your notices."""

    @reads(NoticesSerializer, parameters=AskedNotices)
    def get(self, request: Request) -> dict[str, Any]:
        """List your notices, those of 50 projects at a time. After the last page there are none."""
        return _notices(self.person, self.parameters()["page"])

    @writes(NoticesSerializer, body=SentSeen, scope=Scope.JUDGE)
    def put(self, request: Request) -> dict[str, Any]:
        """Mark notices as read up to a time. One before the stored time changes nothing.

        Answers with the first page of the notices.
        """
        mark_read(until=self.body()["seen_until"], by=self.person)
        return _notices(self.person, 1)


def _notices(user: User, page: int) -> dict[str, Any]:
    pages, seen = projects_with_notices(user), seen_until(user)
    notices = notices_in(list(pages.page(page))) if page <= pages.num_pages else []
    new = new_among(notices, seen)
    return {
        "seen_until": seen,
        "notices": [{**vars(notice), "new": notice in new} for notice in notices],
        "pages": pages.num_pages,
    }


class AssignmentSerializer(serializers.Serializer[Any]):
    """An assignment: one person does one task on one pair."""

    id = serializers.IntegerField(source="assignment.pk")
    task = serializers.ChoiceField(choices=Assignment.Task.choices, source="assignment.task")
    pair = serializers.IntegerField(source="assignment.pair_id")
    pair_id = serializers.CharField(source="assignment.pair.pair_id")
    taken_at = serializers.DateTimeField(source="assignment.taken_at")
    touched_at = serializers.DateTimeField(
        source="assignment.touched_at",
        allow_null=True,
        help_text="When work began; an untouched assignment is freed after a while.",
    )
    done_at = serializers.DateTimeField(
        source="assignment.done_at",
        allow_null=True,
        help_text="When the work was finished; null also if its answers came from a file.",
    )
    open = serializers.BooleanField(source="is_open", help_text="Whether work is left.")


class TakenSerializer(serializers.Serializer[Any]):
    """The assignment that you got, if any."""

    assignment = AssignmentSerializer(
        allow_null=True, help_text="null: every assignment is taken, or there is nothing to do now."
    )


class SentConfirmation(RequestBody):
    """A lead's confirmation of an assignment that hides figures from them."""

    become_blind = serializers.BooleanField(
        default=False,
        help_text="Leads send true to take an assignment to judge or review: until they have "
        "answered everything in it, they see no agreement, export or release. Otherwise 422.",
    )


class SentTask(SentConfirmation):
    """The task of the assignment."""

    task = serializers.ChoiceField(choices=Assignment.Task.choices)


class AskedAssignments(QueryParameters):
    """Filter of the assignments."""

    task = serializers.ChoiceField(choices=Assignment.Task.choices, required=False)
    open = serializers.BooleanField(
        required=False, default=True, help_text="Only those with work left; false: all."
    )


class Assignments(Resource, tag="Assignments"):
    """Your assignments in one project."""

    @reads(AssignmentSerializer, parameters=AskedAssignments, paged=True)
    def get(self, request: Request, slug: str) -> Response:
        """List your assignments in a project."""
        member = access.member(self.person, slug)
        asked = self.parameters()
        mine = member.assignments.filter(pair__removed_at__isnull=True)
        if asked["open"]:
            mine = mine.filter(pk__in=[assignment.pk for assignment in open_assignments(member)])
        if "task" in asked:
            mine = mine.filter(task=asked["task"])
        return self.page(
            mine.select_related("pair"), prepare=lambda rows: _with_work_left(member, rows)
        )

    @writes(TakenSerializer, body=SentTask, scope=Scope.JUDGE)
    def post(self, request: Request, slug: str) -> dict[str, Any]:
        """Take the next open task of a kind, or get the one you hold and have not begun."""
        member = access.member(self.person, slug)
        taken = assignments.take_next(**self.body(), by=member)
        return {"assignment": None if taken is None else _with_work_left(member, [taken])[0]}


class OneAssignment(Resource, tag="Assignments"):
    """One assignment of a project."""

    @writes(None, status=204, scope=Scope.JUDGE)
    def delete(self, request: Request, slug: str, assignment: int) -> None:
        """Give back an assignment in which nothing was done. A lead may free anyone's."""
        member = access.member(self.person, slug)
        assignments.give_back(assignment=pairs_access.assignment(member, assignment), by=member)


class PairAssignments(Resource, tag="Assignments"):
    """The assignments on one pair."""

    @writes(AssignmentSerializer, body=SentTask, scope=Scope.JUDGE)
    def post(self, request: Request, pair: int) -> WorkLeft:
        """Take an assignment on this pair, or get the one you hold."""
        member, instruction_pair = pairs_access.pair(self.person, pair)
        taken = assignments.take(pair=instruction_pair, **self.body(), by=member)
        return _with_work_left(member, [taken])[0]


def _with_work_left(member: Membership, rows: Sequence[Assignment]) -> list[WorkLeft]:
    left = left_in(member.project, rows)
    return [left[row.pk] for row in rows]
