"""How the reader of a page likes it: their preferences, read at most once a request and only by
pages that ask.
"""

from __future__ import annotations

import datetime
from functools import cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from django.core.exceptions import ObjectDoesNotExist
from django.http import HttpRequest

from base.current_request import current_request
from base.users import Preferences, User


def preferences(user: User) -> Preferences:
    """What a person chose; who chose nothing has preferences with nothing in them, not stored.

    The row stays with the `user` object, so asking again costs nothing.
    """
    try:
        return user.preferences
    except ObjectDoesNotExist:
        return Preferences(user_id=user.pk)


def preferences_of_reader(request: HttpRequest | None) -> Preferences | None:
    """The preferences of who is signed in; None where nobody is."""
    user = getattr(request, "user", None)
    return preferences(user) if user is not None and user.is_authenticated else None


@cache
def zones() -> tuple[str, ...]:
    """The time zones one can choose: names of the IANA database, without its historical aliases."""
    places = {name for name in available_timezones() if "/" in name}
    return ("UTC", *sorted(name for name in places if not name.startswith(("Etc/", "SystemV/"))))


def zone_of_reader() -> datetime.tzinfo | None:
    """The time zone that the reader of the page being drawn chose; None: as their browser has it.

    None as well outside a request, and where this machine no longer knows the zone.
    """
    chosen = preferences_of_reader(current_request())
    if chosen is None or not chosen.time_zone:
        return None
    try:
        return ZoneInfo(chosen.time_zone)
    except ZoneInfoNotFoundError:
        return None
