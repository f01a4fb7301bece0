"""API routes of exports and publication settings, under /api/v1/."""

from __future__ import annotations

from base.api.resource import route
from exporters.exports import api as exports

PROJECT = "projects/<slug:slug>/"
EXPORT = f"{PROJECT}exports/<int:export>/"

urlpatterns = [
    route(f"{PROJECT}exports/", exports.Exports, "api_exports"),
    route(f"{PROJECT}publication/", exports.OnePublication, "api_publication"),
    route(EXPORT, exports.OneExport, "api_export"),
    route(f"{EXPORT}files/<path:name>", exports.ExportFile, "api_export_file"),
    route(f"{EXPORT}archive/", exports.ExportArchive, "api_export_archive"),
]
