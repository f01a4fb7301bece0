"""URLs of the report resources, under /api/v1/."""

from __future__ import annotations

from audit.reports import api as agreement
from audit.reports import rules_api
from base.api.resource import route

PROJECT = "projects/<slug:slug>/"
REPORT = f"{PROJECT}agreement/reports/<int:report>/"

urlpatterns = [
    route(f"{PROJECT}agreement/reports/", agreement.AgreementReports, "api_reports"),
    route(f"{PROJECT}agreement/comparisons/", agreement.AgreementComparisons, "api_comparisons"),
    route(REPORT, agreement.OneAgreementReport, "api_report"),
    route(f"{PROJECT}agreement/units/", agreement.AgreementUnits, "api_units"),
    route(f"{PROJECT}rules/", rules_api.Rules, "api_rules"),
    route(f"{PROJECT}differences/", agreement.Differences, "api_differences"),
    route(f"{PROJECT}categories/figures/", agreement.FiguresOfCategories, "api_category_figures"),
    route(f"{PROJECT}coverage/", agreement.Coverage, "api_coverage"),
]
