"""Accounts in the administration; everything else has pages of its own."""

from __future__ import annotations

from django.contrib import admin
from django.contrib.auth.admin import UserAdmin

from annotate.models import User


@admin.register(User)
class AccountAdmin(UserAdmin[User]):
    """Accounts; closing one has its own page, which also signs it out and frees its seats."""

    readonly_fields = ("is_active",)
