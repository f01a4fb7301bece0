"""Accounts in Django's admin; everything else has its own pages."""

from __future__ import annotations

from allauth.mfa.admin import Authenticator
from allauth.socialaccount.admin import SocialApp, SocialToken
from allauth.usersessions.admin import UserSession
from django.contrib import admin
from django.contrib.auth.admin import UserAdmin

from base.users import User

# Secrets of second factors, session keys and tokens of other services must not be read or typed in
# the admin. Users have pages for them, and the settings name the sign-in providers.
for secret in (Authenticator, SocialApp, SocialToken, UserSession):
    admin.site.unregister(secret)


@admin.register(User)
class AccountAdmin(UserAdmin[User]):
    """Accounts; closing one has its own page, which also signs it out and frees its assignments."""

    readonly_fields = ("is_active",)
