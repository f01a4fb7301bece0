"""API routes of releases, under /api/v1/."""

from __future__ import annotations

from django.urls import path

from exporters.releases import api as releases

PROJECT = "projects/<slug:slug>/"
RELEASES = f"{PROJECT}releases/"
RELEASE = f"{RELEASES}<release:release>/"
COMPARED = f"{PROJECT}comparisons/<release:before>/<release:after>/"

urlpatterns = [
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
]
