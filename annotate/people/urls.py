"""Addresses of the pages about people."""

from __future__ import annotations

from django.urls import path

from annotate.people.views import account, accounts, members, naming, preferences, several, tokens

urlpatterns = [
    path("settings/", preferences.preferences, name="preferences"),
    path("accounts/", account.account, name="account"),
    path("accounts/sessions/", account.sessions, name="sessions"),
    path("invitations/<str:token>/", accounts.invitation, name="invitation"),
    path("people/", accounts.accounts, name="people"),
    path("people/<int:pk>/", accounts.account, name="account_change"),
    path(
        "people/invitations/<int:pk>/withdrawal/",
        accounts.account_withdrawal,
        name="account_invitation_withdrawal",
    ),
    path("settings/tokens/", tokens.tokens, name="tokens"),
    path("settings/tokens/<int:pk>/ending/", tokens.token_end, name="token_end"),
    path("projects/<slug:slug>/naming/", naming.naming, name="naming"),
    path("projects/<slug:slug>/members/", members.members, name="members"),
    path("projects/<slug:slug>/members/<int:pk>/", members.change_member, name="member"),
    path("projects/<slug:slug>/invitations/", several.several, name="several_invitations"),
    path(
        "projects/<slug:slug>/invitations/<int:pk>/withdrawal/",
        accounts.withdrawal,
        name="invitation_withdrawal",
    ),
]
