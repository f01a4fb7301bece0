"""API routes of this app, under /api/v1/."""

from __future__ import annotations

from audit.checks import api_urls as checks
from audit.reports import api_urls as reports
from audit.reviews import api_urls as reviews
from audit.settling import api_urls as settling

urlpatterns = [
    *reviews.urlpatterns,
    *checks.urlpatterns,
    *settling.urlpatterns,
    *reports.urlpatterns,
]
