"""URLs of the resources of pools under /api/v1/."""

from __future__ import annotations

from annotate.pools.api import candidates, missing_texts, pools, replacements, taking_back
from base.api.resource import route

PROJECT = "projects/<slug:slug>/"
POOL = f"{PROJECT}pools/<int:pool>/"

urlpatterns = [
    route(f"{PROJECT}loads/<int:load>/taking-back/", taking_back.TakingBack, "api_taking_back"),
    route(f"{PROJECT}pools/", pools.Pools, "api_pools"),
    route(f"{PROJECT}pools/count/", pools.PoolCount, "api_pool_count"),
    route(POOL, pools.OnePool, "api_pool"),
    route(f"{POOL}documents.csv", pools.PoolDocuments, "api_pool_documents"),
    route(f"{PROJECT}missing-texts/", missing_texts.MissingTexts, "api_missing_texts"),
    route(f"{PROJECT}labelled/", pools.LabelledAt, "api_labelled"),
    route(f"{PROJECT}hard-negatives/", pools.HardNegativeSystems, "api_hard_negatives"),
    route(f"{PROJECT}replacements/", replacements.Replacements, "api_replacements"),
    route(
        f"{PROJECT}replacements/preview/",
        replacements.ReplacementPreview,
        "api_replacement_preview",
    ),
    route(
        f"{PROJECT}replacements/<int:replacement>/undoing/",
        replacements.ReplacementUndoing,
        "api_replacement_undoing",
    ),
    route(f"{PROJECT}removed-candidates/", candidates.RemovedCandidates, "api_removed_candidates"),
    route(
        f"{PROJECT}removed-candidates/restoration/",
        candidates.CandidateRestoration,
        "api_candidate_restoration",
    ),
]
