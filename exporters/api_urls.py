"""API routes of this app, under /api/v1/."""

from __future__ import annotations

from base.routes import in_a_tree
from exporters.evaluations import api_urls as evaluations
from exporters.exports import api_urls as exports
from exporters.releases import api_urls as releases

urlpatterns = in_a_tree(
    [
        *exports.urlpatterns,
        *releases.urlpatterns,
        *evaluations.urlpatterns,
    ]
)
