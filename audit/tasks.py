"""What workers do for the second pass."""

from __future__ import annotations

from celery import shared_task

from audit.models import AgreementReport
from audit.reviews import actions
from jobs.runner import run


@shared_task(name=AgreementReport.task)
def agreement(pk: int) -> None:
    """Compute one report."""
    run(AgreementReport, pk, actions.compute_agreement)
