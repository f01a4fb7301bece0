"""URLs of the collection's resources under /api/v1/."""

from __future__ import annotations

from django.urls import path

from annotate.collection.api import loads, passages

PROJECT = "projects/<slug:slug>/"
LOAD = f"{PROJECT}loads/<int:load>/"

urlpatterns = [
    path(f"{PROJECT}passages/", passages.Passages.as_view(), name="api_passages"),
    path("formats/", loads.Formats.as_view(), name="api_formats"),
    path(f"{PROJECT}loads/", loads.Loads.as_view(), name="api_loads"),
    path(LOAD, loads.OneLoad.as_view(), name="api_load"),
    path(f"{LOAD}confirmation/", loads.Confirmation.as_view(), name="api_confirmation"),
    path(f"{LOAD}cancellation/", loads.Cancellation.as_view(), name="api_cancellation"),
    path(f"{LOAD}recheck/", loads.Recheck.as_view(), name="api_recheck"),
    path(f"{LOAD}leaving/", loads.Leaving.as_view(), name="api_leaving"),
]
