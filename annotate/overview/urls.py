"""Page routes of the overview."""

from __future__ import annotations

from django.urls import path

from annotate.overview.views import dashboard, home, notices, query_people, removal, search
from annotate.overview.views import project as projects

urlpatterns = [
    path("", home.home, name="home"),
    path("notices/", notices.notices, name="notices"),
    path("projects/<slug:slug>/", projects.project, name="project"),
    path("projects/<slug:slug>/assignments/", home.assignment, name="assignment"),
    path(
        "projects/<slug:slug>/assignments/<int:pk>/leaving/",
        home.give_back_assignment,
        name="give_back_assignment",
    ),
    path("projects/<slug:slug>/queries/", projects.queries, name="queries"),
    path("projects/<slug:slug>/topics/", projects.topics, name="topics"),
    path("projects/<slug:slug>/queries/<int:pk>/", projects.query, name="query"),
    path(
        "projects/<slug:slug>/queries/<int:pk>/people/",
        query_people.query_people,
        name="query_people",
    ),
    path("projects/<slug:slug>/taken-out/<str:kind>/", removal.removal, name="removal"),
    path(
        "projects/<slug:slug>/taken-out/<str:kind>/restoration/",
        removal.restoration,
        name="restoration",
    ),
    path("projects/<slug:slug>/search/", search.search_project, name="search"),
    path("projects/<slug:slug>/progress/", dashboard.progress, name="progress"),
    path("projects/<slug:slug>/matrix/", dashboard.matrix, name="matrix"),
    path("projects/<slug:slug>/flags/", dashboard.flags, name="flags"),
    path("projects/<slug:slug>/people/<int:pk>/", dashboard.person, name="person"),
    path("pairs/<int:pk>/assignments/", home.pair_assignment, name="pair_assignment"),
]
