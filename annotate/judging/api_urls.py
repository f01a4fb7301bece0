"""API routes of judging, under /api/v1/."""

from __future__ import annotations

from django.urls import path

from annotate.judging.api import journal, judgments, session
from base.api.resource import route

PAIR = "pairs/<int:pair>/"

urlpatterns = [
    path("journal/", journal.journal, name="api_journal"),
    route(f"{PAIR}judging-session/", session.MyJudgingSession, "api_judging_session"),
    route(f"{PAIR}document-views/", session.DocumentViews, "api_document_views"),
    route(f"{PAIR}undo/", session.Undo, "api_undo"),
    route(f"{PAIR}judgments/", judgments.Judgments, "api_judgments"),
    route(f"{PAIR}judgments/<uuid:uuid>/", judgments.OneJudgment, "api_judgment"),
    route(f"{PAIR}flags/", judgments.Flags, "api_flags"),
    route(f"{PAIR}flags/<uuid:uuid>/", judgments.OneFlag, "api_flag"),
]
