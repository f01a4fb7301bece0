"""Page routes of this app."""

from __future__ import annotations

from django.urls import include, path

from audit.checks import urls as checks
from audit.reports import urls as reports
from audit.reviews import urls as reviews
from audit.settling import urls as settling
from base.routes import group_routes

app_name = "audit"

urlpatterns = group_routes(
    [
        *reviews.urlpatterns,
        *checks.urlpatterns,
        *settling.urlpatterns,
        *reports.urlpatterns,
        path("api/v1/", include("audit.api_urls")),
    ]
)
