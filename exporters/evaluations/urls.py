"""Page routes of evaluations."""

from __future__ import annotations

from django.urls import path

from exporters.evaluations import views as evaluation

urlpatterns = [
    path("projects/<slug:slug>/evaluations/", evaluation.evaluations, name="evaluations"),
    path("projects/<slug:slug>/evaluations/<int:pk>/", evaluation.evaluation, name="evaluation"),
    path(
        "projects/<slug:slug>/evaluations/<int:pk>/tables/<slug:table>.<slug:kind>",
        evaluation.evaluation_table,
        name="evaluation_table",
    ),
]
