"""Pausing a project, and its due date, in the API."""

from __future__ import annotations

from rest_framework import serializers
from rest_framework.request import Request

from annotate.projects import access, schedule
from annotate.projects.api.projects import ProjectSerializer
from annotate.projects.models import Membership
from base.api.resource import RequestBody, Resource, Scope, writes


class SentDueDate(RequestBody):
    """The due date of a project."""

    due_on = serializers.DateField(allow_null=True, help_text="null: no due date.")


class Pause(Resource, tag="Projects"):
    """Whether a project is paused."""

    @writes(ProjectSerializer, scope=Scope.LEAD)
    def put(self, request: Request, slug: str) -> Membership:
        """Pause a project: no new tasks are given out. What people still save counts."""
        schedule.pause(by=access.lead(self.person, slug))
        return access.member(self.person, slug)

    @writes(ProjectSerializer, scope=Scope.LEAD)
    def delete(self, request: Request, slug: str) -> Membership:
        """Resume a project: tasks are given out again."""
        schedule.resume(by=access.lead(self.person, slug))
        return access.member(self.person, slug)


class DueDate(Resource, tag="Projects"):
    """The due date of a project."""

    @writes(ProjectSerializer, body=SentDueDate, scope=Scope.LEAD)
    def put(self, request: Request, slug: str) -> Membership:
        """Set or remove the due date."""
        by = access.lead(self.person, slug)
        schedule.set_due_date(due_on=self.body()["due_on"], by=by)
        return access.member(self.person, slug)
