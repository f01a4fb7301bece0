"""Sessions in the database, read together with their user and preferences.

Every page needs all three.
"""

from __future__ import annotations

from typing import Any

from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib import auth
from django.contrib.auth import middleware
from django.contrib.auth.models import AnonymousUser
from django.contrib.sessions.backends.db import SessionStore as DatabaseSessions
from django.contrib.sessions.models import Session
from django.db import connection
from django.http import HttpRequest
from django.utils import timezone
from django.utils.crypto import constant_time_compare
from django.utils.functional import SimpleLazyObject

from base.raw_sql import columns, first_row
from base.users import Preferences, User


class SessionStore(DatabaseSessions):
    """Django's database sessions, except for how a session is read."""

    # The user of this session in allauth's list of sessions, read with it. The session itself
    # decides who is signed in (`AuthenticationMiddleware`).
    listed_user: User | None = None

    def _get_session_from_db(self) -> Session | None:
        sql = f"""
            SELECT {columns(Session, "s")}, {columns(User, "u")}, {columns(Preferences, "p")}
            FROM django_session s
            LEFT JOIN {UserSession._meta.db_table} w ON w.session_key = s.session_key
            LEFT JOIN {User._meta.db_table} u ON u.id = w.user_id
            LEFT JOIN {Preferences._meta.db_table} p ON p.user_id = u.id
            WHERE s.session_key = %(key)s AND s.expire_date > %(now)s
        """  # noqa: S608 (the columns of Django's tables)
        now = connection.ops.adapt_datetimefield_value(timezone.now())
        found = first_row(sql, {"key": self.session_key, "now": now}, Session, User, Preferences)
        if found is None:
            self._session_key = None
            return None
        session: Session
        session, user, preferences = found
        if user.pk is not None:
            # Cached, so that `user.preferences` needs no query, also when there are none.
            kept = preferences if preferences.pk is not None else None
            User._meta.get_field("preferences").set_cached_value(user, kept)
            self.listed_user = user
        return session


class AuthenticationMiddleware(middleware.AuthenticationMiddleware):
    """Django's middleware, except that it uses the account that was read with the session.

    It does so only if Django would return the same account.
    """

    def process_request(self, request: HttpRequest) -> None:
        """Set `request.user`, which is evaluated on first use."""
        super().process_request(request)
        request.user = SimpleLazyObject(lambda: _user_of(request))  # type: ignore[assignment]


def _user_of(request: Any) -> User | AnonymousUser:
    if not hasattr(request, "_cached_user"):
        # Django handles all other cases: closed accounts, changed passwords, other backends.
        request._cached_user = _listed_user(request.session) or auth.get_user(request)
    user: User | AnonymousUser = request._cached_user
    return user


def _listed_user(session: Any) -> User | None:
    """Return the account that was read with a session, if Django would accept the same one."""
    key, way = session.get(auth.SESSION_KEY), session.get(auth.BACKEND_SESSION_KEY)
    user: User | None = getattr(session, "listed_user", None)
    if user is None or str(user.pk) != key or way not in settings.AUTHENTICATION_BACKENDS:
        return None
    backend: Any = auth.load_backend(way)
    if not backend.user_can_authenticate(user):
        return None
    signed = session.get(auth.HASH_SESSION_KEY)
    alike = signed and constant_time_compare(signed, user.get_session_auth_hash())
    return user if alike else None
