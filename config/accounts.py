"""Sign-in with django-allauth: our wording, and our rules for who gets an account.

There is no self-registration. An account is created by an invitation, by an administrator or, if
`REJUDGE_OIDC_OPEN` is set, by the team's own sign-in (OpenID Connect).
"""

from __future__ import annotations

import textwrap
from typing import Any

from allauth.account import forms as account_forms
from allauth.account import views as account_views
from allauth.account.adapter import DefaultAccountAdapter, get_adapter
from allauth.account.fields import SetPasswordField
from allauth.core import context
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.core.internal import ratelimit
from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.mfa.adapter import get_adapter as get_mfa_adapter
from allauth.mfa.base import forms as mfa_forms
from allauth.mfa.totp import forms as totp_forms
from allauth.mfa.totp.internal.auth import SECRET_SESSION_KEY
from allauth.socialaccount import forms as other_forms
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.providers.base import Provider
from django import forms
from django.conf import settings
from django.contrib import messages
from django.db import transaction
from django.db.models import Q
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.crypto import get_random_string
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from annotate.people import invitations
from annotate.people.forms import RULES_OF_PASSWORDS
from annotate.people.invitation_mail import PRINTING
from annotate.people.views.invitations import SESSION_KEY
from base.errors import Refused
from base.users import User

# The cookie of the account that last signed in from a browser; it is sent with sign-in forms only.
KNOWN_BROWSER = "known_browser"
KNOWN_SECONDS = 90 * 86_400
_MISMATCH = "The user name or the password is wrong. Capital letters count in the password."


class AccountAdapter(DefaultAccountAdapter):
    """Our error messages, and no self-registration."""

    error_messages = DefaultAccountAdapter.error_messages | {
        "username_password_mismatch": _MISMATCH,
        "email_password_mismatch": _MISMATCH,
        "too_many_login_attempts": (
            "Too many attempts. Wait five minutes, then try again, or set a new password."
        ),
        "rate_limited": "Too many attempts. Wait a minute, then try again.",
    }

    def _get_login_attempts_cache_key(self, request: HttpRequest, **credentials: Any) -> str:
        """Return the key under which wrong passwords are counted.

        It combines the account, whether its name or its mail address was typed, with the client's
        IP address or, if the account has signed in from this browser before, with the browser. So
        nobody can lock an account out from another address, and a known browser is counted
        separately from others at its address.
        """
        login = str(credentials.get("username") or credentials.get("email", ""))
        user = _find_account(login)
        account = f"account {user.pk}" if user else login.casefold()
        browser = str(request.get_signed_cookie(KNOWN_BROWSER, "", max_age=KNOWN_SECONDS))
        is_known = user is not None and browser.startswith(f"{user.pk}:")
        return f"{account}:{browser if is_known else ratelimit.get_ip(request)}"

    def post_login(self, request: HttpRequest, user: Any, **kwargs: Any) -> HttpResponse:
        """Remember that the account has signed in from this browser."""
        response: HttpResponse = super().post_login(request, user, **kwargs)
        response.set_signed_cookie(
            KNOWN_BROWSER,
            f"{user.pk}:{get_random_string(22)}",
            max_age=KNOWN_SECONDS,
            path="/accounts/",
            secure=settings.SESSION_COOKIE_SECURE,
            httponly=True,
            samesite="Lax",
        )
        return response

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        """Return False: people join by invitation."""
        return False

    def get_password_change_redirect_url(self, request: HttpRequest) -> str:
        """Return the address of the page that confirms the change."""
        return reverse("password_change_done")


def _find_account(login: str) -> User | None:
    """Return the account with this name or mail address, ignoring case as sign-in does."""
    named = Q(username__iexact=login) | Q(email__iexact=login)
    named |= Q(emailaddress__email__iexact=login)
    return User.objects.filter(named).order_by("pk").first() if login else None


class MFAAdapter(DefaultMFAAdapter):
    """Our error message for a wrong code."""

    error_messages = DefaultMFAAdapter.error_messages | {
        "incorrect_code": "This code is not valid. Wait for the next one and enter that.",
    }


