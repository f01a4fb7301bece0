"""API routes of evaluations, under /api/v1/."""

from __future__ import annotations

from base.api.resource import route
from exporters.evaluations import api as evaluations

PROJECT = "projects/<slug:slug>/"
EVALUATION = f"{PROJECT}evaluations/<int:evaluation>/"

urlpatterns = [
    route(f"{PROJECT}evaluations/", evaluations.Evaluations, "api_evaluations"),
    route(EVALUATION, evaluations.OneEvaluation, "api_evaluation"),
    route(
        f"{EVALUATION}tables/<slug:table>.csv", evaluations.EvaluationTable, "api_evaluation_table"
    ),
]
