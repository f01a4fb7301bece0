"""How the API shows jobs, shared by all apps."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from jobs.models import Job


class JobSerializer(serializers.Serializer[Any]):
    """A background job. Poll it until `state` is done, failed or cancelled."""

    id = serializers.IntegerField()
    state = serializers.ChoiceField(choices=Job.State.choices)
    done = serializers.IntegerField(help_text="Units done.")
    total = serializers.IntegerField(allow_null=True, help_text="Units in all; null: unknown.")
    step = serializers.CharField(help_text="The current step.")
    error = serializers.CharField(help_text="Why it failed.")
    requested_at = serializers.DateTimeField()
    started_at = serializers.DateTimeField(allow_null=True)
    finished_at = serializers.DateTimeField(allow_null=True)


def job_as_json(job: Job) -> dict[str, Any]:
    """Return the API's representation of a job of any kind."""
    return {
        "id": job.pk,
        "state": job.state,
        "done": job.done,
        "total": job.total,
        "step": job.step,
        "error": job.error,
        "requested_at": job.requested_at,
        "started_at": job.started_at,
        "finished_at": job.finished_at,
    }
