"""API routes of guidelines, under /api/v1/."""

from __future__ import annotations

from annotate.guidelines import api as guidelines
from base.api.resource import route

PROJECT = "projects/<slug:slug>/"
GUIDELINE = f"{PROJECT}guidelines/<int:version>/"

urlpatterns = [
    route(f"{PROJECT}guidelines/", guidelines.Guidelines, "api_guidelines"),
    route(GUIDELINE, guidelines.OneGuideline, "api_guideline"),
    route(
        f"{GUIDELINE}rejudge-requests/",
        guidelines.OlderJudgments,
        "api_rejudge_requests_of_guideline",
    ),
]
