"""URLs of the resources of pools under /api/v1/."""

from __future__ import annotations

from django.urls import path

from annotate.pools.api import candidates, pools, replacements

PROJECT = "projects/<slug:slug>/"
POOL = f"{PROJECT}pools/<int:pool>/"

urlpatterns = [
    path(f"{PROJECT}pools/", pools.Pools.as_view(), name="api_pools"),
    path(f"{PROJECT}pools/count/", pools.PoolCount.as_view(), name="api_pool_count"),
    path(POOL, pools.OnePool.as_view(), name="api_pool"),
    path(f"{POOL}cancellation/", pools.PoolCancellation.as_view(), name="api_pool_cancellation"),
    path(f"{POOL}documents.csv", pools.PoolDocuments.as_view(), name="api_pool_documents"),
    path(f"{PROJECT}judged/", pools.JudgedAt.as_view(), name="api_judged"),
    path(
        f"{PROJECT}hard-negatives/", pools.HardNegativeSystems.as_view(), name="api_hard_negatives"
    ),
    path(
        f"{PROJECT}replacements/",
        replacements.Replacements.as_view(),
        name="api_replacements",
    ),
    path(
        f"{PROJECT}replacements/preview/",
        replacements.ReplacementPreview.as_view(),
        name="api_replacement_preview",
    ),
    path(
        f"{PROJECT}replacements/<int:replacement>/undoing/",
        replacements.ReplacementUndoing.as_view(),
        name="api_replacement_undoing",
    ),
    path(
        f"{PROJECT}removed-candidates/",
        candidates.RemovedCandidates.as_view(),
        name="api_removed_candidates",
    ),
    path(
        f"{PROJECT}removed-candidates/restoration/",
        candidates.CandidateRestoration.as_view(),
        name="api_candidate_restoration",
    ),
]
