"""URLs for signing in and managing an account: only those allauth views that Rejudge uses.

Several have two names: ours, and the one that allauth itself reverses.
"""

from __future__ import annotations

from allauth.account import views as account
from allauth.mfa.base import views as mfa
from allauth.mfa.recovery_codes import views as codes
from allauth.mfa.totp import views as totp
from allauth.socialaccount import views as other
from django.apps import apps
from django.contrib.auth.views import LogoutView
from django.urls import path, register_converter
from django.urls.converters import StringConverter
from django.views.generic import TemplateView

from config.accounts import email, password_reset, password_reset_from_key, totp_picture


class Base36(StringConverter):
    """An account id in base 36, as allauth puts it before the secret in a link."""

    regex = "[0-9A-Za-z]+"


register_converter(Base36, "base36")

urlpatterns = [
    path("login/", account.login, name="account_login"),
    path("login/", account.login, name="login"),
    path("logout/", LogoutView.as_view(), name="logout"),
    # Registration is closed; the view says so.
    path("signup/", account.signup, name="account_signup"),
    path("inactive/", account.account_inactive, name="account_inactive"),
    path("again/", account.reauthenticate, name="account_reauthenticate"),
    path("password/", account.password_change, name="account_change_password"),
    path("password/", account.password_change, name="password_change"),
    path(
        "password/done/",
        TemplateView.as_view(template_name="account/password_change_done.html"),
        name="password_change_done",
    ),
    path("password/first/", account.password_set, name="account_set_password"),
    path("password/reset/", password_reset, name="account_reset_password"),
    path("password/reset/sent/", account.password_reset_done, name="account_reset_password_done"),
    path(
        "password/reset/<base36:uidb36>-<str:key>/",
        password_reset_from_key,
        name="account_reset_password_from_key",
    ),
    path(
        "password/reset/done/",
        account.password_reset_from_key_done,
        name="account_reset_password_from_key_done",
    ),
    path("email/", email, name="account_email"),
    path("email/sent/", account.email_verification_sent, name="account_email_verification_sent"),
    path("email/confirmation/<str:key>/", account.confirm_email, name="account_confirm_email"),
    path("second-factor/", mfa.index, name="mfa_index"),
    path("second-factor/code/", mfa.authenticate, name="mfa_authenticate"),
    path("second-factor/again/", mfa.reauthenticate, name="mfa_reauthenticate"),
    path("second-factor/app/", totp.activate_totp, name="mfa_activate_totp"),
    path("second-factor/app/picture/", totp_picture, name="mfa_totp_picture"),
    path("second-factor/app/leaving/", totp.deactivate_totp, name="mfa_deactivate_totp"),
    path("second-factor/codes/", codes.view_recovery_codes, name="mfa_view_recovery_codes"),
    path(
        "second-factor/codes/new/",
        codes.generate_recovery_codes,
        name="mfa_generate_recovery_codes",
    ),
    path(
        "second-factor/codes/file/",
        codes.download_recovery_codes,
        name="mfa_download_recovery_codes",
    ),
    path("elsewhere/", other.connections, name="socialaccount_connections"),
    path("elsewhere/name/", other.signup, name="socialaccount_signup"),
    path("elsewhere/cancelled/", other.login_cancelled, name="socialaccount_login_cancelled"),
    path("elsewhere/error/", other.login_error, name="socialaccount_login_error"),
]

if apps.is_installed("allauth.socialaccount.providers.openid_connect"):
    from allauth.socialaccount.providers.openid_connect import views as oidc

    urlpatterns += [
        path("elsewhere/<slug:provider_id>/", oidc.login, name="openid_connect_login"),
        path("elsewhere/<slug:provider_id>/back/", oidc.callback, name="openid_connect_callback"),
    ]
