"""Page routes of this app."""

from __future__ import annotations

from django.urls import include, path

from exporters.evaluations import urls as evaluations
from exporters.exports import urls as exports
from exporters.releases import urls as releases

app_name = "exporters"

urlpatterns = [
    *exports.urlpatterns,
    *releases.urlpatterns,
    *evaluations.urlpatterns,
    path("api/v1/", include("exporters.api_urls")),
]
