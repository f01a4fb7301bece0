"""URLs of the pages of agreement and reports."""

from __future__ import annotations

from django.urls import path

from audit.reports.views import agreement, dashboard

urlpatterns = [
    path("projects/<slug:slug>/differences/", dashboard.differences_page, name="differences"),
    path("projects/<slug:slug>/collection/", dashboard.collection, name="collection"),
    path(
        "projects/<slug:slug>/collection/categories.csv",
        dashboard.categories_table,
        name="categories_table",
    ),
    path("projects/<slug:slug>/agreement/", agreement.agreement, name="agreement"),
    path(
        "projects/<slug:slug>/agreement/machines/",
        agreement.agreement_machines,
        name="agreement_machines",
    ),
    path(
        "projects/<slug:slug>/agreement/comparison/",
        agreement.agreement_comparison,
        name="agreement_comparison",
    ),
    path(
        "projects/<slug:slug>/agreement/units.csv",
        agreement.agreement_units,
        name="agreement_units",
    ),
    path(
        "projects/<slug:slug>/agreement/reports/",
        agreement.agreement_reports,
        name="agreement_reports",
    ),
    path(
        "projects/<slug:slug>/agreement/reports/<int:pk>/",
        agreement.agreement_past,
        name="agreement_past",
    ),
    path(
        "projects/<slug:slug>/agreement/reports/<int:pk>/tables/<slug:table>/",
        agreement.agreement_table,
        name="agreement_table",
    ),
    path(
        "projects/<slug:slug>/agreement/reports/<int:pk>.json",
        agreement.agreement_report,
        name="agreement_report",
    ),
]
