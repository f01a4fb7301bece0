"""The tasks of models. To add one, declare a `ModelTask` and list it here."""

from __future__ import annotations

from collections.abc import Mapping

from annotate.projects.models import Membership
from audit.model_runs.models import TaskName
from audit.model_runs.tasks.base import ModelTask
from audit.model_runs.tasks.conditions import CheckConditions
from audit.model_runs.tasks.criticise import Criticise
from audit.model_runs.tasks.grade import Grade
from audit.model_runs.tasks.trap import Trap
from audit.model_runs.tasks.write import Reverse, Write

__all__ = ["TASKS", "task_of", "tasks_for"]

TASKS: Mapping[str, ModelTask] = {
    task.name: task
    for task in (Grade(), CheckConditions(), Write(), Criticise(), Reverse(), Trap())
}


def task_of(key: str) -> ModelTask:
    """Return the task with this key; for any other, to grade documents."""
    return TASKS.get(key, TASKS[TaskName.GRADE])


def tasks_for(lead: Membership) -> list[ModelTask]:
    """Return the tasks that a lead's project has a use for."""
    return [task for task in TASKS.values() if task.has_use(lead)]
