"""Shared by the resources that take rows out and bring them back."""

from __future__ import annotations

from rest_framework import serializers

from annotate.collection.removal import MAX_REASON
from base.api.resource import RequestBody


class SentReason(RequestBody):
    """Why rows are taken out."""

    reason = serializers.CharField(max_length=MAX_REASON)
