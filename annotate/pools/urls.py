"""URLs of the pages of pools."""

from __future__ import annotations

from django.urls import path

from annotate.pools.views import missing_texts, pools, removal, replacing, taking_back

PROJECT = "projects/<slug:slug>/"
POOL = f"{PROJECT}pools/<int:pk>/"

urlpatterns = [
    path(f"{PROJECT}pools/", pools.pools, name="pools"),
    path(f"{PROJECT}pools/new/", pools.new_pool, name="new_pool"),
    path(f"{PROJECT}pools/hard-negatives/", pools.hard_negatives, name="hard_negatives"),
    path(POOL, pools.pool, name="pool"),
    path(f"{POOL}documents.csv", pools.documents, name="pool_documents"),
    path(f"{PROJECT}missing-texts/", missing_texts.missing_texts, name="missing_texts"),
    path(
        f"{PROJECT}missing-texts.txt",
        missing_texts.missing_texts_file,
        name="missing_texts_file",
    ),
    path(
        f"{PROJECT}loads/<int:pk>/taking-back/",
        taking_back.taking_back,
        name="load_taking_back",
    ),
    path(f"{PROJECT}removed-candidates/", removal.removed, name="removed_candidates"),
    path(
        f"{PROJECT}queries/<int:pk>/candidates/<int:candidate>/replacement/",
        replacing.replacement,
        name="replacement",
    ),
    path(f"{PROJECT}replacements/", replacing.replacements, name="replacements"),
    path(
        f"{PROJECT}replacements/<int:pk>/undoing/",
        replacing.undoing,
        name="replacement_undoing",
    ),
]
