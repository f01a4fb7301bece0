"""Page routes of this app."""

from __future__ import annotations

from django.urls import include, path

from annotate.collection import urls as collection
from annotate.guidelines import urls as guidelines
from annotate.judging import urls as judging
from annotate.judgments import urls as judgments
from annotate.overview import urls as overview
from annotate.people import urls as people
from annotate.pools import urls as pools
from annotate.projects import urls as projects
from annotate.rewriting import urls as rewriting
from annotate.topics import urls as topics

app_name = "annotate"

urlpatterns = [
    *projects.urlpatterns,
    *people.urlpatterns,
    *collection.urlpatterns,
    *judgments.urlpatterns,
    *pools.urlpatterns,
    *topics.urlpatterns,
    *rewriting.urlpatterns,
    *judging.urlpatterns,
    *guidelines.urlpatterns,
    *overview.urlpatterns,
    path("api/v1/", include("annotate.api_urls")),
]
