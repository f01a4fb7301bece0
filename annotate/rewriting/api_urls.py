"""API routes of rewriting, under /api/v1/."""

from __future__ import annotations

from annotate.rewriting.api import drafts, narratives
from base.api.resource import route

PAIR = "pairs/<int:pair>/"

urlpatterns = [
    route(f"{PAIR}narratives/", narratives.Narratives, "api_narratives"),
    route(f"{PAIR}narratives/<int:narrative>/", narratives.OneNarrative, "api_narrative"),
    route(
        f"{PAIR}narratives/<int:narrative>/current/",
        narratives.CurrentNarrative,
        "api_narrative_current",
    ),
    route(f"{PAIR}sent-back/", narratives.NarrativeSentBack, "api_sent_back"),
    route(f"{PAIR}stale-answers/", narratives.StaleAnswers, "api_stale_answers"),
    route(f"{PAIR}draft/", drafts.MyDraft, "api_draft"),
    route(f"{PAIR}draft/overtaken/<str:which>/", drafts.Overtaken, "api_overtaken"),
    route(f"{PAIR}advice/", drafts.LookAtWords, "api_advice"),
    route(f"{PAIR}rewrite-impact/", drafts.ImpactedDocuments, "api_rewrite_impact"),
]
