"""Fetch the models, runs, calls and machines that a person may see, or raise 404 or 403."""

from __future__ import annotations

from django.db.models import QuerySet

from annotate.projects import access
from annotate.projects.access import Person
from annotate.projects.models import Membership
from audit.model_runs.models import Call, Endpoint, ModelRun
from audit.reports.access import unblinded_lead
from base.requests import row_or_404

BLIND = (
    "You have judging or reviewing left in this project, and this would show what others answered. "
    "Finish it, or release a task that you have not begun, then look here again."
)
BLIND_TO_EARLIER_RELEVANCE = (
    "You have judging or reviewing left in this project, and these examples begin with documents "
    "that were relevant before. Finish it, then look here again."
)


def endpoint(user: Person, slug: str, pk: int) -> tuple[Membership, Endpoint]:
    """Return an endpoint of a project that the person leads."""
    member = access.lead(user, slug)
    endpoints = Endpoint.objects.filter(project=member.project_id).select_related("project")
    return member, row_or_404(endpoints, pk, "There is no such model in this project.")


def model_runs(member: Membership) -> QuerySet[ModelRun]:
    """Return the runs of the member's project."""
    runs = ModelRun.objects.filter(project=member.project_id)
    return runs.select_related("project", "by", "endpoint", "prompt")


def model_run(user: Person, slug: str, pk: int) -> tuple[Membership, ModelRun]:
    """Return a run of a project that the person leads."""
    member = access.lead(user, slug)
    return member, row_or_404(model_runs(member), pk, "There is no such run in this project.")


def calls(user: Person, slug: str, pk: int) -> tuple[Membership, ModelRun, QuerySet[Call]]:
    """Return a run and its calls, for a lead who has nothing to answer: calls show grades."""
    member = unblinded_lead(user, slug)
    run = row_or_404(model_runs(member), pk, "There is no such run in this project.")
    rows = run.calls.select_related("pair__query", "narrative", "candidate__document")
    return member, run, rows.defer("request", "replies", "narrative__text")


def call(user: Person, slug: str, pk: int) -> tuple[Membership, Call]:
    """Return one call with all that was said, for a lead who has nothing to answer."""
    member = unblinded_lead(user, slug)
    rows = Call.objects.filter(run__project=member.project_id).select_related(
        *("run__endpoint", "run__prompt", "pair__query", "narrative", "candidate__document"),
        "cached_from__run",
    )
    return member, row_or_404(rows, pk, "There is no such call in this project.")


def machine(user: Person, slug: str, pk: int) -> tuple[Membership, Membership]:
    """Return a lead who has nothing to answer and a machine of the project, also one whose answers
    were loaded from files.
    """
    member = unblinded_lead(user, slug)
    machines = Membership.objects.select_related("project").filter(
        project=member.project_id, is_machine=True
    )
    return member, row_or_404(machines, pk, "There is no such machine in this project.")
