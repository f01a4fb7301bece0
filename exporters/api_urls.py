"""API routes of this app, under /api/v1/."""

from __future__ import annotations

from base.api.resource import route
from exporters.evaluations import api as evaluations
from exporters.exports import api as exports
from exporters.releases import api as releases

PROJECT = "projects/<slug:slug>/"
EXPORT = f"{PROJECT}exports/<int:export>/"
RELEASES = f"{PROJECT}releases/"
RELEASE = f"{RELEASES}<release:release>/"
COMPARED = f"{PROJECT}comparisons/<release:before>/<release:after>/"
EVALUATION = f"{PROJECT}evaluations/<int:evaluation>/"

urlpatterns = [
    # Exports and publication settings
    route(f"{PROJECT}exports/", exports.Exports, "api_exports"),
    route(f"{PROJECT}publication/", exports.OnePublication, "api_publication"),
    route(EXPORT, exports.OneExport, "api_export"),
    route(f"{EXPORT}files/<path:name>", exports.ExportFile, "api_export_file"),
    route(f"{EXPORT}archive/", exports.ExportArchive, "api_export_archive"),
    # Releases
    route(RELEASES, releases.Releases, "api_releases"),
    route(f"{PROJECT}release-preview/", releases.ReleasePreview, "api_release_preview"),
    route(RELEASE, releases.OneRelease, "api_release"),
    route(f"{RELEASE}files/<path:name>", releases.ReleaseFile, "api_release_file"),
    route(COMPARED, releases.ReleasesCompared, "api_releases_compared"),
    route(f"{COMPARED}changes/", releases.ReleaseChanges, "api_release_changes"),
    route(f"{COMPARED}changes.csv", releases.ReleaseChangesTable, "api_release_changes_table"),
    # Evaluations
    route(f"{PROJECT}evaluations/", evaluations.Evaluations, "api_evaluations"),
    route(EVALUATION, evaluations.OneEvaluation, "api_evaluation"),
    route(
        f"{EVALUATION}tables/<slug:table>.csv", evaluations.EvaluationTable, "api_evaluation_table"
    ),
]
