"""Page routes of releases."""

from __future__ import annotations

from django.urls import path, register_converter
from django.urls.converters import StringConverter

from exporters.releases import views as releases
from exporters.releases.actions import NAME


class ReleaseName(StringConverter):
    """A valid name of a release."""

    regex = NAME.pattern


register_converter(ReleaseName, "release")


urlpatterns = [
    path("projects/<slug:slug>/releases/", releases.releases, name="releases"),
    path("projects/<slug:slug>/releases/new/", releases.new_release, name="new_release"),
    path("projects/<slug:slug>/releases/<release:release>/", releases.release, name="release"),
    path(
        "projects/<slug:slug>/releases/<release:release>/discarding/",
        releases.release_discarding,
        name="release_discarding",
    ),
    path(
        "projects/<slug:slug>/releases/<release:release>/files/<path:name>",
        releases.release_file,
        name="release_file",
    ),
    path(
        "projects/<slug:slug>/releases/<release:before>/<release:after>/",
        releases.comparison,
        name="comparison",
    ),
    path(
        "projects/<slug:slug>/releases/<release:before>/<release:after>/changes.csv",
        releases.comparison_table,
        name="comparison_table",
    ),
]
