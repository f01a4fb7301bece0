"""API routes of attributes, under /api/v1/."""

from __future__ import annotations

from django.urls import path

from annotate.judgments import api

PAIR = "pairs/<int:pair>/"

urlpatterns = [
    path(f"{PAIR}attributes/", api.Attributes.as_view(), name="api_attributes"),
    path(
        f"{PAIR}attributes/documents/",
        api.DocumentsWithAttributes.as_view(),
        name="api_attribute_documents",
    ),
]
