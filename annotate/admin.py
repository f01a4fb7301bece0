"""Accounts in the administration; everything else has pages of its own."""

from __future__ import annotations

from allauth.mfa.admin import Authenticator
from allauth.socialaccount.admin import SocialApp, SocialToken
from allauth.usersessions.admin import UserSession
from django.contrib import admin
from django.contrib.auth.admin import UserAdmin

from base.users import User

# Secrets of second factors, keys of sessions, tokens of other places: nobody reads or types them
# here. People have pages for each, and the settings name who signs people in.
for secret in (Authenticator, SocialApp, SocialToken, UserSession):
    admin.site.unregister(secret)


@admin.register(User)
class AccountAdmin(UserAdmin[User]):
    """Accounts; closing one has its own page, which also signs it out and frees its assignments."""

    readonly_fields = ("is_active",)
