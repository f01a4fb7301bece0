"""API routes of attributes, under /api/v1/."""

from __future__ import annotations

from annotate.judgments import api
from base.api.resource import route

PAIR = "pairs/<int:pair>/"

urlpatterns = [
    route(f"{PAIR}attributes/", api.Attributes, "api_attributes"),
    route(f"{PAIR}attributes/documents/", api.DocumentsWithAttributes, "api_attribute_documents"),
]
