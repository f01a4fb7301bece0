"""Page routes of attributes and of big tables."""

from __future__ import annotations

from django.urls import path

from annotate.judgments import attribute_pages
from annotate.judgments import views as documents

urlpatterns = [
    path("pairs/<int:pk>/attributes/", attribute_pages.attributes, name="attributes"),
    path("pairs/<int:pk>/documents/<int:candidate_pk>/table/", documents.table, name="table"),
]
