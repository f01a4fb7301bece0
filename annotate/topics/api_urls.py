"""API addresses of topics, under /api/v1/."""

from __future__ import annotations

from annotate.topics.api import choosing, removal
from base.api.resource import route

PROJECT = "projects/<slug:slug>/"

urlpatterns = [
    route(f"{PROJECT}filters/", removal.Filters, "api_filters"),
    route(f"{PROJECT}topics/", choosing.Topics, "api_topics"),
    route(f"{PROJECT}topics/draw/", choosing.TopicDraw, "api_topic_draw"),
    route(f"{PROJECT}removed-queries/", removal.RemovedQueries, "api_removed_queries"),
    route(
        f"{PROJECT}removed-queries/restoration/", removal.QueryRestoration, "api_query_restoration"
    ),
    route(f"{PROJECT}removed-pairs/", removal.RemovedPairs, "api_removed_pairs"),
    route(f"{PROJECT}removed-pairs/restoration/", removal.PairRestoration, "api_pair_restoration"),
]
