"""URLs of the collection's resources under /api/v1/."""

from __future__ import annotations

from annotate.collection.api import loads, passages
from base.api.resource import route

PROJECT = "projects/<slug:slug>/"
BATCH = f"{PROJECT}loads/<uuid:batch>/"
LOAD = f"{PROJECT}loads/<int:load>/"

urlpatterns = [
    route(f"{PROJECT}passages/", passages.Passages, "api_passages"),
    route("formats/", loads.Formats, "api_formats"),
    route(f"{PROJECT}loads/", loads.Loads, "api_loads"),
    route(f"{PROJECT}loads/several/", loads.SeveralLoads, "api_several_loads"),
    route(BATCH, loads.LoadBatch, "api_load_batch"),
    route(f"{BATCH}confirmation/", loads.BatchConfirmation, "api_load_batch_confirmation"),
    route(LOAD, loads.OneLoad, "api_load"),
    route(f"{LOAD}confirmation/", loads.Confirmation, "api_confirmation"),
    route(f"{LOAD}recheck/", loads.Recheck, "api_recheck"),
    route(f"{LOAD}leaving/", loads.Leaving, "api_leaving"),
]
