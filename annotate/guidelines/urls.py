"""Where the pages of this subject are found."""

from __future__ import annotations

from django.urls import path

from annotate.guidelines import views as guidelines

urlpatterns = [
    path("projects/<slug:slug>/guidelines/", guidelines.guidelines, name="guidelines"),
    path(
        "projects/<slug:slug>/guidelines/<int:version>/looks/",
        guidelines.looks,
        name="guideline_looks",
    ),
    path(
        "projects/<slug:slug>/guidelines/<int:version>/looks/withdrawal/",
        guidelines.looks_withdrawal,
        name="guideline_looks_withdrawal",
    ),
]
