"""API routes of releases, under /api/v1/."""

from __future__ import annotations

from base.api.resource import route
from exporters.releases import api as releases

PROJECT = "projects/<slug:slug>/"
RELEASES = f"{PROJECT}releases/"
RELEASE = f"{RELEASES}<release:release>/"
COMPARED = f"{PROJECT}comparisons/<release:before>/<release:after>/"

urlpatterns = [
    route(RELEASES, releases.Releases, "api_releases"),
    route(f"{PROJECT}release-preview/", releases.ReleasePreview, "api_release_preview"),
    route(RELEASE, releases.OneRelease, "api_release"),
    route(f"{RELEASE}files/<path:name>", releases.ReleaseFile, "api_release_file"),
    route(COMPARED, releases.ReleasesCompared, "api_releases_compared"),
    route(f"{COMPARED}changes/", releases.ReleaseChanges, "api_release_changes"),
    route(f"{COMPARED}changes.csv", releases.ReleaseChangesTable, "api_release_changes_table"),
]
