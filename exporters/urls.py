"""Where the pages of this room are found."""

from __future__ import annotations

from django.urls import include, path, register_converter
from django.urls.converters import StringConverter

from exporters.evaluations import views as evaluation
from exporters.exports import views as exports
from exporters.releases import views as releases
from exporters.releases.actions import NAME


class ReleaseName(StringConverter):
    """What a release may be called."""

    regex = NAME.pattern


register_converter(ReleaseName, "release")

app_name = "exporters"
urlpatterns = [
    path("projects/<slug:slug>/exports/", exports.exports, name="exports"),
    path("projects/<slug:slug>/exports/<int:pk>/", exports.export, name="export"),
    path(
        "projects/<slug:slug>/exports/<int:pk>/cancellation/",
        exports.cancellation,
        name="export_cancellation",
    ),
    path("projects/<slug:slug>/exports/<int:pk>/files/<path:name>", exports.file, name="file"),
    path("projects/<slug:slug>/exports/<int:pk>/archive/", exports.archive, name="archive"),
    path("projects/<slug:slug>/releases/", releases.releases, name="releases"),
    path("projects/<slug:slug>/releases/new/", releases.new_release, name="new_release"),
    path("projects/<slug:slug>/releases/<release:release>/", releases.release, name="release"),
    path(
        "projects/<slug:slug>/releases/<release:release>/cancellation/",
        releases.release_cancellation,
        name="release_cancellation",
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
    path("projects/<slug:slug>/evaluations/", evaluation.evaluations, name="evaluations"),
    path("projects/<slug:slug>/evaluations/<int:pk>/", evaluation.evaluation, name="evaluation"),
    path(
        "projects/<slug:slug>/evaluations/<int:pk>/cancellation/",
        evaluation.evaluation_cancellation,
        name="evaluation_cancellation",
    ),
    path(
        "projects/<slug:slug>/evaluations/<int:pk>/tables/<slug:table>.<slug:kind>",
        evaluation.evaluation_table,
        name="evaluation_table",
    ),
    path("api/v1/", include("exporters.api_urls")),
]
