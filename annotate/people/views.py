"""Pages of people: their own account and settings, members, invitations, all accounts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from allauth.account.models import EmailAddress
from allauth.account.utils import perform_login
from allauth.mfa.models import Authenticator
from allauth.mfa.utils import is_mfa_enabled
from allauth.socialaccount.models import SocialAccount
from allauth.usersessions.internal.flows.sessions import end_sessions
from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.db.models import Exists, F, OuterRef
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotate.people import access as people_access
from annotate.people import invitations
from annotate.people import members as member_actions
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
from annotate.people.forms import InvitationForm, JoinForm, MemberForm, SeveralForm, TokenForm
from annotate.people.invitation_mail import deliver_link, deliver_links
from annotate.people.invitations import (
    InvitationResult,
    Link,
    RefusedLines,
    invite_several,
    read_lines,
    sentences_by_line,
)
from annotate.people.models import Invitation
from annotate.people.preferences import InvalidPreferences, change_preferences, zone_named
from annotate.people.tokens import end_token, make_token
from annotate.projects import access
from annotate.projects.models import Membership
from annotate.projects.project_page import project_page
from base import keymap
from base.errors import ObjectNotFound, Refused
from base.page_request import PageRequest, refusal_as_message, refusal_in
from base.pagination import page_by_key, parse_key
from base.reader_preferences import preferences as preferences_of
from base.reader_preferences import zones
from base.users import User, find_account

# The session key of a link's secret while its reader signs in with another service.
SESSION_KEY = "invitation"
YEAR = 60 * 60 * 24 * 365
YES_OR_NO = {"yes": True, "no": False}
# Invalid preferences are shown again up to this length.
SHOWN = 200
# How many of the newest ended or expired tokens are listed.
PAST = 20
# What an administrator can do with an account: the action, and the message after it.
ACCOUNT_CHANGES: dict[str, tuple[Callable[..., object], str]] = {
    "close": (deactivate, "The account of {name} is closed. Their work is kept."),
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
            "memberships": access.memberships_of(request.user).order_by("project__name", "pk"),
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
    member = access.member(request.user, slug)
    named = YES_OR_NO.get(request.POST.get("named", ""))
    if named is None:
        messages.error(request, "Nothing was changed. Answer yes or no.")
    else:
        member_actions.set_named(named=named, by=member)
        messages.success(request, "Saved.")
    return redirect("annotate:preferences")


@require_http_methods(["GET", "POST"])
def members(request: PageRequest, slug: str) -> HttpResponse:
    """List the members of the project; leads add people."""
    member = (access.lead if request.method == "POST" else access.member)(request.user, slug)
    form = MemberForm(request.POST if request.method == "POST" else None)
    shown = None
    if request.method == "POST" and form.is_valid():
        with refusal_in(form, "username"):
            added = _add_or_invite(member, form.cleaned_data)
            if isinstance(added, Membership):
                messages.success(
                    request, f"{added.user} is now in the project and signs in as before."
                )
                return redirect("annotate:members", slug)
            shown, form = new_link_context(request, added), MemberForm()
    return members_page(request, member, form=form, invited=shown)


def members_page(
    request: PageRequest,
    member: Membership,
    *,
    form: MemberForm | None = None,
    several: SeveralForm | None = None,
    invited: Mapping[str, Any] | None = None,
    done: Sequence[Mapping[str, Any]] | None = None,
) -> HttpResponse:
    """Draw the page of the members, with the forms for leads and the links just made.

    The form for several people has a field for each project that the reader leads: the page asks
    for it with `?several=1` when it is opened.
    """
    people = member.project.memberships.select_related("user").order_by(
        F("left_at").asc(nulls_first=True), "is_machine", "name"
    )
    context: dict[str, Any] = {
        "members": people,
        "invited": invited,
        "done": done,
        "any_handed": any(person["handed"] for person in done or ()),
    }
    if member.leads:
        if several is None and "several" in request.GET:
            several = SeveralForm(leading=led_by(request, member), here=member)
        context |= {
            "open": member.project.invitations.open().select_related("created_by").order_by("pk"),
            "form": form or MemberForm(),
            "several": several,
        }
    refused = any(sent is not None and sent.errors for sent in (form, several))
    response = project_page(
        request,
        "people/members.html",
        member,
        section="members",
        status=422 if refused else 200,
        **context,
    )
    if invited or done:
        # Links are shown in this response only, so that they are not stored.
        response["Cache-Control"] = "no-store"
    return response


def led_by(request: PageRequest, member: Membership) -> list[Membership]:
    """Return the memberships of the projects that the reader leads, this project's first."""
    leading = (
        access.memberships_of(request.user)
        .filter(role=Membership.Role.LEAD)
        .select_related("user")
        .order_by("project__name", "pk")
    )
    return sorted(leading, key=lambda membership: membership.pk != member.pk)


