"""Where the pages of this subject are found."""

from __future__ import annotations

from django.urls import path

from audit.checks import views as checks

urlpatterns = [
    path("projects/<slug:slug>/checks/", checks.checks, name="checks"),
    path("projects/<slug:slug>/checks/new/", checks.new_sample, name="new_sample"),
    path("projects/<slug:slug>/suspects/", checks.suspects, name="suspects"),
    path("samples/<int:pk>/", checks.sample, name="sample"),
    path("samples/<int:pk>/checking/", checks.checking, name="checking"),
    path("samples/<int:pk>/settling/", checks.settling, name="settling"),
    path("labels/<int:pk>/check/", checks.check, name="check"),
    path("labels/<int:pk>/check/withdrawal/", checks.check_withdrawal, name="check_withdrawal"),
    path("labels/<int:pk>/settlement/", checks.settlement, name="settlement"),
]
