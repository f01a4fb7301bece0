"""API routes of the overview, under /api/v1/."""

from __future__ import annotations

from annotate.overview.api import (
    assignments,
    collection,
    dashboard,
    notices,
    query_people,
    search,
    steps,
)
from base.api.resource import route

PROJECT = "projects/<slug:slug>/"
QUERY = f"{PROJECT}queries/<int:query>/"
PAIR = "pairs/<int:pair>/"

urlpatterns = [
    route(f"{PROJECT}members/<int:member>/pace/", dashboard.MemberPace, "api_member_pace"),
    route("me/notices/", notices.MyNotices, "api_notices"),
    route(f"{PROJECT}steps/", steps.Steps, "api_steps"),
    route(f"{PROJECT}progress/", dashboard.Progress, "api_progress"),
    route(f"{PROJECT}pace/", dashboard.Pace, "api_pace"),
    route(f"{PROJECT}matrix/", dashboard.MatrixPart, "api_matrix"),
    route(f"{PROJECT}flags/", dashboard.ProjectFlags, "api_project_flags"),
    route(f"{PROJECT}search/", search.Search, "api_search"),
    route(f"{PROJECT}queries/", collection.Queries, "api_queries"),
    route(QUERY, collection.OneQuery, "api_query"),
    route(f"{QUERY}people/", query_people.QueryPeople, "api_query_people"),
    route(f"{QUERY}candidates/", collection.Candidates, "api_candidates"),
    route(f"{PROJECT}pairs/", collection.Pairs, "api_pairs"),
    route(f"{PROJECT}assignments/", assignments.Assignments, "api_assignments"),
    route(f"{PROJECT}assignments/<int:assignment>/", assignments.OneAssignment, "api_assignment"),
    route(PAIR, collection.OnePair, "api_pair"),
    route(f"{PAIR}assignments/", assignments.PairAssignments, "api_pair_assignments"),
    route(f"{PAIR}documents/<int:candidate>/", collection.OneDocument, "api_document"),
]
