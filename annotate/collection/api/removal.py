"""Shared by the resources that take rows out and bring them back."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from annotate.collection.removal import MAX_REASON
from base.api.resource import RequestBody


class SentReason(RequestBody):
    """Why rows are taken out."""

    reason = serializers.CharField(max_length=MAX_REASON)


class ChangedRowsSerializer(serializers.Serializer[Any]):
    """How many rows were taken out or brought back."""

    changed = serializers.IntegerField()
    unchanged = serializers.IntegerField(help_text="Rows that already had that state.")
