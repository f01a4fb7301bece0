"""Addresses of the pages about topics."""

from __future__ import annotations

from django.urls import path

from annotate.topics.views import removal

PROJECT = "projects/<slug:slug>/"

urlpatterns = [
    path(f"{PROJECT}removed-queries/", removal.removed, name="removed_queries"),
]
