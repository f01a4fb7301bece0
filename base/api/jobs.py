"""How the API shows jobs, shared by all apps."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from jobs.models import Job


class JobSerializer(serializers.Serializer[Any]):
    """A background job. Poll it until `state` is done, failed or cancelled."""

    id = serializers.IntegerField()
    kind = serializers.CharField(help_text="As in load, pool, agreement, export, release.")
    state = serializers.ChoiceField(choices=Job.State.choices)
    done = serializers.IntegerField(help_text="Units done.")
    total = serializers.IntegerField(allow_null=True, help_text="Units in all; null: unknown.")
    step = serializers.CharField(help_text="The current step.")
    error = serializers.CharField(help_text="Why it failed.")
    requested_at = serializers.DateTimeField()
    cancel_requested_at = serializers.DateTimeField(allow_null=True)
    started_at = serializers.DateTimeField(allow_null=True)
    finished_at = serializers.DateTimeField(allow_null=True)