class SocialAccountAdapter(DefaultSocialAccountAdapter):
    """Sign-in with OpenID Connect, for people who have an account or an invitation.

    `REJUDGE_OIDC_OPEN` lets everyone else in as well.
    """

    def list_providers(self, request: HttpRequest) -> list[Provider]:
        """Return the team's own sign-in, if the settings name it; no query if they do not."""
        return super().list_providers(request) if settings.SOCIALACCOUNT_PROVIDERS else []

    def is_open_for_signup(self, request: HttpRequest, sociallogin: Any) -> bool:
        """Return whether this person may get an account."""
        return settings.OIDC_OPEN or _followed_invitation(request) is not None

    def is_auto_signup_allowed(self, request: HttpRequest, sociallogin: Any) -> bool:
        """Return False, so that a user name is asked for, if the suggested one is not free."""
        invitation = _followed_invitation(request)
        name = invitation.name if invitation and invitation.name else sociallogin.user.username
        sociallogin.user.username = name
        return bool(name) and not invitations.name_is_taken(name, invitation)

    def save_user(self, request: HttpRequest, sociallogin: Any, form: Any = None) -> Any:
        """Create the account and accept the invitation in one transaction."""
        token = request.session.pop(SESSION_KEY, "")
        try:
            with transaction.atomic():
                user = super().save_user(request, sociallogin, form)
                if _find_open_invitation(token) is not None or not settings.OIDC_OPEN:
                    invitations.accept(token=token, by=user, made_for_it=True)
        except Refused as refused:
            messages.error(request, str(refused))
            raise ImmediateHttpResponse(redirect("login")) from refused
        return user


def _find_open_invitation(token: str) -> Any:
    try:
        return invitations.open_invitation(token)
    except Refused:
        return None


def _followed_invitation(request: HttpRequest) -> Any:
    """Return the open invitation that the visitor has followed, or None."""
    token = request.session.get(SESSION_KEY, "")
    return _find_open_invitation(token) if token else None


LABELS = {
    "email": "Mail address",
    "oldpassword": "Current password",
    "password1": "New password",
    "password2": "New password, again",
}


class OwnWording:
    """A form with our labels and help texts, and without placeholders in its fields."""

    fields: dict[str, forms.Field]
    # The field that has the focus when the page opens, if any.
    begins_with = ""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for field in self.fields.values():
            field.widget.attrs.pop("placeholder", None)
            if isinstance(field, SetPasswordField):
                field.help_text = RULES_OF_PASSWORDS
        for name in LABELS.keys() & self.fields.keys():
            self.fields[name].label = LABELS[name]
        if self.begins_with:
            self.fields[self.begins_with].widget.attrs["autofocus"] = True


class LoginForm(OwnWording, account_forms.LoginForm):
    """Sign-in by user name or mail address; the field is named `username`, as in other forms."""

    begins_with = "login"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["login"].label = "User name or mail address"
        self.fields["login"].widget.attrs |= {
            "autocomplete": "username",
            "autocapitalize": "none",
        }
        self.fields["password"].help_text = ""

    def user_credentials(self) -> dict[str, str]:
        """Return what was typed as a name; the backends also look for a mail address.

        As allauth's default has it as both, the password for a known address was hashed once more,
        and the time told who has an account.
        """
        typed = self.cleaned_data
        return {"username": typed["login"], "password": typed["password"]}

    def add_prefix(self, field_name: str) -> str:
        return str(super().add_prefix("username" if field_name == "login" else field_name))


class ReauthenticateForm(OwnWording, account_forms.ReauthenticateForm):
    """The password again, before a sensitive change."""

    begins_with = "password"


class AddEmailForm(OwnWording, account_forms.AddEmailForm):
    """The account's mail address."""


