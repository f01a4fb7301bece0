"""Pages of invitation links: joining with one, showing a new one, withdrawing one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from allauth.account.utils import perform_login
from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from annotate.people import access as people_access
from annotate.people import invitations
from annotate.people.forms import JoinForm
from annotate.people.invitation_mail import deliver_link
from annotate.people.invitations import (
    Link,
)
from annotate.people.models import Invitation
from annotate.projects import access
from base.errors import ObjectNotFound, Refused
from base.requests import PageRequest, refusal_as_message, refusal_in
from base.users import User

# The session key of a link's secret while its reader signs in with another service.
SESSION_KEY = "invitation"


@login_not_required
@never_cache
@sensitive_post_parameters("password", "password_again")
@require_http_methods(["GET", "POST"])
def invitation(request: HttpRequest, token: str) -> HttpResponse:
    """Let the reader of a link join, with the account they have or with a new one."""
    try:
        rows = invitations.open_invitations(token)
    except Refused as refused:
        request.session.pop(SESSION_KEY, None)
        if mine := invitations.accepted_invitations(token, request.user):
            return redirect(_after(mine))
        status = 404 if isinstance(refused, ObjectNotFound) else 410
        return render(request, "people/invitation.html", {"ended": str(refused)}, status=status)
    if request.user.is_authenticated:
        return _join(request, request.user, rows, token)
    if request.session.get(SESSION_KEY) != token:
        request.session[SESSION_KEY] = token
    form = JoinForm(request.POST if request.method == "POST" else None, invitation=rows[0])
    if request.method == "POST" and form.is_valid():
        with refusal_in(form):
            user = invitations.accept_with_new_account(
                token=token,
                username=form.cleaned_data["username"],
                password=form.cleaned_data["password"],
                email=form.cleaned_data["email"],
            )
            request.session.pop(SESSION_KEY, None)
            answer: HttpResponse = perform_login(request, user, redirect_url=_after(rows))
            return answer
    return _invitation_page(request, rows, form, token)


def _join(request: HttpRequest, user: User, rows: Sequence[Invitation], token: str) -> HttpResponse:
    """Answer a signed-in reader of a link, who joins with one button."""
    error = ""
    if request.method == "POST":
        try:
            invitations.accept(token=token, by=user)
        except Refused as refused:
            error = str(refused)
        else:
            projects = "project" if len(rows) == 1 else "projects"
            messages.success(request, f"You are in the {projects}.")
            return redirect(_after(rows))
    return _invitation_page(request, rows, None, token, error)


def _invitation_page(
    request: HttpRequest,
    rows: Sequence[Invitation],
    form: JoinForm | None,
    token: str,
    error: str = "",
) -> HttpResponse:
    return render(
        request,
        "people/invitation.html",
        {"invitation": rows[0], "invitations": rows, "form": form, "token": token, "error": error},
        status=422 if error or (form is not None and form.errors) else 200,
    )


def _after(rows: Sequence[Invitation]) -> str:
    """Return the address of the link's project; of the start page if there are several or none."""
    project = rows[0].project
    if project is None or len(rows) > 1:
        return reverse("annotate:home")
    return project.get_absolute_url()


def new_link_context(request: HttpRequest, link: Link) -> dict[str, Any]:
    """Mail a new link if possible, and return what the page shows of it, once."""
    url, mailed = deliver_link(request, link)
    if mailed is False:
        messages.error(request, "The mail could not be sent. Pass the link on yourself.")
    unsent = mailed is None and bool(link.invitation.email)
    return {
        "invitation": link.invitation,
        "url": url,
        "sent": bool(mailed),
        "unsent": unsent,
        "ends_another": link.ends_another,
    }


@require_POST
def withdrawal(request: PageRequest, slug: str, pk: int) -> HttpResponse:
    """Withdraw a link to a project."""
    by = access.lead(request.user, slug)
    _withdraw(request, people_access.invitation(by, pk))
    return redirect("annotate:members", slug)


@require_POST
def account_withdrawal(request: PageRequest, pk: int) -> HttpResponse:
    """Withdraw a link to the installation."""
    _withdraw(request, people_access.account_invitation(request.user, pk))
    return redirect("annotate:people")


def _withdraw(request: PageRequest, withdrawn: Invitation) -> None:
    with refusal_as_message(request):
        invitations.withdraw(invitation=withdrawn, by=request.user)
        messages.success(request, "The link is withdrawn.")
