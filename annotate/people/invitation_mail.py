"""Deliver the link of an invitation: return its address, and mail it if possible."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from allauth.account.adapter import get_adapter
from django.conf import settings
from django.http import HttpRequest
from django.urls import reverse
from django.utils.formats import date_format

from annotate.people.invitations import Link

# The backend that prints mail instead of sending it, used if no mail server is set.
PRINTING = "django.core.mail.backends.console.EmailBackend"


class Delivery(NamedTuple):
    """The address of a link, and whether it was mailed; None: no mail address or no mail server."""

    url: str
    mailed: bool | None


def deliver_links(request: HttpRequest, links: Iterable[Link]) -> list[Delivery]:
    """Hand over several links. After a mail fails, no other is tried: each would wait as long."""
    handed: list[Delivery] = []
    for link in links:
        works = all(one.mailed is not False for one in handed)
        handed.append(deliver_link(request, link, try_mail=works))
    return handed


def deliver_link(request: HttpRequest, link: Link, *, try_mail: bool = True) -> Delivery:
    """Return the address of a new link, and mail it if the invitation has a mail address."""
    found = link.invitation
    url = request.build_absolute_uri(reverse("annotate:invitation", args=[link.token]))
    if not found.email or settings.EMAIL_BACKEND == PRINTING:
        return Delivery(url, None)
    if not try_mail:
        return Delivery(url, False)
    try:
        get_adapter(request).send_mail(
            "account/email/invitation",
            found.email,
            {
                "projects": [project.name for project in link.projects],
                "inviter": found.created_by.username,
                "until": date_format(found.expires_at, "j M Y, H:i e"),
                "url": url,
            },
        )
    except OSError:
        # The link is still valid and can be handed over in another way.
        return Delivery(url, False)
    return Delivery(url, True)
