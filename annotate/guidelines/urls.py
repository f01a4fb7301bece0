"""Page routes of guidelines."""

from __future__ import annotations

from django.urls import path

from annotate.guidelines import views as guidelines

urlpatterns = [
    path("projects/<slug:slug>/guidelines/", guidelines.guidelines, name="guidelines"),
    path(
        "projects/<slug:slug>/guidelines/<int:version>/rejudge-requests/",
        guidelines.rejudge_older,
        name="guideline_rejudge_requests",
    ),
    path(
        "projects/<slug:slug>/guidelines/<int:version>/rejudge-requests/withdrawal/",
        guidelines.rejudge_requests_withdrawal,
        name="guideline_rejudge_requests_withdrawal",
    ),
]
