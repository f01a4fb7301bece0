"""Request evaluations of systems by their runs; used by pages, the command and the API."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from annotate.projects.access import refuse_if_archived
from annotate.projects.models import Membership, Project
from annotate.projects.project_jobs import request_job
from base.errors import Refused
from base.extras import missing_extra
from exporters.evaluations import systems
from exporters.evaluations.models import Evaluation
from exporters.evaluations.options import read_options
from exporters.evaluations.systems import System
from exporters.releases.models import Release


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
    invalid systems or options, a machine that the project does not have, a release that is not
    finished or belongs to another project; any request where ir_measures is not installed.
    """
    if by is not None and (not by.leads or by.project_id != project.pk):
        raise Refused("Only leads of this project can measure systems.")
    refuse_if_archived(project)
    if sentence := missing_extra("evaluation", "Measuring systems"):
        raise Refused(sentence)
    systems.check_systems(measured, baseline)
    if any(run.project_id != project.pk for system in measured for run in system.runs.values()):
        raise Refused("A run of another project cannot be measured here.")
    if release is not None and (
        release.project_id != project.pk or release.state != Release.State.DONE
    ):
        raise Refused("There is no such release of this project.")
    sorted_options = dict(sorted((options or {}).items()))
    try:
        read_options(sorted_options)
    except ValueError as error:
        raise Refused(f"{error}.") from error
    machine = sorted_options.get("machine.name")
    if machine and not project.memberships.filter(is_machine=True, name=machine).exists():
        raise Refused(f"This project has no machine called {machine}.")
    made = Evaluation(
        project=project,
        release=release,
        systems=systems.as_json(measured),
        options=sorted_options,
        baseline=baseline,
        by=by,
    )
    inputs = ("release_id", "systems", "options", "baseline")
    named = ", ".join(system.name for system in measured)
    return request_job(made, same=inputs, by=by, named=named, now=now)
