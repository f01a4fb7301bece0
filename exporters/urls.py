"""Where the pages of this room are found."""

from __future__ import annotations

from django.urls import path

from exporters import views

app_name = "exporters"
urlpatterns = [
    path("projects/<slug:slug>/exports/", views.exports, name="exports"),
    path("projects/<slug:slug>/exports/<int:pk>/", views.export, name="export"),
    path(
        "projects/<slug:slug>/exports/<int:pk>/cancellation/",
        views.cancellation,
        name="export_cancellation",
    ),
    path("projects/<slug:slug>/exports/<int:pk>/files/<path:name>", views.file, name="file"),
    path("projects/<slug:slug>/exports/<int:pk>/archive/", views.archive, name="archive"),
]
