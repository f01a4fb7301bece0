"""API addresses of people, under /api/v1/."""

from __future__ import annotations

from annotate.people.api import accounts, me, members, several
from base.api.resource import route

PROJECT = "projects/<slug:slug>/"

urlpatterns = [
    route("me/", me.Me, "api_me"),
    route("me/preferences/", me.MyPreferences, "api_preferences"),
    route("accounts/", accounts.Accounts, "api_accounts"),
    route("accounts/<int:account>/", accounts.Account, "api_account"),
    route("accounts/<int:account>/sessions/", accounts.AccountSessions, "api_account_sessions"),
    route("accounts/invitations/", accounts.AccountInvitations, "api_account_invitations"),
    route(
        "accounts/invitations/<int:invitation>/",
        accounts.OneAccountInvitation,
        "api_account_invitation",
    ),
    route(f"{PROJECT}naming/", me.MyNaming, "api_naming"),
    route(f"{PROJECT}members/", members.Members, "api_members"),
    route(f"{PROJECT}members/<int:member>/", members.OneMember, "api_member"),
    route(f"{PROJECT}invitations/", members.Invitations, "api_invitations"),
    route(f"{PROJECT}invitations/several/", several.SeveralInvitations, "api_several_invitations"),
    route(f"{PROJECT}invitations/<int:invitation>/", members.OneInvitation, "api_invitation"),
]
