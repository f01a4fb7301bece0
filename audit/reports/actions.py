"""Request and compute reports of agreement."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.conf import settings

from annotate.projects.access import refuse_if_archived
from annotate.projects.models import Membership, Project
from annotate.projects.project_jobs import request_job
from audit.reports.comparison import comparison_of
from audit.reports.models import AgreementReport
from audit.reports.reliability import agreement_of
from audit.reports.scopes import WHOLE, Scope, stored_scope
from base.errors import Refused
from jobs.runner import Progress, save_result


def request_agreement(
    *, project: Project, by: Membership, scope: Scope = WHOLE, now: datetime | None = None
) -> AgreementReport:
    """Request a report of the agreement in a part of the project, and return it.

    If a report of the same part is waiting or running, that one is returned. Refused: not a lead.
    """
    return _request(AgreementReport(project=project, scope=str(scope)), by, now)


def request_comparison(
    *, project: Project, scope: Scope, against: Scope, by: Membership, now: datetime | None = None
) -> AgreementReport:
    """Request a comparison of the agreement in two parts of the project; see `request_agreement`.

    Also refused: the same part twice, and reviews, which cannot be compared.
    """
    if scope == against:
        raise Refused("Choose two different parts to compare.")
    if scope.criterion or against.criterion:
        raise Refused("Only judgments can be compared, not reviews. Leave the criterion open.")
    report = AgreementReport(project=project, scope=str(scope), compares=True, against=str(against))
    return _request(report, by, now)


def _request(report: AgreementReport, by: Membership, now: datetime | None) -> AgreementReport:
    if not by.leads or by.project_id != report.project_id:
        raise Refused("Only leads of this project can have its agreement computed.")
    refuse_if_archived(by.project)
    parts = [report.scope, report.against] if report.compares else [report.scope]
    return request_job(
        report,
        same=("scope", "compares", "against"),
        by=by,
        named=" ~ ".join(part or report.project.slug for part in parts),
        now=now,
    )


def compute_agreement(report: AgreementReport, progress: Progress) -> None:
    """Compute the figures of a report. This is the work of its job, and may be repeated."""
    how: dict[str, Any] = {"seed": report.seed, "resamples": report.resamples, "progress": progress}
    scope = stored_scope(report.scope)
    figures = (
        comparison_of(report.project, scope, stored_scope(report.against), **how)
        if report.compares
        else agreement_of(report.project, scope=scope, **how)
    )
    save_result(report, figures=figures, sha256=figures["sha256"], code_version=settings.VERSION)
