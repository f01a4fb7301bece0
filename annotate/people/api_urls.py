"""API addresses of people, under /api/v1/."""

from __future__ import annotations

from django.urls import path

from annotate.people.api import accounts, me, members, several

PROJECT = "projects/<slug:slug>/"

urlpatterns = [
    path("me/", me.Me.as_view(), name="api_me"),
    path("me/preferences/", me.MyPreferences.as_view(), name="api_preferences"),
    path("accounts/", accounts.Accounts.as_view(), name="api_accounts"),
    path("accounts/<int:account>/", accounts.Account.as_view(), name="api_account"),
    path(
        "accounts/<int:account>/sessions/",
        accounts.AccountSessions.as_view(),
        name="api_account_sessions",
    ),
    path(
        "accounts/invitations/",
        accounts.AccountInvitations.as_view(),
        name="api_account_invitations",
    ),
    path(
        "accounts/invitations/<int:invitation>/",
        accounts.OneAccountInvitation.as_view(),
        name="api_account_invitation",
    ),
    path(f"{PROJECT}naming/", me.MyNaming.as_view(), name="api_naming"),
    path(f"{PROJECT}members/", members.Members.as_view(), name="api_members"),
    path(f"{PROJECT}members/<int:member>/", members.OneMember.as_view(), name="api_member"),
    path(f"{PROJECT}invitations/", members.Invitations.as_view(), name="api_invitations"),
    path(
        f"{PROJECT}invitations/several/",
        several.SeveralInvitations.as_view(),
        name="api_several_invitations",
    ),
    path(
        f"{PROJECT}invitations/<int:invitation>/",
        members.OneInvitation.as_view(),
        name="api_invitation",
    ),
]