def _add_or_invite(member: Membership, fields: Mapping[str, Any]) -> Link | Membership:
    """Add a person who has an account; otherwise make a link. Return either."""
    name, role = fields["username"].strip(), fields["role"]
    if name and find_account(name) is not None:
        return member_actions.add_member(username=name, role=role, by=member)
    return invitations.invite(
        role=role, name=name, email=fields["email"], days=fields["days"], by=member
    )


@require_POST
def change_member(request: PageRequest, slug: str, pk: int) -> HttpResponse:
    """Change a member's role, remove them, add them again, or limit their tasks."""
    by = access.lead(request.user, slug)
    changing = access.member_of_project(by, pk)
    change = request.POST.get("change", "")
    with refusal_as_message(request):
        if change == "leave":
            member_actions.remove_member(member=changing, by=by)
            words = f"{changing.name} was removed from the project. Their work is kept."
        elif change == "quota":
            most = _quota(request.POST.get("most_tasks", ""))
            member_actions.set_quota(member=changing, most_tasks=most, by=by)
            limit = "any number of" if most is None else f"at most {most}"
            words = f"{changing.name} can take {limit} {'task' if most == 1 else 'tasks'}."
        elif change == "return" and changing.user is not None:
            member_actions.add_member(username=changing.user.username, role=changing.role, by=by)
            words = f"{changing.name} is a member again."
        else:
            changed = member_actions.change_role(member=changing, role=change, by=by)
            words = f"{changed.name} is now {changed.get_role_display().lower()}."
        messages.success(request, words)
    return redirect("annotate:members", slug)


def _quota(typed: str) -> int | None:
    """Parse a number of tasks; an empty text is no limit (None)."""
    typed = typed.strip()
    if not typed:
        return None
    if not (typed.isascii() and typed.isdigit() and len(typed) < 10):
        raise Refused("Write a whole number of tasks, or nothing for no limit.")
    return int(typed)


@require_http_methods(["GET", "POST"])
def several(request: PageRequest, slug: str) -> HttpResponse:
    """Invite people, one per line, to any of the projects that the reader leads."""
    member = access.lead(request.user, slug)
    if request.method == "GET":
        return redirect(f"{reverse('annotate:members', args=[slug])}?several=1#several")
    form = SeveralForm(request.POST, leading=led_by(request, member), here=member)
    if not form.is_valid():
        return members_page(request, member, several=form)
    try:
        results = invite_several(
            people=read_lines(form.cleaned_data["people"]),
            roles=form.roles(),
            days=form.cleaned_data["days"],
        )
    except RefusedLines as refused:
        form.add_error("people", sentences_by_line(refused.lines))
    except Refused as refused:
        form.add_error(None, str(refused))
    else:
        return members_page(request, member, done=_results(request, results))
    return members_page(request, member, several=form)


def _results(request: HttpRequest, results: list[InvitationResult]) -> list[dict[str, Any]]:
    """Return each person's result: the link and whether it was mailed, or their projects."""
    handed = deliver_links(request, results)
    if any(delivery and delivery.mailed is False for _result, delivery in handed):
        messages.error(request, "Some mails could not be sent. Pass these links on yourself.")
    return [
        {
            "name": result.invitee.name or result.invitee.email,
            "email": result.invitee.email,
            "projects": [project.name for project in result.projects],
            "handed": delivery,
        }
        for result, delivery in handed
    ]


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
    return {"invitation": link.invitation, "url": url, "sent": bool(mailed), "unsent": unsent}


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
            "previous_url": page.previous,
            "next_url": page.next,
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
    return redirect("annotate:people")
