"""API routes of the overview, under /api/v1/."""

from __future__ import annotations

from django.urls import path

from annotate.overview.api import assignments, collection, dashboard, notices, query_people, steps

PROJECT = "projects/<slug:slug>/"
QUERY = f"{PROJECT}queries/<int:query>/"
PAIR = "pairs/<int:pair>/"

urlpatterns = [
    path(
        f"{PROJECT}members/<int:member>/pace/",
        dashboard.MemberPace.as_view(),
        name="api_member_pace",
    ),
    path("me/notices/", notices.MyNotices.as_view(), name="api_notices"),
    path(f"{PROJECT}steps/", steps.Steps.as_view(), name="api_steps"),
    path(f"{PROJECT}progress/", dashboard.Progress.as_view(), name="api_progress"),
    path(f"{PROJECT}pace/", dashboard.Pace.as_view(), name="api_pace"),
    path(f"{PROJECT}matrix/", dashboard.MatrixPart.as_view(), name="api_matrix"),
    path(f"{PROJECT}flags/", dashboard.ProjectFlags.as_view(), name="api_project_flags"),
    path(f"{PROJECT}queries/", collection.Queries.as_view(), name="api_queries"),
    path(QUERY, collection.OneQuery.as_view(), name="api_query"),
    path(f"{QUERY}people/", query_people.QueryPeople.as_view(), name="api_query_people"),
    path(f"{QUERY}candidates/", collection.Candidates.as_view(), name="api_candidates"),
    path(f"{PROJECT}pairs/", collection.Pairs.as_view(), name="api_pairs"),
    path(f"{PROJECT}assignments/", assignments.Assignments.as_view(), name="api_assignments"),
    path(
        f"{PROJECT}assignments/<int:assignment>/",
        assignments.OneAssignment.as_view(),
        name="api_assignment",
    ),
    path(PAIR, collection.OnePair.as_view(), name="api_pair"),
    path(f"{PAIR}assignments/", assignments.PairAssignments.as_view(), name="api_pair_assignments"),
    path(
        f"{PAIR}documents/<int:candidate>/", collection.OneDocument.as_view(), name="api_document"
    ),
]
