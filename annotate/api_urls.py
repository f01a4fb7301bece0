"""API routes of this app, under /api/v1/."""

from __future__ import annotations

from annotate.collection import api_urls as collection
from annotate.guidelines import api_urls as guidelines
from annotate.judging import api_urls as judging
from annotate.judgments import api_urls as judgments
from annotate.overview import api_urls as overview
from annotate.people import api_urls as people
from annotate.pools import api_urls as pools
from annotate.projects import api_urls as projects
from annotate.rewriting import api_urls as rewriting
from annotate.topics import api_urls as topics

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
]
