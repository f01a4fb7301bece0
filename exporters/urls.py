"""Page routes of this app."""

from __future__ import annotations

from django.urls import include, path, register_converter
from django.urls.converters import StringConverter

from exporters.evaluations import views as evaluation
from exporters.exports import views as exports
from exporters.releases import views as releases
from exporters.releases.actions import NAME


class ReleaseName(StringConverter):
    """A valid name of a release."""

    regex = NAME.pattern


register_converter(ReleaseName, "release")

app_name = "exporters"

PROJECT = "projects/<slug:slug>/"

urlpatterns = [
    # Exports and publication settings
    path(f"{PROJECT}exports/", exports.exports, name="exports"),
    path(f"{PROJECT}publication/", exports.publication, name="publication"),
    path(f"{PROJECT}publication/before/", exports.before_publishing, name="before_publishing"),
    path(f"{PROJECT}exports/<int:pk>/", exports.export, name="export"),
    path(f"{PROJECT}exports/<int:pk>/files/<path:name>", exports.file, name="file"),
    path(f"{PROJECT}exports/<int:pk>/archive/", exports.archive, name="archive"),
    # Releases
    path(f"{PROJECT}releases/", releases.releases, name="releases"),
    path(f"{PROJECT}releases/new/", releases.new_release, name="new_release"),
    path(f"{PROJECT}releases/<release:release>/", releases.release, name="release"),
    path(
        f"{PROJECT}releases/<release:release>/discarding/",
        releases.release_discarding,
        name="release_discarding",
    ),
    path(
        f"{PROJECT}releases/<release:release>/files/<path:name>",
        releases.release_file,
        name="release_file",
    ),
    path(
        f"{PROJECT}releases/<release:before>/<release:after>/",
        releases.comparison,
        name="comparison",
    ),
    path(
        f"{PROJECT}releases/<release:before>/<release:after>/changes.csv",
        releases.comparison_table,
        name="comparison_table",
    ),
    # Evaluations
    path(f"{PROJECT}evaluations/", evaluation.evaluations, name="evaluations"),
    path(f"{PROJECT}evaluations/<int:pk>/", evaluation.evaluation, name="evaluation"),
    path(
        f"{PROJECT}evaluations/<int:pk>/tables/<slug:table>.<slug:kind>",
        evaluation.evaluation_table,
        name="evaluation_table",
    ),
    path("api/v1/", include("exporters.api_urls")),
]
