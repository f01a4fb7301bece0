"""Page routes of exports and publication settings."""

from __future__ import annotations

from django.urls import path

from exporters.exports import views as exports

urlpatterns = [
    path("projects/<slug:slug>/exports/", exports.exports, name="exports"),
    path("projects/<slug:slug>/publication/", exports.publication, name="publication"),
    path(
        "projects/<slug:slug>/publication/before/",
        exports.before_publishing,
        name="before_publishing",
    ),
    path("projects/<slug:slug>/exports/<int:pk>/", exports.export, name="export"),
    path("projects/<slug:slug>/exports/<int:pk>/files/<path:name>", exports.file, name="file"),
    path("projects/<slug:slug>/exports/<int:pk>/archive/", exports.archive, name="archive"),
]
