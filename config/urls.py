"""Where every page is found: each room brings its own."""

from __future__ import annotations

from allauth.account.decorators import secure_admin_login
from django.contrib import admin
from django.urls import include, path

# One door: the administration has no sign-in of its own, without limits or a second factor.
admin.site.login = secure_admin_login(admin.site.login)  # type: ignore[method-assign]

urlpatterns = [
    path("", include("annotate.urls")),
    path("", include("audit.urls")),
    path("", include("exporters.urls")),
    path("accounts/", include("config.account_urls")),
    path("admin/", admin.site.urls),
]
