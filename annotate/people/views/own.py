"""Pages of people about themselves: sign-in, sessions, preferences, tokens, being named."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from allauth.account.models import EmailAddress
from allauth.mfa.utils import is_mfa_enabled
from allauth.socialaccount.models import SocialAccount
from allauth.usersessions.internal.flows.sessions import end_sessions
from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_variables
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotate.people import members as member_actions
from annotate.people.forms import TokenForm
from annotate.people.preferences import InvalidPreferences, change_preferences, zone_named
from annotate.people.tokens import end_token, make_token
from annotate.projects import access
from base import keymap
from base.errors import ObjectNotFound
from base.pagination import parse_key
from base.reader_preferences import preferences as preferences_of
from base.reader_preferences import zones
from base.requests import PageRequest, refusal_in

YEAR = 60 * 60 * 24 * 365
YES_OR_NO = {"yes": True, "no": False}
# Invalid preferences are shown again up to this length.
SHOWN = 200
# How many of the newest ended or expired tokens are listed.
PAST = 20


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
        key = parse_key(request.POST.get("session", ""))
        ended = [session for session in signed_in if session.pk == key]
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


@require_http_methods(["GET", "POST"])
def preferences(request: PageRequest) -> HttpResponse:
    """Show the reader's preferences; change those that are sent.

    These are keys, `theme`, `time_zone` and `mail_digest`. Keys are sent as `key-<action>`; `reset`
    resets the key of one action, `reset_all` every key. A script that accepts only JSON gets an
    empty response (204) instead of the page.
    """
    if request.method == "GET":
        return _preferences_page(request, keymap.keys_for(request.user))
    typed = _typed_keys(request.POST)
    keys = _requested_keys(request.POST, typed)
    theme, zone = request.POST.get("theme"), request.POST.get("time_zone")
    try:
        changed = change_preferences(
            keys=keys or None,
            theme=theme,
            time_zone=None if zone is None else zone_named(zone),
            mail_digest=YES_OR_NO.get(request.POST.get("mail_digest", "")),
            by=request.user,
        )
    except InvalidPreferences as refused:
        keys = keymap.keys_for(request.user) | typed
        return _preferences_page(request, keys, theme, zone, refused.sentences)
    if request.accepts("text/html"):
        messages.success(request, "Saved.")
        response: HttpResponse = redirect("annotate:preferences")
    else:
        response = HttpResponse(status=204)
    if theme is not None:
        response.set_cookie(
            "theme", changed.theme, max_age=YEAR, samesite="Lax", secure=request.is_secure()
        )
    return response


def _typed_keys(sent: QueryDict) -> dict[str, Any]:
    """Return what was sent for each action: one text, or a list if not exactly one was sent."""
    typed = {name[4:]: sent.getlist(name) for name in sent if name.startswith("key-")}
    return {name: texts[0] if len(texts) == 1 else texts for name, texts in typed.items()}


def _requested_keys(sent: QueryDict, typed: dict[str, Any]) -> dict[str, Any]:
    """Return the requested keys: those typed, or the defaults for actions that are reset."""
    if "reset_all" in sent:
        return dict(keymap.DEFAULTS)
    keys = {
        name: keymap.normalize_key(text) if isinstance(text, str) else text
        for name, text in typed.items()
    }
    if back := sent.get("reset"):
        keys[back] = keymap.DEFAULTS.get(back, "")
    return keys


def _preferences_page(
    request: PageRequest,
    keys: dict[str, Any],
    theme: str | None = None,
    zone: str | None = None,
    wrong: Mapping[str, str] = MappingProxyType({}),
) -> HttpResponse:
    kept = preferences_of(request.user)
    groups: list[dict[str, Any]] = [
        {
            "page": page,
            "title": title,
            "rows": [
                {
                    "action": action,
                    "key": str(keys[action.name])[:SHOWN],
                    "wrong": wrong.get(action.name, ""),
                    "changed": keys[action.name] != action.key,
                }
                for action in keymap.ACTIONS
                if action.page == page
            ],
        }
        for page, title in keymap.PAGES.items()
    ]
    return render(
        request,
        "people/preferences.html",
        {
            "groups": groups,
            "changed": sum(row["changed"] for group in groups for row in group["rows"]),
            "wrong": wrong,
            "error": wrong.get("", "Nothing was changed. The errors are shown at the fields.")
            if wrong
            else "",
            "theme_chosen": kept.theme if theme is None else theme,
            "zone_chosen": kept.time_zone if zone is None else zone[:SHOWN],
            "zones": zones(),
            "mail_digest": kept.mail_digest,
            "now": timezone.now(),
            "memberships": access.memberships_to_name(request.user).order_by("project__name", "pk"),
        },
        status=422 if wrong else 200,
    )


@require_http_methods(["GET", "POST"])
@never_cache  # a new token is shown once
@sensitive_variables("made")
def tokens(request: PageRequest) -> HttpResponse:
    """List the reader's tokens; make one, which is shown only in this response."""
    form = TokenForm(request.POST or None)
    made = None
    if request.method == "POST" and form.is_valid():
        with refusal_in(form):
            made = make_token(**form.cleaned_data, by=request.user)
            form = TokenForm()
    now = timezone.now()
    valid = request.user.tokens.valid(now)
    past = request.user.tokens.exclude(pk__in=valid.values("pk"))
    return render(
        request,
        "people/tokens.html",
        {
            "form": form,
            "made": made,
            "tokens": valid.order_by("-pk"),
            "past": past.order_by("-pk")[:PAST],
        },
        status=422 if form.errors else 200,
    )


@require_POST
def token_end(request: PageRequest, pk: int) -> HttpResponse:
    """End one of the reader's tokens at once."""
    try:
        token = end_token(pk=pk, by=request.user)
    except ObjectNotFound as not_here:
        raise Http404(str(not_here)) from not_here
    messages.success(request, f"The token “{token.name}” has ended. No program can use it now.")
    return redirect("annotate:tokens")


@require_POST
def naming(request: PageRequest, slug: str) -> HttpResponse:
    """Record whether the reader agrees to be named: `named` is yes or no."""
    member = access.past_or_present_member(request.user, slug)
    named = YES_OR_NO.get(request.POST.get("named", ""))
    if named is None:
        messages.error(request, "Nothing was changed. Answer yes or no.")
    else:
        member_actions.set_named(named=named, by=member)
        messages.success(request, "Saved.")
    return redirect("annotate:preferences")
