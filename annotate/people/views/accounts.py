"""The page of all accounts of the installation, for administrators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from allauth.mfa.models import Authenticator
from django.contrib import messages
from django.db.models import Exists, OuterRef
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from annotate.people import access as people_access
from annotate.people import invitations
from annotate.people.accounts import (
    deactivate,
    find_accounts,
    grant_administration,
    password_key,
    reactivate,
    remove_second_factor,
    revoke_administration,
    sign_out,
)
from annotate.people.forms import InvitationForm
from annotate.people.models import Invitation
from annotate.people.views.invitations import new_link_context
from base.errors import Refused
from base.pagination import page_by_key
from base.requests import PageRequest, refusal_as_message, refusal_in

# What an administrator can do with an account: the action, and the message after it.
ACCOUNT_CHANGES: dict[str, tuple[Callable[..., object], str]] = {
    "close": (
        deactivate,
        "The account of {name} is closed. Their work is kept, and their tasks are free.",
    ),
    "open": (reactivate, "{name} can sign in again."),
    "administrate": (grant_administration, "{name} is now an administrator."),
    "no-administration": (
        revoke_administration,
        "{name} is no longer an administrator.",
    ),
    "sign-out": (sign_out, "{name} is signed out everywhere."),
    "factor": (
        remove_second_factor,
        "{name} can sign in with the password alone again.",
    ),
}


@require_http_methods(["GET", "POST"])
def accounts(request: PageRequest) -> HttpResponse:
    """List the accounts, with `?search=` and `?state=closed`; a POST invites someone.

    Administrators only.
    """
    admin = people_access.admin(request.user)
    form = InvitationForm(request.POST if request.method == "POST" else None)
    shown = None
    if request.method == "POST" and form.is_valid():
        with refusal_in(form, "username"):
            link = invitations.invite_to_installation(
                name=form.cleaned_data["username"],
                email=form.cleaned_data["email"],
                days=form.cleaned_data["days"],
                by=admin,
            )
            shown, form = new_link_context(request, link), InvitationForm()
    return _accounts_page(request, form, shown)


def _accounts_page(
    request: PageRequest,
    form: InvitationForm,
    shown: dict[str, Any] | None = None,
    password_link: dict[str, str] | None = None,
) -> HttpResponse:
    """Show the accounts that the address asks for."""
    search = request.GET.get("search", "").strip()[:200]
    state = request.GET.get("state", "")
    matching = find_accounts(search, closed=state == "closed")
    factor = Exists(Authenticator.objects.filter(user=OuterRef("pk")))
    page = page_by_key(matching.annotate(has_factor=factor), request.GET)
    response = render(
        request,
        "people/people.html",
        {
            "accounts": page.rows,
            "found": matching.count(),
            "search": search,
            "state": state,
            # The page with a link for a new password has another address.
            "previous_url": page.previous and reverse("annotate:people") + page.previous,
            "next_url": page.next and reverse("annotate:people") + page.next,
            "open": Invitation.objects.open()
            .filter(project=None)
            .select_related("created_by")
            .order_by("pk")[:200],
            "invited": shown,
            "password_link": password_link,
            "form": form,
        },
        status=422 if form.errors else 200,
    )
    if shown or password_link:
        response["Cache-Control"] = "no-store"
    return response


@require_POST
def change_account(request: PageRequest, pk: int) -> HttpResponse:
    """Change an account as `change` says.

    Close or reopen it, give or remove administrator rights, sign it out everywhere, remove its
    second factor, or make a link for a new password.
    """
    user = people_access.account(request.user, pk)
    change = request.POST.get("change", "")
    with refusal_as_message(request):
        if change == "password":
            uid, _between, key = password_key(user=user, by=request.user).partition("-")
            url = reverse("account_reset_password_from_key", args=[uid, key])
            # Shown in this response, so that it is not stored.
            link = {"name": user.username, "url": request.build_absolute_uri(url)}
            return _accounts_page(request, InvitationForm(), password_link=link)
        if change not in ACCOUNT_CHANGES:
            raise Refused("There is no such change.")
        action, message = ACCOUNT_CHANGES[change]
        action(user=user, by=request.user)
        messages.success(request, message.format(name=user.username))
    return redirect(reverse("annotate:people", query=request.GET))
