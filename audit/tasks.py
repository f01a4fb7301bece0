"""Background tasks of the second pass."""

from __future__ import annotations

from celery import shared_task

from audit.reports import actions
from audit.reports.models import AgreementReport
from jobs.runner import run


@shared_task(name=AgreementReport.task)
def agreement(pk: int) -> None:
    """Compute one agreement report."""
    run(AgreementReport, pk, actions.compute_agreement)
