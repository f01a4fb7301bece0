"""API routes of judging, under /api/v1/."""

from __future__ import annotations

from django.urls import path

from annotate.judging.api import journal, judgments, session

PAIR = "pairs/<int:pair>/"

urlpatterns = [
    path("journal/", journal.journal, name="api_journal"),
    path(f"{PAIR}judging-session/", session.MyJudgingSession.as_view(), name="api_judging_session"),
    path(f"{PAIR}document-views/", session.DocumentViews.as_view(), name="api_document_views"),
    path(f"{PAIR}undo/", session.Undo.as_view(), name="api_undo"),
    path(f"{PAIR}judgments/", judgments.Judgments.as_view(), name="api_judgments"),
    path(f"{PAIR}judgments/<uuid:uuid>/", judgments.OneJudgment.as_view(), name="api_judgment"),
    path(f"{PAIR}flags/", judgments.Flags.as_view(), name="api_flags"),
    path(f"{PAIR}flags/<uuid:uuid>/", judgments.OneFlag.as_view(), name="api_flag"),
]
