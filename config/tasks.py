"""Celery tasks that send mail; those of jobs are in `jobs/tasks.py`."""

from __future__ import annotations

from io import BytesIO
from urllib.parse import urlsplit

from allauth.account.internal.flows.password_reset import request_password_reset
from allauth.account.internal.userkit import filter_users_by_email
from allauth.core import context
from celery import shared_task
from django.core.handlers.wsgi import WSGIRequest

from annotate.overview.notices import send_digests


@shared_task(name="annotate.notices")
def notices() -> None:
    """Mail new notices to everybody who asked for mail and got none within a day."""
    send_digests()


@shared_task(
    name="config.password_reset", autoretry_for=(OSError,), retry_backoff=30, max_retries=5
)
def mail_password_reset(email: str, site: str) -> None:
    """Mail a link for a new password to the accounts with this address, if there are any.

    `site` is the address at which the person asked for it, such as https://rejudge.example.org/.
    """
    url = urlsplit(site)
    request = WSGIRequest(
        {
            "REQUEST_METHOD": "GET",
            "PATH_INFO": "/",
            "HTTP_HOST": url.netloc,
            "wsgi.url_scheme": url.scheme,
            "wsgi.input": BytesIO(),
        }
    )
    users = filter_users_by_email(email, is_active=True, prefer_verified=True, for_login=True)
    with context.request_context(request):
        request_password_reset(request, email, users, token_generator=None)
