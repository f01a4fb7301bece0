"""The reader's own account: how they sign in, and their sessions."""

from __future__ import annotations

from allauth.account.models import EmailAddress
from allauth.mfa.utils import is_mfa_enabled
from allauth.socialaccount.models import SocialAccount
from allauth.usersessions.internal.flows.sessions import end_sessions
from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods

from base.page_request import PageRequest
from base.pagination import parse_key


@require_GET
def account(request: PageRequest) -> HttpResponse:
    """Show how the reader signs in, with links to change that."""
    user = request.user
    return render(
        request,
        "people/account.html",
        {
            "email": EmailAddress.objects.filter(user=user).order_by("-primary", "pk").first(),
            "has_password": user.has_usable_password(),
            "second_factor": is_mfa_enabled(user),
            "sessions": len(_sessions(request)),
            "elsewhere": SocialAccount.objects.filter(user=user).count(),
            "elsewhere_offered": bool(settings.SOCIALACCOUNT_PROVIDERS),
        },
    )


@never_cache
@require_http_methods(["GET", "POST"])
def sessions(request: PageRequest) -> HttpResponse:
    """List the reader's sessions; end one (`session`), or all except this one (`others`)."""
    signed_in = _sessions(request)
    if request.method == "GET":
        return render(request, "people/sessions.html", {"sessions": signed_in})
    if "others" in request.POST:
        ended = [session for session in signed_in if not session.is_current()]
    else:
        ended = [
            session
            for session in signed_in
            if session.pk == parse_key(request.POST.get("session", ""))
        ]
        if not ended:
            raise Http404("There is no such session of yours.")
    here = any(session.is_current() for session in ended)
    end_sessions(request, ended)
    if here:
        return redirect("login")
    messages.success(request, "Signed out there.")
    return redirect("annotate:sessions")


def _sessions(request: PageRequest) -> list[UserSession]:
    """Return the reader's sessions including the current one, newest first."""
    user_sessions = UserSession.objects.purge_and_list(request.user)
    if not any(session.is_current() for session in user_sessions):
        # The session was created before sessions were recorded, or by a program.
        UserSession.objects.create_from_request(request)
        user_sessions = UserSession.objects.purge_and_list(request.user)
    return sorted(user_sessions, key=lambda session: session.created_at, reverse=True)
