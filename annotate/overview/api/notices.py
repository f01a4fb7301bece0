"""Notices of what waits for the signed-in person."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request

from annotate.overview.notices import Notice, mark_read, new_among, notices_of, seen_until
from base.api.records import RecordSerializer
from base.api.resource import RequestBody, Resource, Scope, reads, writes
from base.users import User


class NoticeSerializer(RecordSerializer):
    """One thing that waits for you in a project."""

    project = serializers.CharField(source="project.slug", help_text="The project's slug.")
    new = serializers.BooleanField(help_text="Whether that is after `seen_until`.")

    class Meta:
        record = Notice
        fields = ("project", "kind", "text", "count", "at", "new")


class NoticesSerializer(serializers.Serializer[Any]):
    """Your notices, newest first."""

    seen_until = serializers.DateTimeField(allow_null=True)
    notices = NoticeSerializer(many=True)


class SentSeen(RequestBody):
    """The time up to which you have read your notices."""

    seen_until = serializers.DateTimeField()


class MyNotices(Resource, tag="You"):
    """Your notices."""

    @reads(NoticesSerializer)
    def get(self, request: Request) -> dict[str, Any]:
        """List your notices."""
        return _notices(self.person)

    @writes(NoticesSerializer, body=SentSeen, scope=Scope.JUDGE)
    def put(self, request: Request) -> dict[str, Any]:
        """Mark notices as read up to a time. One before the stored time changes nothing."""
        mark_read(until=self.body()["seen_until"], by=self.person)
        return _notices(self.person)


def _notices(user: User) -> dict[str, Any]:
    notices, seen = notices_of(user), seen_until(user)
    new = new_among(notices, seen)
    return {
        "seen_until": seen,
        "notices": [{**vars(notice), "new": notice in new} for notice in notices],
    }
