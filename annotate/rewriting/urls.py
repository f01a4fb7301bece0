"""Page routes of rewriting."""

from __future__ import annotations

from django.urls import path

from annotate.rewriting import views as rewriting

urlpatterns = [
    path("pairs/<int:pk>/narrative/", rewriting.rewrite, name="rewrite"),
    path("pairs/<int:pk>/draft/", rewriting.draft, name="draft"),
    path("pairs/<int:pk>/advice/", rewriting.advice, name="advice"),
    path("pairs/<int:pk>/narratives/<int:narrative>/", rewriting.narrative, name="narrative"),
    path(
        "pairs/<int:pk>/narratives/<int:narrative>/current/",
        rewriting.make_current,
        name="narrative_current",
    ),
    path("pairs/<int:pk>/sent-back/", rewriting.send_back, name="send_back"),
    path("pairs/<int:pk>/sent-back/withdrawal/", rewriting.take_back, name="take_back"),
    path("pairs/<int:pk>/documents/<int:candidate_pk>/", rewriting.document, name="document"),
]
