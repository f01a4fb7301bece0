"""Deliver the link of an invitation: return its address, and mail it if possible."""

from __future__ import annotations

import smtplib
from collections.abc import Iterable
from typing import NamedTuple

from allauth.account.adapter import get_adapter
from django.conf import settings
from django.http import HttpRequest
from django.urls import reverse
from django.utils.formats import date_format

from annotate.people.invitations import InvitationResult, Link

# The backend that prints mail instead of sending it, used if no mail server is set.
PRINTING = "django.core.mail.backends.console.EmailBackend"
# Errors about one mail or its address; after any other, the mail server does not answer.
MAIL_REFUSED = (
    smtplib.SMTPRecipientsRefused,
    smtplib.SMTPDataError,
    smtplib.SMTPNotSupportedError,
    ValueError,
)


class Delivery(NamedTuple):
    """The address of a link, and whether it was mailed; None: no mail address or no mail server."""

    url: str
    mailed: bool | None


def deliver_links(
    request: HttpRequest, results: Iterable[InvitationResult]
) -> list[tuple[InvitationResult, Delivery | None]]:
    """Hand over the link of each result that has one; return each result with its delivery.

    If the mail server does not answer, no other mail is tried.
    """
    handed: list[tuple[InvitationResult, Delivery | None]] = []
    server_answers = True
    for result in results:
        delivery = None
        if result.link is not None:
            delivery, server_answers = _deliver(request, result.link, try_mail=server_answers)
        handed.append((result, delivery))
    return handed


def deliver_link(request: HttpRequest, link: Link) -> Delivery:
    """Return the address of a new link, and mail it if the invitation has a mail address."""
    return _deliver(request, link, try_mail=True)[0]


def _deliver(request: HttpRequest, link: Link, *, try_mail: bool) -> tuple[Delivery, bool]:
    """Hand over a link; return how, and whether to try further mails."""
    invitation = link.invitation
    url = request.build_absolute_uri(reverse("annotate:invitation", args=[link.token]))
    if not invitation.email or settings.EMAIL_BACKEND == PRINTING:
        return Delivery(url, None), try_mail
    if not try_mail:
        return Delivery(url, False), False
    try:
        get_adapter(request).send_mail(
            "account/email/invitation",
            invitation.email,
            {
                "projects": [project.name for project in link.projects],
                "inviter": invitation.created_by.username,
                "until": date_format(invitation.expires_at, "j M Y, H:i e"),
                "url": url,
            },
        )
    # The link is still valid and can be handed over in another way.
    except MAIL_REFUSED:
        return Delivery(url, False), True
    except OSError:
        return Delivery(url, False), False
    return Delivery(url, True), True
