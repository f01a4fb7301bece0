"""API routes of this app, under /api/v1/."""

from __future__ import annotations

from exporters.evaluations import api_urls as evaluations
from exporters.exports import api_urls as exports
from exporters.releases import api_urls as releases

urlpatterns = [
    *exports.urlpatterns,
    *releases.urlpatterns,
    *evaluations.urlpatterns,
]
