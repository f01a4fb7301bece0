"""API routes of guidelines, under /api/v1/."""

from __future__ import annotations

from django.urls import path

from annotate.guidelines import api as guidelines

PROJECT = "projects/<slug:slug>/"
GUIDELINE = f"{PROJECT}guidelines/<int:version>/"

urlpatterns = [
    path(f"{PROJECT}guidelines/", guidelines.Guidelines.as_view(), name="api_guidelines"),
    path(GUIDELINE, guidelines.OneGuideline.as_view(), name="api_guideline"),
    path(
        f"{GUIDELINE}rejudge-requests/",
        guidelines.OlderJudgments.as_view(),
        name="api_rejudge_requests_of_guideline",
    ),
]
