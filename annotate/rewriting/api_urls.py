"""API routes of rewriting, under /api/v1/."""

from __future__ import annotations

from django.urls import path

from annotate.rewriting.api import drafts, narratives

PAIR = "pairs/<int:pair>/"

urlpatterns = [
    path(f"{PAIR}narratives/", narratives.Narratives.as_view(), name="api_narratives"),
    path(
        f"{PAIR}narratives/<int:narrative>/",
        narratives.OneNarrative.as_view(),
        name="api_narrative",
    ),
    path(f"{PAIR}draft/", drafts.MyDraft.as_view(), name="api_draft"),
    path(f"{PAIR}draft/overtaken/<str:which>/", drafts.Overtaken.as_view(), name="api_overtaken"),
    path(f"{PAIR}advice/", drafts.LookAtWords.as_view(), name="api_advice"),
    path(f"{PAIR}rewrite-impact/", drafts.ImpactedDocuments.as_view(), name="api_rewrite_impact"),
]
