"""Read-only admin pages of the second pass; only actions change its data."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib import admin
from django.db import models
from django.http import HttpRequest

from audit.checks.models import Check, Sample
from audit.reports.models import AgreementReport
from audit.reviews.models import Decision, Review, Rubric

if TYPE_CHECKING:
    ModelAdmin = admin.ModelAdmin[models.Model]
else:
    ModelAdmin = admin.ModelAdmin


class ReadOnlyAdmin(ModelAdmin):
    """A list and a page of each row, on which nothing can be changed."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False


@admin.register(Rubric)
class RubricAdmin(ReadOnlyAdmin):
    """Rubrics of projects, with the time each was chosen."""

    list_display = ["pk", "project", "name", "title", "created_by", "created_at", "chosen_at"]
    list_select_related = ["project", "created_by"]


@admin.register(Review)
class ReviewAdmin(ReadOnlyAdmin):
    """Reviews, including drafts."""

    list_display = ["pk", "narrative", "auditor", "rubric", "started_at", "submitted_at"]
    list_select_related = ["narrative", "auditor"]


@admin.register(Decision)
class DecisionAdmin(ReadOnlyAdmin):
    """Decisions, including withdrawn ones."""

    list_display = ["pk", "narrative", "outcome", "by", "at", "withdrawn_at"]
    list_select_related = ["narrative", "by"]


@admin.register(AgreementReport)
class AgreementReportAdmin(ReadOnlyAdmin):
    """Agreement reports and the state of their computation."""

    list_display = ["pk", "project", "state", "requested_at", "finished_at", "code_version"]
    list_select_related = ["project"]


@admin.register(Sample)
class SampleAdmin(ReadOnlyAdmin):
    """Samples of claimed labels, with the choices they were drawn by."""

    list_display = ["pk", "project", "name", "kind", "source", "seed", "created_by", "created_at"]
    list_select_related = ["project", "created_by"]
    exclude = ["runs"]


@admin.register(Check)
class CheckAdmin(ReadOnlyAdmin):
    """Checks, including superseded and withdrawn ones."""

    list_display = ["pk", "item", "checker", "place", "relevance", "at", "ended_at"]
    list_select_related = ["item", "checker"]
