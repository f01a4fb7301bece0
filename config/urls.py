"""Where every page is found: each room brings its own."""

from __future__ import annotations

from django.contrib import admin
from django.urls import include, path

urlpatterns = [
    path("", include("annotate.urls")),
    path("", include("audit.urls")),
    path("", include("exporters.urls")),
    path("accounts/", include("django.contrib.auth.urls")),
    path("admin/", admin.site.urls),
]
