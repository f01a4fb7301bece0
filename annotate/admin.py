"""Accounts in the administration; everything else has pages of its own."""

from __future__ import annotations

from django.contrib import admin
from django.contrib.auth.admin import UserAdmin

from annotate.models import User

admin.site.register(User, UserAdmin)
