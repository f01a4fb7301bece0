"""API routes of evaluations, under /api/v1/."""

from __future__ import annotations

from django.urls import path

from exporters.evaluations import api as evaluations

PROJECT = "projects/<slug:slug>/"
EVALUATION = f"{PROJECT}evaluations/<int:evaluation>/"

urlpatterns = [
    path(f"{PROJECT}evaluations/", evaluations.Evaluations.as_view(), name="api_evaluations"),
    path(EVALUATION, evaluations.OneEvaluation.as_view(), name="api_evaluation"),
    path(
        f"{EVALUATION}cancellation/",
        evaluations.EvaluationCancellation.as_view(),
        name="api_evaluation_cancellation",
    ),
    path(
        f"{EVALUATION}tables/<slug:table>.csv",
        evaluations.EvaluationTable.as_view(),
        name="api_evaluation_table",
    ),
]
