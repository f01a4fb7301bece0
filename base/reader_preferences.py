"""The preferences of the person who reads a page, loaded lazily and at most once per request."""

from __future__ import annotations

import datetime
from functools import cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from django.core.exceptions import ObjectDoesNotExist
from django.http import HttpRequest

from base.requests import current_request
from base.users import Preferences, User


def preferences(user: User) -> Preferences:
    """Return a person's preferences; an empty, unsaved object if they have chosen nothing.

    The row is cached on the `user` object.
    """
    try:
        return user.preferences
    except ObjectDoesNotExist:
        return Preferences(user_id=user.pk)


def preferences_of_reader(request: HttpRequest | None) -> Preferences | None:
    """Return the preferences of the signed-in person, or None if nobody is signed in."""
    user = getattr(request, "user", None)
    return preferences(user) if user is not None and user.is_authenticated else None


@cache
def zones() -> tuple[str, ...]:
    """Return the time zones to choose from: IANA names without the historical aliases."""
    places = {name for name in available_timezones() if "/" in name}
    return ("UTC", *sorted(name for name in places if not name.startswith(("Etc/", "SystemV/"))))


def zone_of_reader() -> datetime.tzinfo | None:
    """Return the time zone that the reader of the current page chose; None: use the browser's.

    Also None outside a request, and if this machine no longer knows the zone.
    """
    chosen = preferences_of_reader(current_request())
    if chosen is None or not chosen.time_zone:
        return None
    try:
        return ZoneInfo(chosen.time_zone)
    except ZoneInfoNotFoundError:
        return None
