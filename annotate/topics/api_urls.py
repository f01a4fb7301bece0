"""API addresses of topics, under /api/v1/."""

from __future__ import annotations

from django.urls import path

from annotate.topics.api import choosing, removal

PROJECT = "projects/<slug:slug>/"

urlpatterns = [
    path(f"{PROJECT}filters/", removal.Filters.as_view(), name="api_filters"),
    path(f"{PROJECT}topics/", choosing.Topics.as_view(), name="api_topics"),
    path(f"{PROJECT}topics/draw/", choosing.TopicDraw.as_view(), name="api_topic_draw"),
    path(
        f"{PROJECT}removed-queries/", removal.RemovedQueries.as_view(), name="api_removed_queries"
    ),
    path(
        f"{PROJECT}removed-queries/restoration/",
        removal.QueryRestoration.as_view(),
        name="api_query_restoration",
    ),
    path(f"{PROJECT}removed-pairs/", removal.RemovedPairs.as_view(), name="api_removed_pairs"),
    path(
        f"{PROJECT}removed-pairs/restoration/",
        removal.PairRestoration.as_view(),
        name="api_pair_restoration",
    ),
]
