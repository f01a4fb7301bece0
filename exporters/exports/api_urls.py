"""API routes of exports and publication settings, under /api/v1/."""

from __future__ import annotations

from django.urls import path

from exporters.exports import api as exports

PROJECT = "projects/<slug:slug>/"
EXPORT = f"{PROJECT}exports/<int:export>/"

urlpatterns = [
    path(f"{PROJECT}exports/", exports.Exports.as_view(), name="api_exports"),
    path(f"{PROJECT}publication/", exports.OnePublication.as_view(), name="api_publication"),
    path(EXPORT, exports.OneExport.as_view(), name="api_export"),
    path(
        f"{EXPORT}cancellation/",
        exports.ExportCancellation.as_view(),
        name="api_export_cancellation",
    ),
    path(f"{EXPORT}files/<path:name>", exports.ExportFile.as_view(), name="api_export_file"),
    path(f"{EXPORT}archive/", exports.ExportArchive.as_view(), name="api_export_archive"),
]
