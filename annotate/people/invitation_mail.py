"""The link of an invitation, once: its address, and the mail that carries it."""

from __future__ import annotations

from typing import NamedTuple

from allauth.account.adapter import get_adapter
from django.http import HttpRequest
from django.urls import reverse
from django.utils.formats import date_format

from annotate.people.invitations import Link


class HandedOver(NamedTuple):
    """Where a link leads, and whether it was mailed; None: there was nowhere to mail it to."""

    url: str
    mailed: bool | None


def hand_over(request: HttpRequest, link: Link) -> HandedOver:
    """Return the address of a link that was just made; mail it where it shall go."""
    found = link.invitation
    url = request.build_absolute_uri(reverse("annotate:invitation", args=[link.token]))
    if not found.email:
        return HandedOver(url, None)
    try:
        get_adapter(request).send_mail(
            "account/email/invitation",
            found.email,
            {
                "project": found.project,
                "inviter": found.created_by.username,
                "until": date_format(found.expires_at, "j M Y, H:i e"),
                "url": url,
            },
        )
    except OSError:
        # The link holds all the same, and can be handed over otherwise.
        return HandedOver(url, False)
    return HandedOver(url, True)
