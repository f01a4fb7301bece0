"""Where every page is found: each room brings its own."""

from __future__ import annotations

from django.contrib import admin
from django.contrib.auth import views as auth
from django.urls import include, path

from config import views
from config.schema import Schema, schema_page

urlpatterns = [
    path("", include("annotate.urls")),
    path("", include("audit.urls")),
    path("", include("exporters.urls")),
    path("accounts/login/", auth.LoginView.as_view(redirect_authenticated_user=True), name="login"),
    path("accounts/logout/", auth.LogoutView.as_view(), name="logout"),
    path("accounts/password/", auth.PasswordChangeView.as_view(), name="password_change"),
    path(
        "accounts/password/done/",
        auth.PasswordChangeDoneView.as_view(),
        name="password_change_done",
    ),
    path("healthz", views.healthz, name="healthz"),
    path("readyz", views.readyz, name="readyz"),
    path("metrics", views.metrics, name="metrics"),
    path("status/", views.status_page, name="status"),
    path("status/<str:label>/<int:pk>/retry/", views.status_retry, name="status_retry"),
    path("api/v1/schema/", Schema.as_view(), name="api_schema"),
    path("api/v1/", schema_page, name="api_page"),
    path("admin/", admin.site.urls),
]

# For programs a problem in JSON, for people a page.
handler400 = "annotate.api.problems.bad_request"
handler404 = "annotate.api.problems.not_found"
handler500 = "annotate.api.problems.server_error"
