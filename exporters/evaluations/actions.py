"""Request evaluations of systems by their runs; used by pages, the command and the API."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from annotate.projects.access import refuse_if_archived
from annotate.projects.audit_log import record
from annotate.projects.models import Membership, Project
from base.errors import Refused
from exporters.evaluations import systems
from exporters.evaluations.models import Evaluation
from exporters.evaluations.options import read_options
from exporters.evaluations.systems import System
from exporters.releases.models import Release
from jobs import queue
from jobs.models import Job


def request_evaluation(
    *,
    project: Project,
    measured: Sequence[System],
    release: Release | None = None,
    options: Mapping[str, str] | None = None,
    baseline: str = "",
    by: Membership | None,
    now: datetime | None = None,
) -> Evaluation:
    """Request that systems are measured on a release, or on the current rows; return the row.

    `options`: by measure and name, {"p-mrr.documents": "changed"}. `baseline`: the system that the
    others are compared with; "" for none. If a member requested the same evaluation and it is
    queued or running, it is returned. Refused: a member who is not a lead, an archived project,
    invalid systems or options, a release that is not finished or belongs to another project.
    """
    if by is not None and (not by.leads or by.project_id != project.pk):
        raise Refused(_("Only leads of this project can measure systems."))
    refuse_if_archived(project)
    systems.check_systems(measured, baseline)
    if any(run.project_id != project.pk for one in measured for run in one.runs.values()):
        raise Refused(_("A run of another project cannot be measured here."))
    if release is not None and (
        release.project_id != project.pk or release.state != Release.State.DONE
    ):
        raise Refused(_("There is no such release of this project."))
    given = dict(sorted((options or {}).items()))
    try:
        read_options(given)
    except ValueError as error:
        raise Refused(_("%(what)s.") % {"what": error}) from error
    inputs: dict[str, Any] = {
        "project": project,
        "release": release,
        "systems": systems.as_json(measured),
        "options": given,
        "baseline": baseline,
    }
    with transaction.atomic():
        # Of two concurrent requests, the second waits here and then finds the first.
        Project.objects.select_for_update(no_key=True).get(pk=project.pk)
        under_way = _find_unfinished(inputs)
        if under_way is not None:
            return under_way
        made = Evaluation.objects.create(
            **inputs,
            by=by,
            requested_by=by.user if by else None,
            requested_at=now or timezone.now(),
        )
        if by is not None:
            queue.enqueue(made)
        named = ", ".join(one.name for one in measured)
        record(project=project, what="evaluation.asked", about=made, named=named, by=by, now=now)
    return made


def _find_unfinished(inputs: Mapping[str, Any]) -> Evaluation | None:
    """Return a queued or running evaluation of a member with the same inputs, or None.

    A command computes its own evaluation, which no worker may know of, so it is never returned.
    """
    waiting = Evaluation.objects.filter(
        project=inputs["project"],
        release=inputs["release"],
        state__in=[Job.State.QUEUED, Job.State.RUNNING],
        cancel_requested_at=None,
        by__isnull=False,
    ).order_by("-pk")
    return next(
        (one for one in waiting if all(getattr(one, name) == inputs[name] for name in inputs)), None
    )
