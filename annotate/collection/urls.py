"""URLs of the collection's pages."""

from __future__ import annotations

from django.urls import path

from annotate.collection.views import loads, passages

urlpatterns = [
    path("projects/<slug:slug>/passages/", passages.passages, name="passages"),
    path("projects/<slug:slug>/loads/", loads.loads, name="loads"),
    path("projects/<slug:slug>/loads/<uuid:batch>/", loads.load_batch, name="load_batch"),
    path(
        "projects/<slug:slug>/loads/<uuid:batch>/confirmation/",
        loads.batch_confirmation,
        name="load_batch_confirmation",
    ),
    path("projects/<slug:slug>/loads/<int:pk>/", loads.load, name="load"),
    path(
        "projects/<slug:slug>/loads/<int:pk>/confirmation/",
        loads.confirmation,
        name="load_confirmation",
    ),
    path("projects/<slug:slug>/loads/<int:pk>/recheck/", loads.recheck, name="load_recheck"),
    path("projects/<slug:slug>/loads/<int:pk>/leaving/", loads.leaving, name="load_leaving"),
]