class ChangePasswordForm(OwnWording, account_forms.ChangePasswordForm):
    """A new password, confirmed by the old one."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["oldpassword"].help_text = ""


class SetPasswordForm(OwnWording, account_forms.SetPasswordForm):
    """A first password, for someone who has only signed in with OpenID Connect."""


class ResetPasswordForm(OwnWording, account_forms.ResetPasswordForm):
    """The mail address that the link for a new password is sent to."""

    begins_with = "email"

    def clean_email(self) -> str:
        """Return the address without looking for its account."""
        return str(get_adapter().clean_email(self.cleaned_data["email"].lower()))

    def save(self, request: HttpRequest, **_: Any) -> str:
        """Have the mail sent by a job: status and time are the same without an account."""
        from config.celery import BrokerUnavailable, deliver

        email: str = self.cleaned_data["email"]
        try:
            deliver("config.password_reset", email, request.build_absolute_uri("/"))
        except BrokerUnavailable as error:
            raise Refused("No mail can be sent right now. Try again in a few minutes.") from error
        return email


class PasswordResetView(account_views.PasswordResetView):
    """The page on which a person asks for a link by mail."""

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Return the context, with `prints_mail`: whether no mail server is set up."""
        prints_mail = settings.EMAIL_BACKEND == PRINTING
        return {**super().get_context_data(**kwargs), "prints_mail": prints_mail}

    def form_valid(self, form: Any) -> HttpResponse:
        """Request the mail; say so on the page if the broker does not answer."""
        try:
            answer: HttpResponse = super().form_valid(form)
        except Refused as refused:
            form.add_error(None, str(refused))
            answer = self.form_invalid(form)
        return answer


password_reset = PasswordResetView.as_view()


class EmailView(account_views.EmailView):
    """The page of a person's mail address."""

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Add the address, or send the link again; say so on the page if no mail can be sent.

        The address is then kept, to be confirmed by a later mail.
        """
        try:
            answer: HttpResponse = super().post(request, *args, **kwargs)
        except OSError:
            messages.error(
                request,
                "No mail can be sent right now. The address is confirmed by a link: have it sent "
                "again in a few minutes.",
            )
            answer = redirect("account_email")
        return answer


email = EmailView.as_view()


class LinkUsed(Exception):
    """Raised if a link for a new password was used after its page was opened."""


class ResetPasswordKeyForm(OwnWording, account_forms.ResetPasswordKeyForm):
    """A new password, set through the link in a mail."""

    user: User

    def save(self) -> None:
        """Set the password. Raise LinkUsed if the link is no longer valid."""
        with transaction.atomic():
            # Two submissions at the same time are handled one after the other.
            user = User.objects.select_for_update().get(pk=self.user.pk)
            if not account_forms.default_token_generator.check_token(user, self.temp_key):
                raise LinkUsed
            self.user = user
            super().save()


class PasswordResetFromKeyView(account_views.PasswordResetFromKeyView):
    """The page that a link for a new password opens."""

    def form_valid(self, form: Any) -> HttpResponse:
        """Set the password once; a second submission sees that the link is no longer valid."""
        try:
            answer: HttpResponse = super().form_valid(form)
        except LinkUsed:
            self.reset_user = None
            answer = self.render_to_response(self.get_context_data(token_fail=True))
        return answer


password_reset_from_key = PasswordResetFromKeyView.as_view()


class AuthenticateForm(OwnWording, mfa_forms.AuthenticateForm):
    """The code of the second factor at sign-in."""

    begins_with = "code"


class ReauthenticateByCodeForm(OwnWording, mfa_forms.ReauthenticateForm):
    """A code again, before a sensitive change."""

    begins_with = "code"


class ActivateTOTPForm(OwnWording, totp_forms.ActivateTOTPForm):
    """The first code of a new app."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["code"].label = "Code that the app shows"

    @property
    def secret_in_groups(self) -> str:
        """The secret in groups of four letters, for somebody who types it."""
        return " ".join(textwrap.wrap(self.secret, 4))


class OtherSignupForm(OwnWording, other_forms.SignupForm):
    """A user name for someone whose name at the OpenID Connect provider is already taken."""

    def clean_username(self) -> str:
        """Also refuse the name of a member of the project that the person is invited to."""
        name = str(super().clean_username())
        if invitations.name_is_taken(name, _followed_invitation(context.request)):
            raise forms.ValidationError("This name is taken. Choose another.")
        return name


@require_GET
@never_cache
def totp_picture(request: HttpRequest) -> HttpResponse:
    """Return the QR code for an authenticator app that is being set up, else Http404."""
    secret = request.session.get(SECRET_SESSION_KEY)
    if not secret:
        raise Http404
    adapter = get_mfa_adapter()
    picture = adapter.build_totp_svg(adapter.build_totp_url(request.user, secret))
    return HttpResponse(picture, content_type="image/svg+xml")
