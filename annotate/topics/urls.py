"""Addresses of the pages about topics."""

from __future__ import annotations

from django.urls import path

from annotate.topics.views import choosing, removal

PROJECT = "projects/<slug:slug>/"

urlpatterns = [
    path(f"{PROJECT}topics/", choosing.topics, name="topics"),
    path(f"{PROJECT}removed-queries/", removal.removed, name="removed_queries"),
    path(
        f"{PROJECT}removed-queries/restoration/",
        removal.query_restoration,
        name="query_restoration",
    ),
    path(f"{PROJECT}queries/removal/", removal.query_removal, name="query_removal"),
    path(f"{PROJECT}removed-pairs/restoration/", removal.pair_restoration, name="pair_restoration"),
    path(f"{PROJECT}pairs/removal/", removal.pair_removal, name="pair_removal"),
]
