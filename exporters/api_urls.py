"""Where the resources of this room are found, under /api/v1/."""

from __future__ import annotations

from django.urls import path

from exporters.evaluations import api as evaluations
from exporters.exports import api as exports
from exporters.releases import api as releases

PROJECT = "projects/<slug:slug>/"
EXPORT = f"{PROJECT}exports/<int:export>/"
RELEASES = f"{PROJECT}releases/"
RELEASE = f"{RELEASES}<release:release>/"
EVALUATION = f"{PROJECT}evaluations/<int:evaluation>/"
COMPARED = f"{PROJECT}comparisons/<release:before>/<release:after>/"

urlpatterns = [
    path(f"{PROJECT}exports/", exports.Exports.as_view(), name="api_exports"),
    path(EXPORT, exports.OneExport.as_view(), name="api_export"),
    path(
        f"{EXPORT}cancellation/",
        exports.ExportCancellation.as_view(),
        name="api_export_cancellation",
    ),
    path(f"{EXPORT}files/<path:name>", exports.ExportFile.as_view(), name="api_export_file"),
    path(f"{EXPORT}archive/", exports.ExportArchive.as_view(), name="api_export_archive"),
    path(RELEASES, releases.Releases.as_view(), name="api_releases"),
    path(
        f"{PROJECT}release-preview/", releases.ReleasePreview.as_view(), name="api_release_preview"
    ),
    path(RELEASE, releases.OneRelease.as_view(), name="api_release"),
    path(
        f"{RELEASE}cancellation/",
        releases.ReleaseCancellation.as_view(),
        name="api_release_cancellation",
    ),
    path(f"{RELEASE}files/<path:name>", releases.ReleaseFile.as_view(), name="api_release_file"),
    path(COMPARED, releases.ReleasesCompared.as_view(), name="api_releases_compared"),
    path(f"{COMPARED}changes/", releases.ReleaseChanges.as_view(), name="api_release_changes"),
    path(
        f"{COMPARED}changes.csv",
        releases.ReleaseChangesTable.as_view(),
        name="api_release_changes_table",
    ),
    path(f"{PROJECT}evaluations/", evaluations.Evaluations.as_view(), name="api_evaluations"),
    path(EVALUATION, evaluations.OneEvaluation.as_view(), name="api_evaluation"),
    path(
        f"{EVALUATION}cancellation/",
        evaluations.EvaluationCancellation.as_view(),
        name="api_evaluation_cancellation",
    ),
    path(
        f"{EVALUATION}tables/<slug:table>.csv",
        evaluations.EvaluationTable.as_view(),
        name="api_evaluation_table",
    ),
]
