"""Page routes of this app."""

from __future__ import annotations

from django.urls import include, path

from audit.checks import urls as checks
from audit.reports import urls as reports
from audit.reviews import urls as reviews
from audit.settling import urls as settling

app_name = "audit"

urlpatterns = [
    *reviews.urlpatterns,
    *checks.urlpatterns,
    *settling.urlpatterns,
    *reports.urlpatterns,
    path("api/v1/", include("audit.api_urls")),
]
