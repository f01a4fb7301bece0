"""URLs of the report resources, under /api/v1/."""

from __future__ import annotations

from django.urls import path

from audit.reports import api as agreement
from audit.reports import rules_api

PROJECT = "projects/<slug:slug>/"
REPORT = f"{PROJECT}agreement/reports/<int:report>/"

urlpatterns = [
    path(f"{PROJECT}agreement/reports/", agreement.AgreementReports.as_view(), name="api_reports"),
    path(
        f"{PROJECT}agreement/comparisons/",
        agreement.AgreementComparisons.as_view(),
        name="api_comparisons",
    ),
    path(REPORT, agreement.OneAgreementReport.as_view(), name="api_report"),
    path(
        f"{REPORT}cancellation/",
        agreement.AgreementCancellation.as_view(),
        name="api_report_cancellation",
    ),
    path(f"{PROJECT}agreement/units/", agreement.AgreementUnits.as_view(), name="api_units"),
    path(f"{PROJECT}rules/", rules_api.Rules.as_view(), name="api_rules"),
    path(f"{PROJECT}differences/", agreement.Differences.as_view(), name="api_differences"),
    path(
        f"{PROJECT}categories/figures/",
        agreement.FiguresOfCategories.as_view(),
        name="api_category_figures",
    ),
    path(f"{PROJECT}coverage/", agreement.Coverage.as_view(), name="api_coverage"),
]
